import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { openProcessHost } from '#process/process-host.ts';
import { startTestRun, textsOf } from '../../tests/support/executor-run.ts';
import { tempFolder } from '../../tests/support/temp-repo.ts';
import { ACP_PRESETS } from './acp-presets.ts';
import { toAcpEnvironment } from './acp.ts';
import { toClaudeArgv } from './claude.ts';

const processes = await openProcessHost({ accept: ['marker'] });

/** That the real programs heed it is tried by `npm run test:agents`. */
describe("[A10] the user's own settings of an agent's program", () => {
  it('are overruled in Claude by rules that ask for all that does something', () => {
    const argv = toClaudeArgv({
      run_id: 'r',
      cwd: '/c',
      prompt: '',
      profile: { executor: 'claude', permissions: 'ask' },
      env: {},
      session: { id: 's', resume: false },
      read_only: true,
      trusted: true,
      limits: { total_ms: 1, idle_ms: 1, output_bytes: 1 },
    });
    const { permissions } = JSON.parse(argv[argv.indexOf('--settings') + 1] ?? '') as {
      permissions: { ask: string[] };
    };
    expect(permissions.ask).toEqual(expect.arrayContaining(['Bash', 'Edit', 'Write', 'WebFetch', 'mcp__*']));
  });

  it('are overruled in opencode key by key, and the rest of them stays', () => {
    const own = {
      model: 'own',
      agent: { build: { prompt: 'x', permission: { bash: { 'npm *': 'allow' } } }, other: {} },
    };
    const env = toAcpEnvironment(
      { env: { OPENCODE_CONFIG_CONTENT: JSON.stringify(own) } },
      ACP_PRESETS.opencode,
    );
    const merged = JSON.parse(env['OPENCODE_CONFIG_CONTENT'] ?? '') as object;
    const permission = expect.objectContaining({ '*': 'ask', bash: 'ask', edit: 'ask' }) as unknown;
    expect(merged).toMatchObject({
      model: 'own',
      permission,
      agent: { build: { prompt: 'x', permission }, other: {} },
    });
    const broken = toAcpEnvironment({ env: { OPENCODE_CONFIG_CONTENT: '{' } }, ACP_PRESETS.opencode);
    expect(JSON.parse(broken['OPENCODE_CONFIG_CONTENT'] ?? '')).toMatchObject({ permission });
  });

  it('are overruled in Gemini by a policy that is there as long as the run', async () => {
    await using folder = await tempFolder();
    const command = ['/bin/sh', '-c', 'echo "$0 $1"; cat "$1"'];
    const run = await startTestRun({ processes, cwd: folder.path, profile: { executor: 'gemini', command } });
    await run.end;
    const [given = '', ...policy] = textsOf(run.entries, 'output');
    const [flag, path = ''] = given.split(' ');
    expect([flag, existsSync(path)]).toEqual(['--admin-policy', false]);
    expect(policy.join('\n')).toContain('decision = "ask_user"');
  });

  it('are told of where Codex cannot be made to leave them alone', async () => {
    await using folder = await tempFolder();
    const notes = async (): Promise<readonly string[]> => {
      const command = ['/bin/sh', '-c', 'true'];
      const run = await startTestRun({
        processes,
        cwd: folder.path,
        profile: { executor: 'codex', command },
      });
      await run.end;
      return textsOf(run.entries, 'note');
    };
    expect(await notes()).toEqual([]);
    mkdirSync(join(folder.path, '.codex', 'rules'), { recursive: true });
    writeFileSync(
      join(folder.path, '.codex', 'rules', 'my.rules'),
      'prefix_rule(pattern=["npm"], decision="allow")\n',
    );
    expect(await notes()).toEqual([expect.stringContaining(join('.codex', 'rules'))]);
  });
});

import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { openProcessHost, type ProcessHost } from '#process/process-host.ts';
import { agentCommand } from '../../tests/support/executor-run.ts';
import { tempFolder } from '../../tests/support/temp-repo.ts';
import { ACP_PRESETS, type AcpPreset } from './acp-presets.ts';
import { toAcpArgv, toAcpEnvironment } from './acp.ts';
import { toClaudeArgv } from './claude.ts';
import { toCodexArgv, toCodexRules } from './codex.ts';
import { createExecutor } from './create-executor.ts';
import { checkProfile, EXECUTOR_TYPES, pickEnvironment } from './executor-types.ts';
import type { RunSpec } from './executor.ts';
import { findClis } from './find-clis.ts';

function toSpec(spec: Partial<RunSpec> = {}): RunSpec {
  return {
    run_id: 'r',
    cwd: '/work',
    prompt: 'p',
    profile: { executor: 'claude', permissions: 'edits' },
    env: {},
    session: { id: 'the-session', resume: false },
    read_only: false,
    limits: { total_ms: 1, idle_ms: 1, output_bytes: 1 },
    ...spec,
  };
}

function flag(argv: readonly string[], name: string): string | undefined {
  const at = argv.indexOf(name);
  return at < 0 ? undefined : argv[at + 1];
}

describe('toClaudeArgv', () => {
  it('names the session before the start, and goes on with it', () => {
    expect(flag(toClaudeArgv(toSpec()), '--session-id')).toBe('the-session');
    const argv = toClaudeArgv(toSpec({ session: { id: 'the-session', resume: true } }));
    expect(flag(argv, '--resume')).toBe('the-session');
    expect(argv).not.toContain('--session-id');
  });

  it('lets a repository that nobody trusts bring nothing', () => {
    const argv = toClaudeArgv(toSpec());
    expect(flag(argv, '--setting-sources')).toBe('user');
    expect(argv).toContain('--strict-mcp-config');
    const trusted = toClaudeArgv(toSpec({ trusted: true }));
    expect(trusted).not.toContain('--setting-sources');
    expect(trusted).not.toContain('--strict-mcp-config');
  });

  it('has every question asked here, and never skips permissions', () => {
    for (const permissions of ['ask', 'edits', 'all'] as const) {
      const argv = toClaudeArgv(toSpec({ profile: { executor: 'claude', permissions } }));
      expect(flag(argv, '--permission-prompt-tool')).toBe('stdio');
      expect(flag(argv, '--permission-mode')).toBe('default');
    }
  });

  it('passes model, effort and schema, and hides the tools that write from who may only look', () => {
    const profile = { executor: 'claude', permissions: 'all', model: 'opus', effort: 'high' } as const;
    const argv = toClaudeArgv(toSpec({ profile, output_schema: { type: 'object' }, read_only: true }));
    expect(flag(argv, '--model')).toBe('opus');
    expect(flag(argv, '--effort')).toBe('high');
    expect(flag(argv, '--json-schema')).toBe('{"type":"object"}');
    expect(flag(argv, '--disallowedTools')?.split(',')).toEqual(expect.arrayContaining(['Write', 'Edit']));
    expect(flag(toClaudeArgv(toSpec()), '--disallowedTools')).not.toContain('Write');
  });
});

describe('toCodexRules', () => {
  it.each([
    ['ask', false, { approval_policy: 'untrusted', sandbox: 'workspace-write' }],
    ['edits', false, { approval_policy: 'on-request', sandbox: 'workspace-write' }],
    ['all', false, { approval_policy: 'untrusted', sandbox: 'danger-full-access' }],
    ['all', true, { approval_policy: 'on-request', sandbox: 'read-only' }],
  ] as const)('%s, read only: %s', (permissions, read_only, rules) => {
    const spec = toSpec({ profile: { executor: 'codex', permissions }, read_only });
    expect(toCodexRules(spec)).toEqual(rules);
    // Its own sandbox could not be built inside of walls.
    const none = { writable: [], replaced: [], own: [], fixed: [], hidden: [], sealed: [] };
    const walls = { work: { path: spec.cwd, read_only }, ...none, let_in: [], readable: [] };
    expect(toCodexRules({ ...spec, walls })).toEqual({ ...rules, sandbox: 'danger-full-access' });
  });
});

describe('toCodexArgv', () => {
  it('says whether the folder is trusted, or Codex would take it for granted', () => {
    const argv = toCodexArgv(toSpec({ cwd: '/a "b"' }));
    expect(argv.slice(0, 2)).toEqual(['codex', '-c']);
    expect(argv[2]).toBe('projects={"/a \\"b\\""={trust_level="untrusted"}}');
    expect(toCodexArgv(toSpec({ trusted: true }))[2]).toContain('"trusted"');
  });
});

describe('the presets', () => {
  it('have opencode ask, and keep the settings of a repository from it that nobody trusts', () => {
    const { env, untrusted_env } = ACP_PRESETS.opencode;
    expect(JSON.parse(env.OPENCODE_PERMISSION)).toMatchObject({ '*': 'ask' });
    expect(untrusted_env).toEqual({ OPENCODE_DISABLE_PROJECT_CONFIG: '1' });
    expect(ACP_PRESETS.gemini.trusted_env).toEqual({ GEMINI_CLI_TRUST_WORKSPACE: 'true' });
  });

  it('are given what goes with trust, and opencode a password that no run shares', () => {
    const given = (preset: AcpPreset, trusted: boolean) => toAcpEnvironment({ env: {}, trusted }, preset);
    const { opencode, gemini } = ACP_PRESETS;
    expect(given(opencode, false)).toMatchObject(opencode.untrusted_env);
    expect(given(opencode, true)).not.toMatchObject(opencode.untrusted_env);
    expect(given(gemini, true)).toMatchObject(gemini.trusted_env);
    expect(given(gemini, false)).not.toMatchObject(gemini.trusted_env);
    const [one, other] = [given(opencode, true), given(opencode, true)].map((env) => env[opencode.password]);
    expect(one).toMatch(/^[\w-]{32}$/);
    expect(one).not.toBe(other);
  });
});

describe('toAcpArgv', () => {
  it('takes the command of the profile before that of the preset, and the model by flag where there is one', () => {
    const profile = { executor: 'gemini', permissions: 'edits', model: 'm' } as const;
    expect(toAcpArgv(toSpec({ profile }), ACP_PRESETS.gemini)).toEqual(['gemini', '--acp', '--model', 'm']);
    expect(toAcpArgv(toSpec({ profile }), ACP_PRESETS.goose)).toEqual(['goose', 'acp']);
    const command = ['my-gemini', '--acp'];
    expect(toAcpArgv(toSpec({ profile: { ...profile, command } }), ACP_PRESETS.gemini).slice(0, 2)).toEqual(
      command,
    );
  });

  it('refuses an agent without a command', () => {
    expect(() => toAcpArgv(toSpec(), undefined)).toThrow('needs the command of an agent');
  });
});

describe('the executor types', () => {
  it('each make an executor', async () => {
    const processes = await openProcessHost({ accept: ['marker'] });
    const tools = { clock: { now: () => 0 }, processes, player: ['x'], version: '0' };
    for (const { kind, options } of EXECUTOR_TYPES) {
      const command = 'command' in (options as { properties: object }).properties ? ['x'] : undefined;
      expect(createExecutor({ executor: kind, permissions: 'ask', command }, tools)).toHaveProperty('start');
    }
  });

  it.each([
    [{ executor: 'emacs' }, 'There is no executor emacs'],
    [{ executor: 'shell' }, 'The shell executor needs a command'],
    [{ executor: 'acp', command: [] }, 'The acp executor needs a command'],
    [{ executor: 'shell', command: ['x'], model: 'm' }, 'The shell executor takes no model'],
    [{ executor: 'gemini', effort: 'high' }, 'The gemini executor takes no effort'],
    [{ executor: 'null', command: ['x'] }, 'The null executor takes no command'],
  ])('refuse %j', (profile, message) => {
    expect(() => checkProfile({ permissions: 'edits', ...profile })).toThrow(message);
  });

  it('give each program the keys of its own provider and no others', () => {
    const parent = {
      ANTHROPIC_API_KEY: 'a',
      OPENAI_API_KEY: 'o',
      GEMINI_API_KEY: 'g',
      CODEX_HOME: '/c',
      AWS_SECRET_ACCESS_KEY: 'x',
      FORGE_TOKEN: 'f',
      GITHUB_TOKEN: 'h',
      ANTHROPIC_GONE: undefined,
    };
    expect(pickEnvironment('claude', parent)).toEqual({ ANTHROPIC_API_KEY: 'a' });
    expect(pickEnvironment('codex', parent)).toEqual({ OPENAI_API_KEY: 'o', CODEX_HOME: '/c' });
    expect(pickEnvironment('gemini', parent)).toEqual({ GEMINI_API_KEY: 'g' });
    expect(pickEnvironment('copilot', parent)).toEqual({ GITHUB_TOKEN: 'h' });
    expect(pickEnvironment('shell', parent)).toEqual({});
    const everywhere = EXECUTOR_TYPES.flatMap(({ kind }) => Object.keys(pickEnvironment(kind, parent)));
    expect(everywhere).not.toContain('FORGE_TOKEN');
    expect(everywhere).not.toContain('AWS_SECRET_ACCESS_KEY');
  });
});

describe('findClis', () => {
  let processes: ProcessHost;

  beforeAll(async () => {
    processes = await openProcessHost({ accept: ['marker'] });
  });

  /** A folder for the PATH with programs of ours under the names of the real ones. */
  async function tempPath(programs: Readonly<Record<string, string>>) {
    const folder = await tempFolder();
    const bin = join(folder.path, 'bin');
    mkdirSync(bin);
    for (const [name, script] of Object.entries(programs)) {
      writeFileSync(join(bin, name), `#!/bin/sh\n${script}\n`);
      chmodSync(join(bin, name), 0o755);
    }
    const find = async (kinds: readonly string[], limits?: { probe_ms?: number }) =>
      findClis({
        cwd: folder.path,
        env: { PATH: `${bin}:/usr/bin:/bin`, HOME: folder.path },
        processes,
        version: '0',
        types: EXECUTOR_TYPES.filter(({ kind }) => kinds.includes(kind)),
        ...(limits !== undefined && { limits }),
      });
    return { bin, find, [Symbol.asyncDispose]: () => folder[Symbol.asyncDispose]() };
  }

  /** Says its version, and plays one of our agents otherwise. */
  function fake(dialect: string, version: string): string {
    const agent = agentCommand(dialect, 'edit')
      .map((part) => `'${part}'`)
      .join(' ');
    return `case "$1" in --version) echo '${version}';; *) exec ${agent};; esac`;
  }

  it('[S228] says which are there, their versions, and that they answer', async () => {
    await using path = await tempPath({
      claude: fake('claude', '2.1.325 (Claude Code)'),
      codex: fake('codex', 'codex-cli 0.166.0'),
      gemini: fake('acp', '0.61.0'),
    });
    const rows = await path.find(['claude', 'codex', 'gemini', 'qwen', 'goose', 'shell']);
    expect(rows.map(({ executor, found, version, answers }) => [executor, found, version, answers])).toEqual([
      ['claude', true, '2.1.325', true],
      ['codex', true, '0.166.0', true],
      ['gemini', true, '0.61.0', true],
      ['qwen', false, null, false],
      ['goose', false, null, false],
    ]);
    expect(rows[0]).toMatchObject({ path: join(path.bin, 'claude'), problem: null });
    expect(rows[3]).toMatchObject({
      problem: 'qwen is not on the PATH',
      install: 'npm install -g @qwen-code/qwen-code',
    });
    expect(rows[4]).toMatchObject({ install: null });
  });

  it('says what is wrong with one that is broken, and waits for none', async () => {
    await using path = await tempPath({
      claude: 'echo "libfoo.so: cannot open \u001b[31m" >&2; exit 127',
      codex: 'case "$1" in --version) echo 0.1.0;; *) echo "no such command" >&2; exit 2;; esac',
      gemini: 'case "$1" in --version) echo 9.9.9;; *) sleep 600;; esac',
    });
    const rows = await path.find(['claude', 'codex', 'gemini'], { probe_ms: 1_000 });
    expect(rows.map(({ version, answers }) => [version, answers])).toEqual([
      [null, false],
      ['0.1.0', false],
      ['9.9.9', false],
    ]);
    expect(rows.map(({ problem }) => problem)).toEqual([
      String.raw`It did not say its version: libfoo.so: cannot open \u001b[31m`,
      'It did not answer the handshake: no such command',
      'It did not answer the handshake in time',
    ]);
  });

  it('looks nowhere but in absolute folders', async () => {
    await using path = await tempPath({ claude: fake('claude', '1.0.0') });
    const rows = await findClis({
      cwd: join(path.bin, '..'),
      env: { PATH: 'bin:.' },
      processes,
      version: '0',
      types: EXECUTOR_TYPES.filter(({ kind }) => kind === 'claude'),
    });
    expect(rows[0]).toMatchObject({ found: false });
  });
});

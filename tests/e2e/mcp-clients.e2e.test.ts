import { spawn, spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { stripVTControlCharacters } from 'node:util';
import { describe, expect, it, type TestContext } from 'vitest';
import { type ForgeProject, forgeProject } from '../support/forge-cli.ts';

// The clients are 1.3 GB, so they are no dependencies. Whoever has them says where; those that are there are run:
// npm install --prefix /some/folder @anthropic-ai/claude-code @openai/codex @google/gemini-cli opencode-ai
// FORGE_MCP_CLIENTS=/some/folder/node_modules/.bin
const CLIENTS = process.env['FORGE_MCP_CLIENTS'] ?? '';
const MINUTES = { timeout: 300_000 };
/** None of them may ask anybody for anything: where the system has networks of their own, they get an empty one. */
const ALONE = ['unshare', '-rn', 'sh', '-c', 'ip link set lo up && exec "$@"', 'sh'];
const isolation = spawnSync(ALONE[0] ?? '', [...ALONE.slice(1), 'true']).status === 0 ? ALONE : [];
const QUIET = {
  CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
  OPENCODE_DISABLE_AUTOUPDATE: '1',
  OPENCODE_DISABLE_MODELS_FETCH: '1',
};

interface Client {
  readonly name: string;
  readonly scope: 'project' | 'user';
  /** What a person does before the client trusts a folder. */
  readonly trust?: (project: ForgeProject) => Promise<void>;
  readonly env?: Readonly<Record<string, string>>;
  /** The line that says that it is connected. */
  readonly connected: RegExp;
}

const trustGemini = { GEMINI_CLI_TRUST_WORKSPACE: 'true' };
const LISTING: readonly Client[] = [
  {
    name: 'claude',
    scope: 'project',
    trust: ({ home }) =>
      write(join(home, '.claude', 'settings.json'), '{"enableAllProjectMcpServers": true}\n'),
    connected: /^forge: .* mcp - .*Connected$/m,
  },
  { name: 'claude', scope: 'user', connected: /^forge: .* mcp - .*Connected$/m },
  { name: 'gemini', scope: 'project', env: trustGemini, connected: /forge: .* mcp \(stdio\) - Connected/ },
  { name: 'gemini', scope: 'user', env: trustGemini, connected: /forge: .* mcp \(stdio\) - Connected/ },
  { name: 'opencode', scope: 'project', connected: /forge .*connected/ },
  { name: 'opencode', scope: 'user', connected: /forge .*connected/ },
];

describe('clients with what forge mcp install writes', () => {
  it.for(LISTING)(
    '$name connects in the scope $scope, and knows nothing of it afterwards',
    MINUTES,
    async ({ name, scope, trust, env = {}, connected }, context) => {
      skipWithout(context, name);
      await using project = await forgeProject();
      const list = () => runClient(project, [name, 'mcp', 'list'], env);
      await trust?.(project);
      await project.text('mcp', 'install', '--client', name, '--scope', scope);
      expect(await list()).toMatch(connected);
      await project.text('mcp', 'install', '--client', name, '--scope', scope, '--uninstall');
      const after = await list();
      expect(after).not.toMatch(/forge\b.*\bmcp\b/);
      expect(after).not.toMatch(/error|invalid/i);
    },
  );

  it('claude asks before it starts what a project names', MINUTES, async (context) => {
    skipWithout(context, 'claude');
    await using project = await forgeProject();
    await project.text('mcp', 'install', '--client', 'claude');
    expect(await runClient(project, ['claude', 'mcp', 'list'])).toMatch(/^forge: .*Pending approval/m);
  });

  it('codex connects in the scope user and sees every tool', MINUTES, async (context) => {
    skipWithout(context, 'codex');
    await using project = await forgeProject();
    await project.text('mcp', 'install', '--client', 'codex');
    const [forge, ...more] = await listCodexServers(project);
    expect(more).toEqual([]);
    expect(forge).toMatchObject({ name: 'forge', serverInfo: { name: 'forge' } });
    expect(Object.keys(forge?.tools ?? {})).toContain('forge_claim');
  });

  it('codex reads the scope project where it trusts it, and only there', MINUTES, async (context) => {
    skipWithout(context, 'codex');
    await using project = await forgeProject();
    const list = () => runClient(project, ['codex', 'mcp', 'list', '--json']);
    await project.text('mcp', 'install', '--client', 'codex', '--scope', 'project');
    expect(await list()).not.toContain('"forge"');
    const trust = `[projects.${JSON.stringify(project.path)}]\ntrust_level = "trusted"\n`;
    await write(join(project.home, '.codex', 'config.toml'), trust);
    expect(await list()).toContain('"forge"');
  });
});

function skipWithout(context: TestContext, name: string): void {
  if (CLIENTS === '') context.skip('FORGE_MCP_CLIENTS names no folder');
  if (!existsSync(join(CLIENTS, name))) context.skip(`there is no ${name} in FORGE_MCP_CLIENTS`);
}

/** What it prints on both. */
async function runClient(
  project: ForgeProject,
  [name = '', ...args]: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<string> {
  const [command = '', ...words] = [...isolation, join(CLIENTS, name), ...args];
  const { stdout, stderr } = await project.exec(command, words, { env: { ...QUIET, ...env } });
  return stripVTControlCharacters(stdout + stderr);
}

interface CodexServer {
  readonly name: string;
  readonly tools: Readonly<Record<string, unknown>>;
}

/** Its `mcp list` starts nothing; its server for editors does. */
async function listCodexServers(project: ForgeProject): Promise<CodexServer[]> {
  const [command, ...args] = [...isolation, join(CLIENTS, 'codex'), 'app-server'] as const;
  const child = spawn(command, args, {
    cwd: project.path,
    env: { ...project.env, ...QUIET },
    stdio: ['pipe', 'pipe', 'ignore'],
  });
  try {
    const clientInfo = { name: 'test', title: 'test', version: '1' };
    for (const message of [
      { id: 1, method: 'initialize', params: { clientInfo } },
      { method: 'initialized' },
      { id: 2, method: 'mcpServerStatus/list', params: {} },
    ])
      child.stdin.write(`${JSON.stringify(message)}\n`);
    for await (const line of createInterface({ input: child.stdout })) {
      const { id, result } = JSON.parse(line) as { id?: number; result?: { data: CodexServer[] } };
      if (id === 2) return result?.data ?? [];
    }
    throw new Error('codex ended without an answer');
  } finally {
    child.kill('SIGTERM');
  }
}

async function write(path: string, text: string): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, text);
}

import { lstat, mkdir, readFile, stat, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { MCP_CLIENTS, type McpClientName, type McpScope } from '#contract/mcp-operations.ts';
import { isForgeError } from '#kernel/errors.ts';
import { tempFolder } from '../../tests/support/temp-repo.ts';
import { applyMcpClient, type McpClientChange, type McpClientRequest, planMcpClient } from './mcp-clients.ts';

const PROGRAM = { node: '/opt/node 24/bin/node', script: '/opt/forge "x"/bin/forge.cjs' };

/** Where each client looks, as its own documentation says. */
const FILES: Readonly<Record<McpClientName, Readonly<Record<McpScope, string>>>> = {
  claude: { project: 'repo/.mcp.json', user: 'home/.claude.json' },
  codex: { project: 'repo/.codex/config.toml', user: 'home/.codex/config.toml' },
  gemini: { project: 'repo/.gemini/settings.json', user: 'home/.gemini/settings.json' },
  opencode: { project: 'repo/opencode.json', user: 'home/.config/opencode/opencode.json' },
  cursor: { project: 'repo/.cursor/mcp.json', user: 'home/.cursor/mcp.json' },
  vscode: { project: 'repo/.vscode/mcp.json', user: 'home/.config/Code/User/mcp.json' },
};
const EVERY = MCP_CLIENTS.flatMap((client) =>
  (['project', 'user'] as const).map((scope) => [client, scope] as const),
);

function requestFor(
  root: string,
  more: Partial<McpClientRequest> & { client: McpClientName },
): McpClientRequest {
  return {
    scope: undefined,
    want: 'entry',
    root: join(root, 'repo'),
    program: PROGRAM,
    homeDir: join(root, 'home'),
    env: {},
    platform: 'linux',
    ...more,
  };
}

function change(root: string, more: Partial<McpClientRequest> & { client: McpClientName }): McpClientChange {
  const plan = planMcpClient(requestFor(root, more));
  applyMcpClient(plan);
  return plan;
}

describe('forge mcp install', () => {
  it.each(EVERY)('writes for %s in the scope %s, once, and takes it out again', async (client, scope) => {
    await using folder = await tempFolder();
    const file = FILES[client][scope];
    const first = change(folder.path, { client, scope });
    expect(first).toMatchObject({ scope, path: join(folder.path, file), action: 'created' });
    const text = await folder.read(file);
    expect(text).toContain(JSON.stringify(PROGRAM.node));
    expect(text).toContain(JSON.stringify(PROGRAM.script));
    expect(first.entry).toBe(text);
    expect(change(folder.path, { client, scope })).toMatchObject({ action: 'unchanged', text: undefined });
    expect(await folder.read(file)).toBe(text);
    expect(change(folder.path, { client, scope, want: 'no entry' })).toMatchObject({
      action: 'removed',
      entry: null,
    });
    const rest = await folder.read(file);
    expect(rest).not.toContain('forge');
    // Claude Code calls a file without a list of servers a fault.
    expect(rest).toMatch(client === 'codex' ? /^$/ : /^\{\s*"\w+": \{\}\s*\}\n$/);
    expect(change(folder.path, { client, scope, want: 'no entry' })).toMatchObject({ action: 'unchanged' });
  });

  it('says what each client wants to hear', async () => {
    await using folder = await tempFolder();
    const entries: Record<string, unknown> = {};
    for (const client of MCP_CLIENTS.filter((one) => one !== 'codex'))
      entries[client] = JSON.parse(planMcpClient(requestFor(folder.path, { client })).entry ?? '');
    const { node, script } = PROGRAM;
    const inFolder = ['-C', '${workspaceFolder}', 'mcp'];
    expect(entries).toEqual({
      claude: { mcpServers: { forge: { type: 'stdio', command: node, args: [script, 'mcp'] } } },
      gemini: { mcpServers: { forge: { command: node, args: [script, 'mcp'] } } },
      opencode: { mcp: { forge: { type: 'local', command: [node, script, 'mcp'], enabled: true } } },
      cursor: { mcpServers: { forge: { command: node, args: [script, ...inFolder] } } },
      vscode: { servers: { forge: { type: 'stdio', command: node, args: [script, ...inFolder] } } },
    });
  });

  it('takes the scope that the client uses most, and the folders that the environment names', async () => {
    await using folder = await tempFolder();
    const scopes = MCP_CLIENTS.map((client) => planMcpClient(requestFor(folder.path, { client })).scope);
    expect(scopes).toEqual(['project', 'user', 'user', 'project', 'project', 'project']);
    const codex = requestFor(folder.path, { client: 'codex', env: { CODEX_HOME: '/elsewhere' } });
    expect(planMcpClient(codex).path).toBe('/elsewhere/config.toml');
    const mac = requestFor(folder.path, { client: 'vscode', scope: 'user', platform: 'darwin' });
    expect(planMcpClient(mac).path).toMatch(/home\/Library\/Application Support\/Code\/User\/mcp\.json$/);
  });

  it('keeps other servers, comments, and what somebody added to the entry', async () => {
    await using folder = await tempFolder();
    const text = `{
  // my servers
  "mcpServers": {
    "other": { "command": "x" },
    "forge": { "command": "old", "args": [], "env": { "FORGE_ACTOR": "claude" } }
  }
}
`;
    await folder.write('repo/.mcp.json', text);
    expect(change(folder.path, { client: 'claude' })).toMatchObject({ action: 'replaced' });
    const after = await folder.read('repo/.mcp.json');
    expect(after).toContain('// my servers\n');
    expect(after).toContain('"other": { "command": "x" },\n');
    expect(after).toContain('"env": { "FORGE_ACTOR": "claude" }');
    expect(after).toContain(JSON.stringify(PROGRAM.node));
  });

  it('keeps the form of an opencode file that groups its servers', async () => {
    await using folder = await tempFolder();
    await folder.write('repo/opencode.jsonc', '{ "mcp": { "servers": {} } } // mine\n');
    change(folder.path, { client: 'opencode' });
    const after = await folder.read('repo/opencode.jsonc');
    expect(after).toMatch(/"servers": \{\s+"forge": \{/);
    expect(after).toMatch(/\/\/ mine\n$/);
  });

  it.each(['{ "mcpServers": ', '[]', '{ "mcpServers": [] }', 'mcpServers: {}'])(
    'refuses %j with its path and changes nothing',
    async (text) => {
      await using folder = await tempFolder();
      await folder.write('repo/.mcp.json', text);
      const path = join(folder.path, 'repo/.mcp.json');
      expect(failureOf(() => change(folder.path, { client: 'claude' }))).toMatchObject({
        code: 'invalid_input',
        message: expect.stringContaining(path) as string,
        details: { path },
      });
      expect(await folder.read('repo/.mcp.json')).toBe(text);
    },
  );

  it('refuses bytes that are no text, and a project scope outside of a repository', async () => {
    await using folder = await tempFolder();
    const path = join(folder.path, 'home/.codex/config.toml');
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, Buffer.from([0x61, 0xff, 0x0a]));
    expect(failureOf(() => change(folder.path, { client: 'codex' }))).toMatchObject({
      code: 'invalid_input',
    });
    expect(await readFile(path)).toEqual(Buffer.from([0x61, 0xff, 0x0a]));
    expect(failureOf(() => change(folder.path, { client: 'cursor', root: undefined }))).toMatchObject({
      code: 'not_a_repository',
      hint: 'forge mcp install --client cursor --scope user',
    });
  });

  it.each(['.mcp.json', '.cursor', '.vscode/mcp.json'])(
    '[D2] writes nothing behind %s where that is a link out of the repository',
    async (name) => {
      await using folder = await tempFolder();
      const isFolder = name === '.cursor';
      await folder.write('outside/mcp.json', '{}');
      await folder.write(`repo/${dirname(name)}/.keep`, '');
      const target = join(folder.path, isFolder ? 'outside' : 'outside/mcp.json');
      await symlink(target, join(folder.path, 'repo', name));
      const client = isFolder ? 'cursor' : name === '.mcp.json' ? 'claude' : 'vscode';
      expect(() => change(folder.path, { client })).toThrow('leads out of this repository');
      expect(await folder.read('outside/mcp.json')).toBe('{}');
      // For the whole person it is written where the person's own files are.
      expect(change(folder.path, { client, scope: 'user' })).toMatchObject({ action: 'created' });
    },
  );

  it('follows a link and keeps the permissions', async () => {
    await using folder = await tempFolder();
    await folder.write('dotfiles/claude.json', '{"token": "secret"}\n');
    const real = join(folder.path, 'dotfiles/claude.json');
    await mkdir(join(folder.path, 'home'));
    await writeFile(real, '{"token": "secret"}\n', { mode: 0o600 });
    const { chmod } = await import('node:fs/promises');
    await chmod(real, 0o600);
    await symlink(real, join(folder.path, 'home/.claude.json'));
    expect(change(folder.path, { client: 'claude', scope: 'user' })).toMatchObject({
      path: real,
      action: 'added',
    });
    expect((await lstat(join(folder.path, 'home/.claude.json'))).isSymbolicLink()).toBe(true);
    expect((await stat(real)).mode & 0o777).toBe(0o600);
    expect(await readFile(real, 'utf8')).toContain('"token": "secret"');
  });

  it('does not write over what another program wrote since the plan', async () => {
    await using folder = await tempFolder();
    const plan = planMcpClient(requestFor(folder.path, { client: 'claude' }));
    await folder.write('repo/.mcp.json', '{"mine": 1}');
    expect(failureOf(() => applyMcpClient(plan))).toMatchObject({ code: 'version_conflict' });
    expect(await folder.read('repo/.mcp.json')).toBe('{"mine": 1}');
  });
});

function failureOf(act: () => unknown): unknown {
  try {
    act();
  } catch (error) {
    if (isForgeError(error)) return error;
    throw error;
  }
  return 'it did not fail';
}

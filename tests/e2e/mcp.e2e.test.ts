import { execFileSync } from 'node:child_process';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { describe, expect, it } from 'vitest';
import type { Task } from '#contract/task.ts';
import { FORGE, type ForgePlace } from '../support/forge-cli.ts';
import { forgeFolderHere, forgeProjectHere } from '../support/forge-here.ts';
import { callText, callTool, everyTool } from '../support/mcp-calls.ts';

const INITIALIZE = {
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'test', version: '1' } },
};

describe('forge mcp', () => {
  it.each(['legacy', 'auto'] as const)('lets a real client (%s) list and call every tool', async (mode) => {
    await using project = await forgeProjectHere();
    await project.text('agent', 'add', 'worker-9');
    const { client, pid } = await connect(project, project.path, mode);
    const { tools } = await client.listTools();
    const called = await everyTool(client, 'worker-9');
    expect(called.toSorted()).toEqual(tools.map(({ name }) => name).toSorted());
    await client.close();
    await expect.poll(() => isAlive(pid)).toBe(false);
  });

  it('answers byte for byte what --json prints, errors too', async () => {
    await using project = await forgeProjectHere();
    const { client } = await connect(project, project.path);
    const { id } = await callTool<Task>(client, 'create_task', { title: 'Same "everywhere" \u200b ✓' });
    const same: readonly (readonly [string, Record<string, unknown>, readonly string[]])[] = [
      ['forge_show', { id }, ['task', 'show', id]],
      ['forge_ready', {}, ['ready']],
      ['forge_list', { all: true }, ['task', 'list', '--all']],
      ['forge_search', { query: 'EVERYWHERE' }, ['search', '--query', 'EVERYWHERE']],
      ['forge_result', { id }, ['task', 'result', id]],
      ['forge_show', { id: 'fg-none' }, ['task', 'show', 'fg-none']],
      ['forge_wait', { id, timeout_seconds: 0 }, ['task', 'wait', id, '--timeout', '0']],
      ['forge_transition', { id, state: 'nowhere' }, ['task', 'transition', id, 'nowhere']],
    ];
    for (const [at, [tool, args, argv]] of same.entries()) {
      const forge = at === 0 ? project.program : project;
      const { stdout } = await forge.run(...argv, '--json');
      expect(`${await callText(client, tool, args)}\n`).toBe(stdout);
    }
    await client.close();
  });

  it('acts as FORGE_ACTOR or --actor says, and sees what others do meanwhile', async () => {
    await using project = await forgeProjectHere();
    const { client } = await connect(project, project.path, 'legacy', ['--actor', 'host-7']);
    const { id } = await project.create('Made outside');
    expect(await callTool(client, 'forge_claim', { next: true })).toMatchObject({ id, assignee: 'host-7' });
    const waiting = callTool(client, 'forge_wait', { id, timeout_seconds: 50 });
    await project.json('task', 'close', id, '--reason', 'from outside');
    expect(await waiting).toMatchObject({ status: 'closed', close_reason: 'from outside' });
    await client.close();
  });

  it('writes nothing but the protocol, answers what was asked before the end, and ends with its input', async () => {
    await using project = await forgeProjectHere();
    const call = {
      jsonrpc: '2.0',
      id: 2,
      method: 'tools/call',
      params: { name: 'create_task', arguments: { title: 'x' } },
    };
    const stdin = [INITIALIZE, { jsonrpc: '2.0', method: 'notifications/initialized' }, call]
      .map((message) => `${JSON.stringify(message)}\n`)
      .join('');
    const { stdout, stderr, exit } = await project.program.with({ stdin }).run('mcp');
    expect({ stderr, exit }).toEqual({ stderr: '', exit: 0 });
    const answers = stdout
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as { id: number });
    expect(answers).toMatchObject([{ id: 1 }, { id: 2, result: { structuredContent: { title: 'x' } } }]);
    expect(await project.program.with({ stdin: '' }).run('mcp')).toEqual({ stdout: '', stderr: '', exit: 0 });
    expect(await project.fails('mcp', 'more')).toMatchObject({ error: { code: 'usage' } });
    expect(await project.program.run('mcp', '--json')).toMatchObject({ exit: 2 });
  });

  it('[B2] refuses a batch, and answers what comes after it', async () => {
    await using project = await forgeProjectHere();
    const list = {
      jsonrpc: '2.0',
      id: 2,
      method: 'tools/call',
      params: { name: 'forge_list', arguments: {} },
    };
    const stdin = [INITIALIZE, [list, list], list].map((message) => `${JSON.stringify(message)}\n`).join('');
    const { stdout, stderr, exit } = await project.program.with({ stdin }).run('mcp');
    expect({ stderr, exit }).toEqual({ stderr: '', exit: 0 });
    const answers = stdout
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as { id: number | null });
    expect(answers.toSorted((a, b) => (a.id ?? 0) - (b.id ?? 0))).toMatchObject([
      { id: null, error: { code: -32_600 } },
      { id: 1 },
      { id: 2, result: { content: [{ text: '[]' }] } },
    ]);
  });

  it('goes on after garbage, and tells a host outside of a project what is missing', async () => {
    await using folder = await forgeFolderHere();
    const call = {
      jsonrpc: '2.0',
      id: 2,
      method: 'tools/call',
      params: { name: 'forge_ready', arguments: {} },
    };
    const stdin = `${JSON.stringify(INITIALIZE)}\nnot json\n{"x":1}\n${JSON.stringify(call)}\n`;
    const { stdout, exit } = await folder.program.with({ stdin }).run('mcp');
    expect(exit).toBe(0);
    expect(stdout.split('\n').filter((line) => line.includes('-32700'))).toEqual([
      '{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"Parse error: the line is not JSON"}}',
    ]);
    const last = JSON.parse(stdout.trimEnd().split('\n').at(-1) ?? '') as unknown;
    expect(last).toMatchObject({
      id: 2,
      result: { isError: true, structuredContent: { error: { code: 'not_a_project' } } },
    });
  });

  it('ends when its host is killed', async () => {
    await using project = await forgeProjectHere();
    const { stdout } = await project.bash(
      `mkfifo in; forge mcp < in > out & pid=$!; exec 3> in; echo '${JSON.stringify(INITIALIZE)}' >&3; until grep -q serverInfo out; do sleep 0.05; done; exec 3>&-; wait $pid; echo "ended $?"`,
    );
    expect(stdout).toBe('ended 0\n');
  });
});

describe('forge mcp install', () => {
  it('writes what a host can start', async () => {
    await using project = await forgeProjectHere();
    const told = await project.text('mcp', 'install', '--client', 'claude');
    expect(told).toBe(`Written ${project.path}/.mcp.json\nRestart claude to use it.`);
    const { mcpServers } = JSON.parse(await project.read('.mcp.json')) as {
      mcpServers: { forge: { command: string; args: string[] } };
    };
    const { command, args } = mcpServers.forge;
    expect([command, ...args]).toEqual([process.execPath, FORGE, 'mcp']);
    const client = new Client({ name: 'test', version: '1' });
    await client.connect(
      new StdioClientTransport({
        command,
        args,
        cwd: project.path,
        env: toEnv(project.env),
        stderr: 'inherit',
      }),
    );
    expect((await client.listTools()).tools.length).toBeGreaterThan(10);
    await client.close();
    expect(await project.json('mcp', 'install', '--client', 'claude')).toMatchObject({ action: 'unchanged' });
    expect(await project.json('mcp', 'install', '--client', 'claude', '--uninstall')).toMatchObject({
      action: 'removed',
    });
    expect(await project.read('.mcp.json')).toBe('{\n  "mcpServers": {}\n}\n');
  });

  it('with --dry-run only says it, and by forge-ctl names forge', async () => {
    await using project = await forgeProjectHere();
    const told = await project.text('mcp', 'install', '--client', 'codex', '--dry-run');
    expect(told).toContain('[mcp_servers.forge]\ncommand = ');
    expect(told).toMatch(/^Would write .*\.codex\/config\.toml\n/);
    expect((await project.bash('test -e "$HOME/.codex"')).exit).toBe(1);
    const { stdout } = await project.bash('forge-ctl mcp install --client gemini --scope project --json');
    expect(JSON.parse(stdout)).toMatchObject({
      path: `${project.path}/.gemini/settings.json`,
      action: 'created',
    });
    expect(stdout).toContain('bin/forge.cjs');
  });

  it('refuses what it cannot read', async () => {
    await using project = await forgeProjectHere();
    await project.write('.cursor/mcp.json', '{ "mcpServers": { \n');
    expect(await project.fails('mcp', 'install', '--client', 'cursor')).toMatchObject({
      exit: 2,
      error: {
        message: `Cannot change ${project.path}/.cursor/mcp.json, line 2: a key in quotes is missing`,
      },
    });
    expect(await project.fails('mcp', 'install', '--client', 'emacs')).toMatchObject({ exit: 2 });
    expect(await project.fails('mcp', 'install')).toMatchObject({ error: { code: 'usage' } });
  });
});

async function connect(
  place: ForgePlace,
  cwd: string,
  mode: 'legacy' | 'auto' = 'legacy',
  more: readonly string[] = [],
): Promise<{ client: Client; pid: number }> {
  const client = new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode } });
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [FORGE, 'mcp', ...more],
    cwd,
    env: toEnv(place.env),
    stderr: 'inherit',
  });
  await client.connect(transport);
  return { client, pid: transport.pid ?? 0 };
}

function toEnv(env: NodeJS.ProcessEnv): Record<string, string> {
  return Object.fromEntries(
    Object.entries(env).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
  );
}

function isAlive(pid: number): boolean {
  try {
    return !execFileSync('ps', ['-o', 'stat=', '-p', String(pid)], { encoding: 'utf8' }).startsWith('Z');
  } catch {
    return false;
  }
}

import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { testMachine } from '../../tests/support/sync-project.ts';
import { tempRepo } from '../../tests/support/temp-repo.ts';
import { healMcpEntries, listDeadEntries } from './heal-mcp.ts';
import { applyMcpClient, planMcpClient } from './mcp-clients.ts';
import type { Machine } from './machine.ts';

const CLIENTS = ['claude', 'codex', 'gemini', 'opencode', 'cursor', 'vscode'] as const;
const SCOPES = ['project', 'user'] as const;
const EVERY = CLIENTS.flatMap((client) => SCOPES.map((scope) => [client, scope] as const));

/** Where nvm, Homebrew and npx had the program that is gone. */
const GONE = {
  nvm: {
    node: '/home/ann/.nvm/versions/node/v24.1.0/bin/node',
    script: '/home/ann/.nvm/versions/node/v24.1.0/lib/node_modules/forge-ctl/bin/forge.cjs',
  },
  npx: { node: process.execPath, script: '/home/ada/.npm/_npx/1f2e/node_modules/forge-ctl/bin/forge.cjs' },
};

describe('[U5] MCP entries that name a Forge that is gone', () => {
  it.each(EVERY)(
    'of %s in the scope %s name this one, and keep what a person added',
    async (client, scope) => {
      await using place = await openPlace();
      const { root, machine, told } = place;
      const installed = install(place, { ...machine, program: GONE.nvm }, client, scope);
      const text = readFileSync(installed, 'utf8');
      writeFileSync(
        installed,
        client === 'codex'
          ? `${text}startup_timeout_sec = 7\n`
          : text.replace(/("command":)/, '"timeout": 7, $1'),
      );
      expect(listDeadEntries(root, machine)).toMatchObject([{ client, scope, path: installed }]);
      await healMcpEntries(root, machine, (line) => told.push(line));
      expect(told.splice(0)).toEqual([
        `MCP entries named a Forge that is gone and name this one now: ${installed}`,
      ]);
      const after = readFileSync(installed, 'utf8');
      expect(after).toContain(JSON.stringify(machine.program.script));
      expect(after).not.toContain('nvm');
      expect(after).toMatch(/7/);
      await healMcpEntries(root, machine, (line) => told.push(line));
      expect(told).toEqual([]);
    },
  );

  it('are those of Homebrew too, which takes only Node away', async () => {
    await using place = await openPlace();
    const { root, machine } = place;
    const { script } = machine.program;
    const brew = { node: '/opt/homebrew/Cellar/node/24.1.0/bin/node', script };
    const path = install(place, { ...machine, program: brew }, 'gemini', 'user');
    await healMcpEntries(root, machine, () => undefined);
    expect(readFileSync(path, 'utf8')).toContain(JSON.stringify(machine.program.node));
  });

  it('stay where another installation is there, and where a person wrote them in other words', async () => {
    await using place = await openPlace();
    const { root, machine, told } = place;
    const other = join(dirname(root), 'other', 'forge.cjs');
    mkdirSync(dirname(other));
    writeFileSync(other, '');
    const kept = install(
      place,
      { ...machine, program: { ...machine.program, script: other } },
      'claude',
      'user',
    );
    const before = readFileSync(kept, 'utf8');
    const own = join(root, '.mcp.json');
    const written = '{"mcpServers": {"forge": {"command": "npx", "args": ["forge-ctl", "mcp"]}}}';
    writeFileSync(own, written);
    await healMcpEntries(root, machine, (line) => told.push(line));
    expect({ told, kept: readFileSync(kept, 'utf8'), own: readFileSync(own, 'utf8') }).toEqual({
      told: [],
      kept: before,
      own: written,
    });
  });

  it('in a file that git tracks are told and left, because they may be another person’s', async () => {
    await using place = await openPlace();
    const { root, machine, told, git } = place;
    const path = install(place, { ...machine, program: GONE.npx }, 'claude', 'project');
    git('add', '.mcp.json');
    const before = readFileSync(path, 'utf8');
    await healMcpEntries(root, machine, (line) => told.push(line));
    expect(told).toEqual([
      `${path} names a Forge that is not here. To name this one: forge mcp install --client claude`,
    ]);
    expect(readFileSync(path, 'utf8')).toBe(before);
  });

  it('in files that cannot be understood are left alone', async () => {
    await using place = await openPlace();
    const { root, machine, told } = place;
    writeFileSync(join(root, '.mcp.json'), '{"mcpServers": {"forge": ');
    await healMcpEntries(root, machine, (line) => told.push(line));
    expect(told).toEqual([]);
  });
});

async function openPlace() {
  const repo = await tempRepo();
  const home = join(dirname(repo.path), 'home');
  mkdirSync(home, { recursive: true });
  const machine = testMachine(home);
  const told: string[] = [];
  return {
    root: repo.path,
    machine,
    told,
    git: (...args: readonly string[]) => repo.git(...args),
    [Symbol.asyncDispose]: () => repo[Symbol.asyncDispose](),
  };
}

function install(
  { root }: { readonly root: string },
  { program, homeDir, env }: Machine,
  client: (typeof CLIENTS)[number],
  scope: (typeof SCOPES)[number],
): string {
  const platform = process.platform;
  const plan = planMcpClient({ client, scope, want: 'entry', root, program, homeDir, env, platform });
  applyMcpClient(plan);
  return plan.path;
}

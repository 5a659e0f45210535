import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { FORGE, type ForgeProject, forgeProject } from '../support/forge-cli.ts';
import { everyTool, type ToolCaller } from '../support/mcp-calls.ts';

// The MCP Inspector is 120 packages and 110 MB, so it is no dependency. Whoever has it says where:
// FORGE_INSPECTOR=/path/to/node_modules/.bin/mcp-inspector
const INSPECTOR = process.env['FORGE_INSPECTOR'] ?? '';
const MINUTES = 600_000;

describe.skipIf(INSPECTOR === '')("the MCP Inspector's command line", () => {
  it('lists and calls every tool over stdio', { timeout: MINUTES }, async () => {
    await using project = await forgeProject();
    const { called, listed } = await callEverything(project, [process.execPath, FORGE, 'mcp']);
    expect(called).toEqual(listed);
  });

  it('lists and calls every tool over HTTP', { timeout: MINUTES }, async () => {
    await using project = await forgeProject();
    const server = spawn(process.execPath, [FORGE, 'serve', '--port', '0', '--json'], {
      cwd: project.path,
      env: project.env,
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    try {
      const [line] = (await once(createInterface({ input: server.stdout }), 'line')) as [string];
      const { url, token_file } = JSON.parse(line) as { url: string; token_file: string };
      const token = (await readFile(token_file, 'utf8')).trim();
      const target = [`${url}/mcp`, '--transport', 'http', '--header', `Authorization: Bearer ${token}`];
      const { called, listed } = await callEverything(project, target);
      expect(called).toEqual(listed);
    } finally {
      const ended = once(server, 'exit');
      server.kill('SIGTERM');
      await ended;
    }
  });
});

async function callEverything(
  project: ForgeProject,
  target: readonly string[],
): Promise<{ called: string[]; listed: string[] }> {
  const inspect = async (...args: string[]): Promise<unknown> => {
    const { stdout } = await promisify(execFile)(INSPECTOR, ['--cli', ...target, ...args], {
      cwd: project.path,
      env: project.env,
    }).catch((error: unknown) => {
      // It ends with a code of its own where a tool gives an error, after printing it.
      if (typeof error === 'object' && error !== null && 'stdout' in error && error.stdout !== '')
        return { stdout: String(error.stdout) };
      throw error;
    });
    return JSON.parse(stdout) as unknown;
  };
  const { tools } = (await inspect('--method', 'tools/list', '--strict')) as { tools: { name: string }[] };
  const caller: ToolCaller = {
    callTool: ({ name, arguments: given }) => {
      const pairs = Object.entries(given).flatMap(([key, value]) => [
        '--tool-arg',
        `${key}=${typeof value === 'string' ? value : JSON.stringify(value)}`,
      ]);
      return inspect('--method', 'tools/call', '--tool-name', name, ...pairs) as ReturnType<
        ToolCaller['callTool']
      >;
    },
  };
  await project.text('agent', 'add', 'worker-9');
  const called = await everyTool(caller, 'worker-9');
  return { called: called.toSorted(), listed: tools.map(({ name }) => name).toSorted() };
}

import { existsSync } from 'node:fs';
import { basename, isAbsolute } from 'node:path';
import { isForgeError } from '#kernel/errors.ts';
import { nameFirst } from '#kernel/text.ts';
import type { Machine } from './machine.ts';
import { applyMcpClient, listMcpEntries, planMcpClient, type McpEntry } from './mcp-clients.ts';

/**
 * Names this Forge in the entries of agents' clients that name one which is gone: a client says nothing then, or that
 * its server does not start. A file that git tracks may name the program of another person's machine, and is theirs to
 * change: that is told.
 */
export async function healMcpEntries(
  root: string,
  machine: Machine,
  notice: (line: string) => void,
): Promise<void> {
  const healed: string[] = [];
  for (const entry of listDeadEntries(root, machine)) {
    const { client, scope, path } = entry;
    if (scope === 'project' && (await isTracked(root, path, machine))) {
      notice(
        `${path} names a Forge that is not here. To name this one: forge mcp install --client ${client}`,
      );
      continue;
    }
    try {
      const { program, homeDir, env } = machine;
      const { platform } = process;
      applyMcpClient(planMcpClient({ client, scope, want: 'entry', root, program, homeDir, env, platform }));
      healed.push(path);
    } catch (error) {
      // Not ours to write, or of a form that cannot be changed.
      if (!isForgeError(error)) throw error;
    }
  }
  if (healed.length > 0)
    notice(`MCP entries named a Forge that is gone and name this one now: ${nameFirst(healed)}`);
}

/** Entries of Forge by absolute paths of which one leads nowhere. What a person wrote in other words stays theirs. */
export function listDeadEntries(root: string, { homeDir, env }: Machine): McpEntry[] {
  const entries = listMcpEntries({ root, homeDir, env, platform: process.platform });
  return entries.filter(({ words: [node = '', script = '', ...more] }) => {
    const isOurs = isAbsolute(node) && isAbsolute(script) && /^forge(-ctl)?\.cjs$/.test(basename(script));
    return isOurs && more.includes('mcp') && !(existsSync(node) && existsSync(script));
  });
}

async function isTracked(root: string, path: string, { env }: Machine): Promise<boolean> {
  const { runGit } = await import('#git/run-git.ts');
  const { exit } = await runGit(
    // Without a monitor that the repository's settings name: it is a program.
    ['-c', 'core.fsmonitor=false', 'ls-files', '--error-unmatch', '--', path],
    { cwd: root, env },
  );
  return exit === 0;
}

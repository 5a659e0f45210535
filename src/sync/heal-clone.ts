import { join } from 'node:path';
import { readPlainFile } from '#git/read-plain-file.ts';
import { isForgeError } from '#kernel/errors.ts';
import type { ForgeProgram } from './forge-program.ts';
import { areHooksInPlace } from './hooks/hook-memory.ts';
import type { Machine } from './machine.ts';
import type { ProjectPaths } from './project-paths.ts';

/** For every command, by three small files: whether git starts a Forge that is there, as driver and in the hooks. */
export function isConnectedToGit(paths: ProjectPaths, program: ForgeProgram): boolean {
  try {
    const config = readPlainFile(join(paths.common_dir, 'config'))?.toString('utf8') ?? '';
    const isDriver =
      config.includes(' merge-driver %O %A %B %P') &&
      config.includes(program.script) &&
      config.includes(program.node);
    return isDriver && areHooksInPlace(paths, config, program);
  } catch {
    return true; // What cannot be read cannot be mended either.
  }
}

/**
 * A fresh clone has neither driver nor hooks, because git takes neither along; a moved installation leaves them behind,
 * and programs that generate hooks write Forge out of them. The driver is registered without asking, as nothing is lost
 * by it; hooks are the user's to install the first time, and are put back where another program took them away. True
 * where commits may have been made without the hooks.
 */
export async function healClone(
  paths: ProjectPaths,
  machine: Machine,
  notice: (line: string) => void,
): Promise<boolean> {
  let wasOut = false;
  try {
    const { healHooks } = await import('./heal-hooks.ts');
    wasOut = await healHooks(paths, machine, notice);
    await healDriver(paths, machine, notice);
    const { healMcpEntries } = await import('./heal-mcp.ts');
    await healMcpEntries(paths.root, machine, notice);
  } catch (error) {
    // A clone that cannot be written to: merges fall back to git's text merge, which Forge can read.
    if (!isForgeError(error)) throw error;
  }
  return wasOut;
}

async function healDriver(
  paths: ProjectPaths,
  { program, env }: Machine,
  notice: (line: string) => void,
): Promise<void> {
  const { isMergeDriverRegistered, registerMergeDriver } = await import('./merge-driver-config.ts');
  if (isMergeDriverRegistered(paths, program)) return;
  await registerMergeDriver({ paths, program, env });
  const { addCloneAttributes } = await import('./attribute-lines.ts');
  addCloneAttributes(paths);
  const { readHookStatus } = await import('./hook-blocks.ts');
  const hooks = await readHookStatus({ paths, program, env });
  const missing = hooks.some(({ state }) => state === 'absent' || state === 'outdated');
  notice(
    missing
      ? 'Registered the merge driver in this clone. Its hooks are not installed yet: forge init'
      : 'Registered the merge driver in this clone',
  );
}

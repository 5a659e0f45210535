import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { isForgeError } from '#kernel/errors.ts';
import type { ForgeProgram } from './forge-program.ts';
import type { Machine } from './machine.ts';
import type { ProjectPaths } from './project-paths.ts';

/** One look at a small file, for every command: whether this program is the merge driver of this clone. */
export function isDriverInConfig(paths: Pick<ProjectPaths, 'common_dir'>, program: ForgeProgram): boolean {
  try {
    const config = readFileSync(join(paths.common_dir, 'config'), 'utf8');
    return config.includes(' merge-driver %O %A %B %P') && config.includes(program.script);
  } catch {
    return true; // What cannot be read cannot be mended either.
  }
}

/**
 * A fresh clone has neither driver nor hooks, because git takes neither along; a moved installation leaves them behind.
 * The driver is registered without asking, as nothing is lost by it; hooks are the user's to install.
 */
export async function healClone(
  paths: ProjectPaths,
  machine: Machine,
  notice: (line: string) => void,
): Promise<void> {
  const { isMergeDriverRegistered, registerMergeDriver } = await import('./merge-driver-config.ts');
  const { program, env } = machine;
  if (isMergeDriverRegistered(paths, program)) return;
  try {
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
  } catch (error) {
    // A clone that cannot be written to: merges fall back to git's text merge, which Forge can read.
    if (!isForgeError(error)) throw error;
  }
}

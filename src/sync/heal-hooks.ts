import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { installHooks, readHookStatus, type HookStatus } from './hook-blocks.ts';
import { isGenerated } from './hooks/hook-block.ts';
import { areHooksInPlace, rememberHooks } from './hooks/hook-memory.ts';
import type { Machine } from './machine.ts';
import type { ProjectPaths } from './project-paths.ts';

/**
 * Puts Forge back into hooks that another program wrote anew, or that name a Forge that is gone. Where a person took it
 * out, or the hooks are not Forge's to write, it says once what to type.
 */
export async function healHooks(
  paths: ProjectPaths,
  machine: Machine,
  notice: (line: string) => void,
): Promise<void> {
  const { program, env } = machine;
  if (areHooksInPlace(paths, readFileSync(join(paths.common_dir, 'config'), 'utf8'), program)) return;
  const before = await readHookStatus({ paths, program, env });
  const first = before[0];
  if (first === undefined) return;
  const isOurs = before.some(isMendable);
  const after = isOurs ? await installHooks({ paths, program, env }) : before;
  const wanting = after.find(({ state }) => state !== 'installed');
  rememberHooks(paths, first.file, wanting === undefined ? 'installed' : wanting.state);
  if (wanting === undefined) {
    const files = before.filter(({ state }) => state !== 'installed').map(({ hook }) => hook);
    if (files.length > 0) notice(`Forge was out of the git hooks (${files.join(', ')}) and is in them again`);
    return;
  }
  const advice =
    wanting.advice ?? 'to put it back: forge hooks install; to leave it so: forge hooks uninstall';
  notice(`Forge is not in the git hooks any more, so that commits carry no tasks; ${advice}`);
}

/** An older block, or a file that a program generated; what a person changed is theirs. */
function isMendable({ state, file }: HookStatus): boolean {
  if (state === 'outdated') return true;
  if (state !== 'absent') return false;
  try {
    return isGenerated(readFileSync(file, 'latin1'));
  } catch {
    return false;
  }
}

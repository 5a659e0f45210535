import { existsSync } from 'node:fs';
import { dirname, join, sep } from 'node:path';
import { readPlainFile } from '#git/read-plain-file.ts';
import { installHooks, readHookStatus, settleKeepers, type HookStatus } from './hook-blocks.ts';
import { isGenerated } from './hooks/hook-block.ts';
import { areHooksInPlace, haveHooksMoved, rememberHooks } from './hooks/hook-memory.ts';
import type { Machine } from './machine.ts';
import type { ProjectPaths } from './project-paths.ts';

/**
 * Puts Forge back into hooks that another program wrote anew, that git was led to, or that name a Forge that is gone.
 * Where a person took it out, or the hooks are not Forge's to write, it says once what to type. True where Forge was out.
 */
export async function healHooks(
  paths: ProjectPaths,
  machine: Machine,
  notice: (line: string) => void,
): Promise<boolean> {
  const { program, env } = machine;
  const config = readPlainFile(join(paths.common_dir, 'config'))?.toString('utf8') ?? '';
  if (areHooksInPlace(paths, config, program)) return false;
  const options = { paths, program, env };
  const before = await readHookStatus(options);
  const first = before[0];
  if (first === undefined) return false;
  const isOurs = haveHooksMoved(paths) || before.some((hook) => isMendable(hook, paths));
  const after = isOurs ? await installHooks(options) : before;
  if (!isOurs) await settleKeepers(options);
  const wanting = after.find(({ state }) => state !== 'installed');
  rememberHooks(paths, first.file, wanting === undefined ? 'installed' : wanting.state);
  if (wanting === undefined) {
    const files = before.filter(({ state }) => state !== 'installed').map(({ hook }) => hook);
    if (files.length > 0) notice(`Forge was out of the git hooks (${files.join(', ')}) and is in them again`);
    return files.length > 0;
  }
  const advice =
    wanting.advice ?? 'to put it back: forge hooks install; to leave it so: forge hooks uninstall';
  notice(`Forge is not in the git hooks any more, so that commits carry no tasks; ${advice}`);
  return true;
}

/**
 * An older block, a file that a program generated, or a folder that this working tree does not have yet; what a person
 * changed is theirs.
 */
function isMendable({ state, file }: HookStatus, { root }: ProjectPaths): boolean {
  if (state === 'outdated') return true;
  if (state !== 'absent') return false;
  const folder = dirname(file);
  if (!existsSync(folder))
    return folder.startsWith(root + sep) && !folder.startsWith(join(root, '.git') + sep);
  const text = readPlainFile(file)?.toString('latin1');
  return text !== undefined && isGenerated(text);
}

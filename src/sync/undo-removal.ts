import { join } from 'node:path';
import { runGit } from '#git/run-git.ts';
import { lookAt } from './look-at.ts';
import type { Machine } from './machine.ts';
import type { ProjectPaths } from './project-paths.ts';
import { CONFIG_PATH, HISTORY_PATH, TASKS_PATH } from './task-files.ts';

/**
 * A commit without `.forge` would take the project away from every clone that pulls it, and one without a task file the
 * tasks from every later clone. The files come back into it and into the working tree; `forge uninstall` is the way to do
 * it on purpose.
 */
export async function undoRemoval(
  paths: ProjectPaths,
  { env }: Machine,
  how: 'tell' | 'undo',
): Promise<string[]> {
  const options = { cwd: paths.root, env };
  const list = ['diff', '--cached', '--name-only', '--no-renames', '--diff-filter=D', '-z'];
  const { stdout } = await runGit([...list, '--', ':(top).forge'], options);
  const removed = stdout.split('\0').filter((path) => path !== '');
  const isWhole = removed.includes(CONFIG_PATH);
  const files = isWhole ? removed : removed.filter((path) => path === TASKS_PATH || path === HISTORY_PATH);
  if (files.length === 0) return [];
  const what = isWhole ? '.forge' : files.join(' and ');
  if (how === 'tell')
    return [
      `This commit removes ${what}, and the tasks of every clone that merges it. To bring it back: forge init`,
    ];
  const reset = await runGit(['reset', '--quiet', '--', ...files.map(toPathspec)], options);
  // What a person has there is theirs; it was joined in, and the export writes it.
  const missing = files.filter((path) => lookAt(join(paths.root, path)) === undefined).map(toPathspec);
  const settings = ['-c', 'core.hooksPath=/dev/null', '-c', 'advice.detachedHead=false'];
  const { exit, stderr } =
    reset.exit !== 0 || missing.length === 0
      ? reset
      : await runGit([...settings, 'checkout', '--quiet', '--', ...missing], options);
  if (exit !== 0) return [`This commit removes ${what}, which could not be brought back: ${stderr.trim()}`];
  return [
    `This commit would have removed ${what} for every clone that merges it, so it was brought back; to remove it: forge uninstall`,
  ];
}

function toPathspec(path: string): string {
  return `:(top,literal)${path}`;
}

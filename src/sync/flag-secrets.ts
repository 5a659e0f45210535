import { findSecrets } from '#domain/find-secrets.ts';
import { runGit } from '#git/run-git.ts';
import type { Machine } from './machine.ts';
import type { ProjectPaths } from './project-paths.ts';
import { HISTORY_PATH, TASKS_PATH } from './task-files.ts';

/** More of them are one sentence. */
const SHOWN = 5;
const RECORD = /^\+\{"(?:id|task)":"([^"]+)"/;

/**
 * A sentence for each task that would put what looks like a key into the history, where it can hardly be taken out
 * again. Asked of what is staged, or of the files as they are; only of lines that the last commit does not have.
 */
export async function flagSecrets(
  { root }: Pick<ProjectPaths, 'root'>,
  { env }: Pick<Machine, 'env'>,
  of: 'staged' | 'files',
): Promise<string[]> {
  const plain = ['--unified=0', '--no-color', '--no-ext-diff', '--no-textconv', '--no-renames'];
  const against = of === 'staged' ? ['--cached'] : ['HEAD'];
  const args = ['diff', ...plain, ...against, '--', TASKS_PATH, HISTORY_PATH];
  const { exit, stdout } = await runGit(args, { cwd: root, env });
  if (exit !== 0) return [];
  const found = new Map<string, Set<string>>();
  for (const line of stdout.split('\n')) {
    const id = RECORD.exec(line)?.[1];
    if (id === undefined) continue;
    const names = findSecrets(line);
    if (names.length > 0) found.set(id, new Set([...(found.get(id) ?? []), ...names]));
  }
  const told = [...found].map(
    ([id, names]) => `${id} holds what looks like ${[...names].join(' and ')}, and is about to be committed`,
  );
  if (told.length <= SHOWN) return told;
  return [...told.slice(0, SHOWN), `${told.length - SHOWN} more tasks do`];
}

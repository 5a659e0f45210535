import { relative } from 'node:path';
import type { Finding } from './examine-project.ts';
import { listLostTaskFiles, restoreTrackedFiles } from './folder-state.ts';
import { toGitRepo, type Machine } from './machine.ts';
import type { ProjectPaths } from './project-paths.ts';

/** Task files that the last commit has and the working tree lacks: `git commit -a` would remove every task of the branch. */
export async function examineTaskFiles({
  paths,
  machine,
  fix,
}: {
  readonly paths: ProjectPaths;
  readonly machine: Machine;
  readonly fix: boolean;
}): Promise<Finding> {
  const name = 'working tree';
  const repo = toGitRepo(paths.root, machine);
  const toNames = (files: readonly string[]): string =>
    files.map((file) => relative(paths.root, file)).join(' and ');
  const lost = await listLostTaskFiles(repo, paths);
  if (lost.length === 0)
    return { name, state: 'ok', message: 'has the task files of the last commit', hint: null };
  if (fix) await restoreTrackedFiles(repo);
  const left = fix ? await listLostTaskFiles(repo, paths) : lost;
  if (left.length === 0)
    return { name, state: 'fixed', message: `brought back ${toNames(lost)}`, hint: null };
  return {
    name,
    state: 'warning',
    message: `lacks ${toNames(left)}, which the last commit has`,
    // What --fix could not bring back is left out by the checkout itself.
    hint: fix ? 'git sparse-checkout add .forge' : 'forge doctor --fix',
  };
}

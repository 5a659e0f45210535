import { askGit, type GitRepo } from '#git/ask-git.ts';
import { readBlob } from '#git/read-blob.ts';
import type { Environment } from './forge-home.ts';
import { readCommittedFiles } from './committed-files.ts';
import { lookAt } from './look-at.ts';
import { toGitRepo } from './machine.ts';
import type { ProjectPaths } from './project-paths.ts';
import { CONFIG_PATH, TASKS_PATH, toTaskFiles } from './task-files.ts';

/**
 * Why the working tree has no `.forge/config.json`: it was `deleted`, a `sparse` checkout leaves it out, or the branch
 * has `none` (it is older than the project, or the removal was committed).
 */
export type FolderState = 'deleted' | 'sparse' | 'none';

/** For a working tree without a config. */
export async function readFolderState(repo: GitRepo): Promise<FolderState> {
  const paths = [CONFIG_PATH, TASKS_PATH].map((path) => `:(top)${path}`);
  const { stdout } = await askGit(repo, ['ls-files', '-t', '--', ...paths]);
  if (/^S /m.test(stdout)) return 'sparse';
  if (stdout !== '') return 'deleted';
  return (await readBlob(repo, 'HEAD', CONFIG_PATH)) === undefined ? 'none' : 'deleted';
}

/** For commands in a project whose working tree shows no config: a deletion is noticed before it is published. */
export async function tellDeletedFolder(
  { root }: Pick<ProjectPaths, 'root'>,
  env: Environment,
  notice: (line: string) => void,
): Promise<void> {
  if ((await readFolderState(toGitRepo(root, { env }))) !== 'deleted') return;
  notice(
    '.forge was deleted in this working tree. To bring it back: forge init; to take Forge out of the repository: forge uninstall',
  );
}

/** The task files that HEAD has and the working tree lacks, by their paths there. */
export async function listLostTaskFiles(
  repo: GitRepo,
  paths: Pick<ProjectPaths, 'forge_dir' | 'store_dir'>,
): Promise<string[]> {
  const { tasks, history } = toTaskFiles(paths);
  const lost = [tasks, history].filter((path) => lookAt(path) === undefined);
  if (lost.length === 0) return [];
  const [head] = await readCommittedFiles(repo);
  return lost.filter((path) => (path === tasks ? head?.tasks : head?.history) !== undefined);
}

/** Writes the tracked files of `.forge` again that are missing here, and no others. Returns their paths. */
export async function restoreTrackedFiles(repo: GitRepo): Promise<readonly string[]> {
  const list = async (args: readonly string[]): Promise<string[]> => {
    const { stdout, exit } = await askGit(repo, [...args, '--', ':(top).forge']);
    return exit === 0 ? stdout.split('\0').filter((path) => path !== '') : [];
  };
  // What `git rm` took out of the index too is still in the last commit.
  const unstaged = await list(['diff', '--cached', '--name-only', '--no-renames', '--diff-filter=D', '-z']);
  if (unstaged.length > 0) await askGit(repo, ['reset', '--quiet', '--', ':(top).forge']);
  const missing = await list(['ls-files', '--deleted', '-z', '--full-name']);
  const top = missing.map((path) => `:(top)${path}`);
  if (missing.length > 0) await askGit(repo, ['checkout', '--quiet', '--', ...top]);
  return missing;
}

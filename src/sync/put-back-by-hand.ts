import { join } from 'node:path';
import { askGit, type GitRepo } from '#git/ask-git.ts';
import { findOperationInProgress } from '#git/operation-in-progress.ts';
import { isTakenBack, type PutBackLine } from '#domain/taken-back.ts';
import { toIso } from '#kernel/clock.ts';
import { statFile, TICK_MS } from './file-changes.ts';
import type { Environment } from './forge-home.ts';
import { toGitRepo } from './machine.ts';
import type { ProjectPaths } from './project-paths.ts';
import { TASKS_PATH } from './task-files.ts';

/** How far back a commit that changed the lines back is looked for. */
const COMMITS = 10;
const SECOND_MS = 1_000;

/**
 * The lines that a person changed back to what they were before an edit by hand; the others git brought with an older
 * file. Git never writes into a file, it makes a new one, and notes that in its index: an old file, or another note, means
 * another writer. The note alone does not tell, because `git status` makes it anew. A commit that takes an edited line away
 * says so itself. In the middle of a merge the file is git's, with the lines of both sides.
 */
export async function findPutBackByHand(
  lines: readonly PutBackLine[],
  {
    paths,
    env,
    since,
  }: { readonly paths: Pick<ProjectPaths, 'root'>; readonly env: Environment; readonly since: number },
): Promise<readonly PutBackLine[]> {
  const repo = toGitRepo(paths.root, { env });
  const ask = async (args: readonly string[]): Promise<string> => (await askAbout(repo, args)) ?? '';
  // In branch mode git knows nothing of the file.
  if ((await ask(['ls-files'])) === '') return lines;
  const operation = findOperationInProgress(repo.git_dir);
  if (operation !== undefined && operation.name !== 'bisect') return [];
  if ((await ask(['ls-files', '--unmerged'])) !== '') return [];
  if (isOlderFile(join(paths.root, TASKS_PATH), since)) return lines;
  if ((await ask(['diff-files', '--name-only'])) !== '') return lines;
  if ((await ask(['diff-index', '--cached', '--name-only', 'HEAD'])) !== '') return lines;
  // The reflog counts in seconds.
  return findTakenBack(lines, {
    repo,
    rev: 'HEAD',
    known: `HEAD@{${toIso(Math.max(0, since - SECOND_MS))}}`,
  });
}

/** The lines that a commit of `rev` changed back, which was not there when `known` was. */
export async function findTakenBack(
  lines: readonly PutBackLine[],
  { repo, rev, known }: { readonly repo: GitRepo; readonly rev: string; readonly known?: string },
): Promise<readonly PutBackLine[]> {
  const args = [
    'log',
    `-${COMMITS}`,
    '--no-color',
    '--no-ext-diff',
    '--unified=0',
    '--format=%x00',
    '-p',
    rev,
  ];
  const some = known === undefined ? undefined : await askAbout(repo, [...args, `^${known}`]);
  // Without a reflog all commits may be new.
  const text = some ?? (await askAbout(repo, args)) ?? '';
  const log = text.split('\0').map((changes) => changes.split('\n'));
  return lines.filter((line) => isTakenBack(log, line));
}

/** False where it is not known: some file systems do not keep when a file was made, or tell of the last change. */
function isOlderFile(path: string, since: number): boolean {
  const made = Number(statFile(path)?.birthtimeMs ?? 0);
  return made > 0 && made < since - TICK_MS;
}

async function askAbout(repo: GitRepo, args: readonly string[]): Promise<string | undefined> {
  const { exit, stdout } = await askGit(repo, [...args, '--', `:(top)${TASKS_PATH}`]);
  return exit === 0 ? stdout : undefined;
}

import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { askGit, type GitRepo } from '#git/ask-git.ts';
import { isAsIndexed } from '#git/as-indexed.ts';
import { listHeadMoves } from '#git/head-moves.ts';
import { findOperationInProgress } from '#git/operation-in-progress.ts';
import { isToldByCommits, type PutBackLine } from '#domain/taken-back.ts';
import { toIso } from '#kernel/clock.ts';
import { statFile, TICK_MS } from './file-changes.ts';
import { findTakenBack, findTakenBackSince } from './find-taken-back.ts';
import type { Environment } from './forge-home.ts';
import { toGitRepo } from './machine.ts';
import type { ProjectPaths } from './project-paths.ts';
import { TASKS_PATH } from './task-files.ts';

const SECOND_MS = 1_000;
/** How many moves of HEAD are asked about. */
const MOVES = 50;

/**
 * The lines that a person changed back to what they were before an edit by hand; the others git brought with an older
 * file. Git never writes into a file, it makes a new one, and notes that in its index: an old file, or another note, means
 * another writer. The note alone does not tell, because `git status` makes it anew. A commit that takes an edited line away
 * says so itself. In the middle of a merge the file is git's, with the lines of both sides, and only commits tell.
 */
export async function findPutBackByHand(
  lines: readonly PutBackLine[],
  {
    paths,
    env,
    since,
    clock,
  }: {
    readonly paths: Pick<ProjectPaths, 'root'>;
    readonly env: Environment;
    readonly since: number;
    readonly clock: () => number;
  },
): Promise<readonly PutBackLine[]> {
  const repo = toGitRepo(paths.root, { env });
  const written = lines.filter(({ guessed }) => guessed !== 'back');
  // In branch mode git knows nothing of the file.
  if ((await ask(repo, ['ls-files'])) === '') return written;
  const operation = findOperationInProgress(repo.git_dir);
  const isMerging =
    (operation !== undefined && operation.name !== 'bisect') ||
    (await ask(repo, ['ls-files', '--unmerged'])) !== '';
  // A clock that was put back since tells nothing of what is older.
  const isWritten =
    !isMerging &&
    ((since <= clock() && isOlderFile(join(paths.root, TASKS_PATH), since)) ||
      !(await isAsIndexed(repo, TASKS_PATH)) ||
      (await ask(repo, ['diff-index', '--cached', '--name-only', 'HEAD'])) !== '');
  const asked = isWritten ? lines.filter(isToldByCommits) : lines;
  if (asked.length === 0) return isWritten ? written : [];
  // The reflog counts in seconds.
  const at = Math.max(0, since - SECOND_MS);
  const known = `HEAD@{${toIso(at)}}`;
  const heads = existsSync(join(repo.git_dir, 'MERGE_HEAD')) ? ['HEAD', 'MERGE_HEAD'] : ['HEAD'];
  const revs = [...heads, ...(since > 0 ? await listCommittedSince(repo, at) : [])];
  const found = await findTakenBack(asked, {
    repo,
    revs,
    ...(since > 0 && { looked: { rev: known, at } }),
    is_written: isWritten,
  });
  if (isWritten) {
    const texts = new Set(found.map(({ text }) => text));
    return [...written.filter(({ text }) => !texts.has(text)), ...found];
  }
  if (found.length === lines.length || !existsSync(join(repo.common_dir, 'shallow'))) return found;
  const left = lines.filter((line) => !found.includes(line) && line.guessed === undefined);
  return [...found, ...(await findTakenBackSince(left, { repo, before: [known, 'ORIG_HEAD'] }))];
}

/** What was committed here since then: a rebase may have made one commit of several, so that they lead nowhere. */
async function listCommittedSince(repo: GitRepo, since: number): Promise<string[]> {
  const moves = await listHeadMoves(repo, MOVES);
  return moves
    .filter(({ at, action }) => at >= since && /^commit\b/.test(action))
    .map(({ commit }) => commit);
}

/** False where it is not known: some file systems do not keep when a file was made, or tell of the last change. */
function isOlderFile(path: string, since: number): boolean {
  const made = Number(statFile(path)?.birthtimeMs ?? 0);
  return made > 0 && made < since - TICK_MS;
}

async function ask(repo: GitRepo, args: readonly string[]): Promise<string> {
  const { exit, stdout } = await askGit(repo, [...args, '--', `:(top)${TASKS_PATH}`]);
  return exit === 0 ? stdout : '';
}

import { isSealed } from '#domain/record-seal.ts';
import { askGit, type GitRepo } from '#git/ask-git.ts';
import { listHeadMoves, type HeadMove } from '#git/head-moves.ts';
import { findOperationInProgress } from '#git/operation-in-progress.ts';
import { openBlobReader } from '#git/read-blob.ts';
import type { FileLine } from '#store/replication.ts';
import { statFile } from './file-changes.ts';
import { readFileLines, splitText } from './read-file-lines.ts';
import { TASKS_PATH } from './task-files.ts';
import { idOfLine } from './trace-lines.ts';

/** How many moves of HEAD are asked about. */
const MOVES = 500;
/** A commit takes the index, which may have been written without the working tree (`git apply --cached`). */
const TAKES_INDEX = /^commit( |:|\(|$)/;
/** Moves after which the working tree has what HEAD has; `git reset` and `git update-ref` may leave it as it was. */
const WRITES_TREE = /^(commit|checkout|pull|merge|rebase|clone|am|cherry-pick|revert|forge commit)( |:|\(|$)/;

/**
 * The lines of HEAD that a person edited, and edited once more in the working tree: what stands there now was written
 * upon them, and they say nothing more. Where the working tree may never have had a line, it is not one of these.
 */
export async function findReplacedInTree(
  repo: GitRepo,
  {
    commit,
    file,
    lines,
    was_in_tree,
  }: {
    readonly commit: string;
    readonly file: string;
    readonly lines: FileLine[];
    /** Known of lines that are staged and not committed. */
    readonly was_in_tree?: boolean | undefined;
  },
): Promise<ReadonlySet<string>> {
  const here = [...readFileLines(file).lines].map(({ text }) => text);
  const texts = new Set(here);
  const gone = lines.filter(({ text }) => !texts.has(text) && !isSealed(text));
  const ids = new Set(here.flatMap((text) => idOfLine(text) ?? []));
  const asked = gone.filter(({ text }) => ids.has(idOfLine(text) ?? '')).map(({ text }) => text);
  if (asked.length === 0 || !(await isPlainInTree(repo))) return new Set();
  if (was_in_tree === true) return new Set(asked);
  const before = await readBeforeTree(repo, commit, file);
  return new Set(before === undefined ? [] : asked.filter((text) => !before.has(text)));
}

/** Neither in the middle of a merge or the like, nor left out of the working tree. */
async function isPlainInTree(repo: GitRepo): Promise<boolean> {
  const operation = findOperationInProgress(repo.git_dir);
  if (operation !== undefined && operation.name !== 'bisect') return false;
  const { stdout } = await askGit(repo, ['ls-files', '-v', '--', `:(top)${TASKS_PATH}`]);
  return stdout.startsWith('H ');
}

/** The lines that HEAD had when it was last moved without the working tree; undefined where that is not known. */
async function readBeforeTree(
  repo: GitRepo,
  commit: string,
  file: string,
): Promise<ReadonlySet<string> | undefined> {
  const moves = await listHeadMoves(repo, MOVES);
  if (moves[0]?.commit !== commit) return undefined;
  const stats = statFile(file);
  const written = Math.max(Number(stats?.mtimeMs ?? 0), Number(stats?.ctimeMs ?? 0));
  const isLeft = ({ action, at }: HeadMove): boolean =>
    // What is gone from a file that is as it was before the commit had never been there.
    !WRITES_TREE.test(action) || (TAKES_INDEX.test(action) && written < at);
  const left = moves.find(isLeft) ?? (moves.length < MOVES ? undefined : moves.at(-1));
  if (left === undefined) return new Set();
  await using reader = openBlobReader(repo);
  const bytes = await reader.read(left.commit, TASKS_PATH);
  return new Set([...splitText(bytes?.toString('utf8') ?? '')].map(({ text }) => text));
}

import type { GitRepo } from '#git/ask-git.ts';
import { findMergeBase } from '#git/exchange-branch.ts';
import { readBlob } from '#git/read-blob.ts';
import { mergeUnreadable } from '#domain/unreadable-lines.ts';
import type { Replication } from '#store/replication.ts';
import { splitText } from './read-file-lines.ts';
import { HISTORY_PATH, TASKS_PATH } from './task-files.ts';

/** The lines of the two files of a data branch that cannot be read. */
export interface BranchUnreadable {
  readonly tasks: readonly string[];
  readonly history: readonly string[];
}

/** What each side showed last is remembered apart: one is not an older state of the other. */
export type BranchSide = 'ours' | 'theirs';

/** Under which the store remembers a file of the data branch. */
export function toBranchKey(path: string, side: BranchSide): string {
  return side === 'ours' ? `git:${path}` : `git:theirs:${path}`;
}

/** Of the commit of a side that was joined in last: the store remembers them of one. */
export async function readBranchUnreadable(
  store: Replication,
  side: BranchSide = 'ours',
): Promise<BranchUnreadable> {
  const read = async (path: string): Promise<string[]> =>
    (await store.readUnreadable(toBranchKey(path, side))).map((line) => Buffer.from(line).toString('utf8'));
  return { tasks: await read(TASKS_PATH), history: await read(HISTORY_PATH) };
}

/** What the branch shall have of both sides. `sides` has what could not be read of each commit. */
export async function mergeBranchUnreadable(
  repo: GitRepo,
  { theirs, ours }: { readonly theirs: string | undefined; readonly ours: string | undefined },
  sides: ReadonlyMap<string | undefined, BranchUnreadable>,
): Promise<BranchUnreadable> {
  const there = sides.get(theirs) ?? NOTHING;
  const here = sides.get(ours) ?? NOTHING;
  if ([there, here].every(hasNothing)) return NOTHING;
  const root = await findMergeBase(repo, ours, theirs);
  const base = sides.get(root) ?? (await readLines(repo, root));
  return {
    tasks: mergeUnreadable(base.tasks, here.tasks, there.tasks),
    history: mergeUnreadable(base.history, here.history, there.history),
  };
}

const NOTHING: BranchUnreadable = { tasks: [], history: [] };

export function hasNothing({ tasks, history }: BranchUnreadable): boolean {
  return tasks.length === 0 && history.length === 0;
}

/** All lines of a commit: which of them can be read does not matter here. */
async function readLines(repo: GitRepo, rev: string | undefined): Promise<BranchUnreadable> {
  const read = async (path: string): Promise<string[]> => {
    const blob = rev === undefined ? undefined : await readBlob(repo, rev, path);
    return [...splitText(blob?.toString('utf8') ?? '')].map(({ text }) => text);
  };
  return { tasks: await read(TASKS_PATH), history: await read(HISTORY_PATH) };
}

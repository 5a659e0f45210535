import { getFromGit } from './ask-git.ts';
import { hasConflictLines } from './conflict-lines.ts';
import type { ControlGit } from './control-directory.ts';
import { listChanges } from './list-changes.ts';
import { findMergeBase } from './merge-base.ts';
import { mergeCommits } from './merge-commits.ts';
import { openBlobReader } from './read-blob.ts';
import { isAncestor } from './read-commit.ts';

export interface LeftMarkersRequest {
  /** Where the attempt began, what it is now, and where its target branch is. */
  readonly base: string;
  readonly commit: string;
  readonly target: string;
  /** The attempt as it was when its merge into the target was in conflict, and in which files. */
  readonly conflict?: { readonly head: string; readonly paths: readonly string[] } | undefined;
}

/**
 * The files of an attempt in which lines of a conflict still stand. Judged is every merge that was in conflict, by what
 * git writes for it: those that the attempt has as commits, and the one that Forge put into its files, which the agent
 * may have committed as something else.
 */
export async function listLeftMarkers(
  control: ControlGit,
  request: LeftMarkersRequest,
): Promise<readonly string[]> {
  const merges = [...(await listMerges(control, request)), ...(await toBegunMerge(control, request))];
  const marked = new Set<string>();
  for (const merge of merges)
    for (const path of await judgeMerge(control, merge, request.commit)) marked.add(path);
  return [...marked];
}

interface ConflictedMerge {
  readonly ours: string;
  readonly theirs: string;
  /** Known to have been in conflict, besides the files that git finds in conflict now. */
  readonly paths: readonly string[];
}

/** The merges of two commits that the attempt made and its target does not have. */
async function listMerges(
  control: ControlGit,
  { base, commit, target }: LeftMarkersRequest,
): Promise<readonly ConflictedMerge[]> {
  const merges = ['rev-list', '--parents', '--min-parents=2', '--max-parents=2'];
  const text = await getFromGit(control, [...merges, commit, `^${base}`, `^${target}`, '--']);
  const lines = text.split('\n').filter((line) => line !== '');
  return lines.map((line) => {
    const [, ours = '', theirs = ''] = line.split(' ');
    return { ours, theirs, paths: [] };
  });
}

/** With the commit of the target that was merged into the attempt, where one was: the branch may have moved on since. */
async function toBegunMerge(
  control: ControlGit,
  { commit, target, conflict }: LeftMarkersRequest,
): Promise<readonly ConflictedMerge[]> {
  if (conflict === undefined) return [];
  const shared = await findMergeBase(control, commit, target);
  const isMerged = shared !== undefined && !(await isAncestor(control, shared, conflict.head));
  return [{ ours: conflict.head, theirs: isMerged ? shared : target, paths: conflict.paths }];
}

async function judgeMerge(
  control: ControlGit,
  { ours, theirs, paths }: ConflictedMerge,
  commit: string,
): Promise<readonly string[]> {
  const base = await findMergeBase(control, ours, theirs);
  // Histories that have nothing in common: git merges them only when it is told to, and then file by file.
  if (base === undefined) return [];
  // Without attributes, as the merge is put into an agent's files.
  const merged = await mergeCommits(control, { ours, theirs }, undefined);
  const found = merged.kind === 'conflict' ? merged.files.map(({ path }) => path) : [];
  const conflicted = new Set([...paths, ...found]);
  if (conflicted.size === 0) return [];
  await using reader = openBlobReader(control);
  const read = async (rev: string, path: string): Promise<string | undefined> =>
    (await reader.read(rev, path))?.toString('latin1');
  const marked: string[] = [];
  for (const path of conflicted) {
    const text = await read(commit, path);
    if (text === undefined) continue;
    const written = await read(merged.tree, path);
    const sides = {
      base: (await read(base, path)) ?? '',
      ours: (await read(ours, path)) ?? '',
      theirs: (await read(theirs, path)) ?? '',
      written: written === undefined ? undefined : { text: written, label: ours },
    };
    if (hasConflictLines(text, sides)) marked.push(path);
  }
  // A file in conflict may have been moved. In other files only the names of the two commits prove anything.
  const named = new RegExp(`^(?:<+ ${ours}|>+ ${theirs})`, 'm');
  for (const { path, insertions } of await listChanges(control, { base: theirs, head: commit })) {
    if (conflicted.has(path) || (insertions ?? 0) === 0) continue;
    if (named.test((await read(commit, path)) ?? '')) marked.push(path);
  }
  return marked;
}

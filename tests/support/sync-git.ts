import { listMergeChanges, type MergedLines } from '#domain/merge-changes.ts';
import { idOfLine } from '#sync/trace-lines.ts';
import { mergeLineByLine } from './sync-text-merge.ts';

/** What a commit holds of the task files; undefined where the file is not in it. */
export interface Tree {
  readonly tasks: string | undefined;
  readonly history: string | undefined;
}

export interface Commit {
  /** In the order of making: a commit is newer than its parents. */
  readonly number: number;
  readonly parents: readonly Commit[];
  readonly tree: Tree;
}

export const EMPTY_TREE: Tree = { tasks: undefined, history: undefined };

export function isSameTree(a: Tree, b: Tree): boolean {
  return a.tasks === b.tasks && a.history === b.history;
}

/** The commit and all before it. */
export function listAncestors(commit: Commit): Set<Commit> {
  const found = new Set([commit]);
  for (const one of found) for (const parent of one.parents) found.add(parent);
  return found;
}

export function isAncestor(old: Commit, young: Commit): boolean {
  return listAncestors(young).has(old);
}

/** The changes of the task file since `known`, newest first; of merges only what a person said by them. */
export function logChanges(
  head: Commit,
  known: Commit | undefined,
): { readonly commit: Commit; readonly changes: readonly string[] }[] {
  const before = known === undefined ? new Set() : listAncestors(known);
  const commits = [...listAncestors(head)]
    .filter((commit) => !before.has(commit))
    .sort((a, b) => b.number - a.number);
  const log = commits.map((commit) => {
    const [parent, ...others] = commit.parents;
    if (parent !== undefined && others.length > 0)
      return { commit, changes: listMergeChanges(toMergedLines(commit), idOfLine) };
    const [was, is] = [toLines(parent), toLines(commit)];
    const gone = [...was].filter((line) => !is.has(line)).map((line) => `-${line}`);
    const added = [...is].filter((line) => !was.has(line)).map((line) => `+${line}`);
    return { commit, changes: [...gone, ...added] };
  });
  return log.filter(({ changes }) => changes.length > 0).slice(0, 10);
}

export function toMergedLines({ tree, parents }: Pick<Commit, 'tree' | 'parents'>): MergedLines {
  const [first, second] = parents;
  const bases = first === undefined || second === undefined ? [] : findMergeBases(first, second);
  return { result: toLines({ tree }), parents: parents.map(toLines), bases: bases.map(toLines) };
}

function toLines(commit: Pick<Commit, 'tree'> | undefined): Set<string> {
  return new Set((commit?.tree.tasks ?? '').split('\n'));
}

/** The newest common ancestors: several after merges in both directions. */
export function findMergeBases(a: Commit, b: Commit): Commit[] {
  const ofA = listAncestors(a);
  const common = [...listAncestors(b)].filter((commit) => ofA.has(commit));
  const older = new Set(common.flatMap((commit) => commit.parents.flatMap((one) => [...listAncestors(one)])));
  return common.filter((commit) => !older.has(commit)).sort((x, y) => x.number - y.number);
}

/** One merge of one file, by the driver or line by line. */
export type MergeFile = (
  name: keyof Tree,
  base: string,
  ours: string,
  theirs: string,
) => { readonly text: string; readonly conflict: boolean };

export interface MergedTree {
  readonly tree: Tree;
  readonly conflict: boolean;
}

/** What git does before it asks a driver: a file that only one side changed is taken from there. */
export function mergeTrees(base: Tree, ours: Tree, theirs: Tree, mergeFile: MergeFile): MergedTree {
  let conflict = false;
  const merge = (name: keyof Tree): string | undefined => {
    if (ours[name] === theirs[name] || base[name] === theirs[name]) return ours[name];
    if (base[name] === ours[name]) return theirs[name];
    // A file that one side removed and the other changed stays in the working tree, for a person to decide.
    if (ours[name] === undefined || theirs[name] === undefined) return ours[name] ?? theirs[name];
    const merged = mergeFile(name, base[name] ?? '', ours[name], theirs[name]);
    conflict ||= merged.conflict;
    return merged.text;
  };
  const tree = { tasks: merge('tasks'), history: merge('history') };
  return { tree, conflict };
}

/** With several merge bases git merges those first, and takes what comes out as the base. */
export function mergeCommits(ours: Commit, theirs: Commit, mergeFile: MergeFile): MergedTree {
  const [first, ...more] = findMergeBases(ours, theirs);
  const base = more.reduce<Commit | undefined>((one, other) => {
    if (one === undefined) return other;
    const { tree } = mergeCommits(one, other, mergeFile);
    return { number: -1, parents: [one, other], tree };
  }, first);
  return mergeTrees(base?.tree ?? EMPTY_TREE, ours.tree, theirs.tree, mergeFile);
}

export const mergeAsText: MergeFile = (_name, base, ours, theirs) => mergeLineByLine(base, ours, theirs);

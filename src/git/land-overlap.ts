import { join } from 'node:path';
import { getFromGit, type GitRepo } from './ask-git.ts';
import { look } from './guard-place.ts';

/** Paths that a landing changes, and which of them it brings anew. */
export interface LandedChanges {
  readonly all: ReadonlySet<string>;
  readonly added: readonly string[];
  readonly removed: ReadonlySet<string>;
}

export async function readLandedChanges(repo: GitRepo, old: string, commit: string): Promise<LandedChanges> {
  const args = ['diff-tree', '-r', '-z', '--name-status', '--no-renames', old, commit];
  const fields = (await getFromGit(repo, args)).split('\0');
  const changes = { all: new Set<string>(), added: [] as string[], removed: new Set<string>() };
  for (let at = 0; at + 1 < fields.length; at += 2) {
    const path = fields[at + 1] ?? '';
    changes.all.add(path);
    if (fields[at] === 'A') changes.added.push(path);
    if (fields[at] === 'D') changes.removed.add(path);
  }
  return changes;
}

export type Standing =
  /** Nothing of the user's, beside new files that are not in the way. */
  | { readonly kind: 'clean' }
  /** Something of the user's, at other paths. */
  | { readonly kind: 'apart' }
  /** The files are those of the new commit already: a landing that was cut short. */
  | { readonly kind: 'there' }
  | { readonly kind: 'overlap'; readonly files: readonly string[] };

/** How a checkout of the branch stands to what is to land. Reads only: not even the index is refreshed. */
export async function judgeCheckout(
  place: GitRepo,
  changes: LandedChanges,
  commit: string,
): Promise<Standing> {
  const dirty = await listDirty(place);
  const inTheWay = changes.added.filter((path) => isInTheWay(place.worktree, path, changes));
  const touched = dirty.filter((path) => changes.all.has(path));
  const files = [...new Set([...touched, ...inTheWay])].sort();
  if (files.length === 0) return { kind: dirty.length === 0 ? 'clean' : 'apart' };
  return (await isThere(place, changes, commit)) ? { kind: 'there' } : { kind: 'overlap', files };
}

/** Tracked files that differ from HEAD, staged or not. */
async function listDirty(place: GitRepo): Promise<readonly string[]> {
  const args = ['status', '--porcelain', '-z', '--untracked-files=no', '--no-renames'];
  const text = await getFromGit(place, [...args, '--ignore-submodules=dirty']);
  return text.split('\0').flatMap((line) => (line === '' ? [] : line.slice(3)));
}

/** Something of the user's at the path of a new file, or a file where its folder would be. */
function isInTheWay(worktree: string, path: string, changes: LandedChanges): boolean {
  const parts = path.split('/');
  for (let end = 1; end < parts.length; end += 1) {
    const above = parts.slice(0, end).join('/');
    const stats = look(join(worktree, above));
    if (stats === undefined) return false;
    if (!stats.isDirectory()) return !changes.removed.has(above);
  }
  const stats = look(join(worktree, path));
  if (stats === undefined) return false;
  // A folder whose tracked files all go makes room by itself; git refuses where anything else is in it.
  return !(stats.isDirectory() && [...changes.removed].some((gone) => gone.startsWith(`${path}/`)));
}

async function isThere(place: GitRepo, changes: LandedChanges, commit: string): Promise<boolean> {
  const staged = await getFromGit(place, [
    'diff-index',
    '--cached',
    '-z',
    '--name-only',
    '--no-renames',
    commit,
  ]);
  if (staged.split('\0').some((path) => changes.all.has(path))) return false;
  const changed = await getFromGit(place, ['ls-files', '-z', '--modified', '--deleted']);
  return !changed.split('\0').some((path) => changes.all.has(path));
}

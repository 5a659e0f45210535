import { readdirSync } from 'node:fs';
import type { GitRepo } from './ask-git.ts';
import { listFromGit, lookAt, toFile } from './landing-path.ts';
import { toShownPath } from './shown-path.ts';
import type { PathChange } from './stage-landing.ts';

/** Paths that a landing changes, one character a byte, and which of them it brings anew. */
export interface LandedChanges {
  readonly all: ReadonlySet<string>;
  readonly added: readonly string[];
  readonly removed: ReadonlySet<string>;
}

export function toLandedChanges(changes: readonly PathChange[]): LandedChanges {
  return {
    all: new Set(changes.map(({ path }) => path)),
    added: changes.flatMap(({ path, from }) => (from === undefined ? [path] : [])),
    removed: new Set(changes.flatMap(({ path, to }) => (to === undefined ? [path] : []))),
  };
}

/**
 * Files of the user's that are in the way of what is to land, by the name to show. Reads only: not even the index is refreshed.
 * One in the middle of a merge is in the way wherever it is.
 */
export async function listOverlap(place: GitRepo, changes: LandedChanges): Promise<readonly string[]> {
  const dirty = await listDirty(place);
  const touched = dirty.filter(({ path, state }) => changes.all.has(path) || UNMERGED.has(state));
  const inTheWay = changes.added.filter((path) => isInTheWay(place.worktree, path, changes));
  return [...new Set([...touched.map(({ path }) => path), ...inTheWay])].map(toShownPath).sort();
}

const UNMERGED: ReadonlySet<string> = new Set(['DD', 'AU', 'UD', 'UA', 'DU', 'AA', 'UU']);

/** Tracked files that differ from HEAD, staged or not. */
async function listDirty(
  place: GitRepo,
): Promise<readonly { readonly path: string; readonly state: string }[]> {
  const args = ['status', '--porcelain', '-z', '--untracked-files=no', '--no-renames'];
  const lines = await listFromGit(place, [...args, '--ignore-submodules=dirty']);
  return lines.flatMap((line) => (line === '' ? [] : { path: line.slice(3), state: line.slice(0, 2) }));
}

/** Something of the user's at the path of a new file, or a file where its folder would be. */
function isInTheWay(worktree: string, path: string, changes: LandedChanges): boolean {
  const parts = path.split('/');
  for (let end = 1; end < parts.length; end += 1) {
    const above = parts.slice(0, end).join('/');
    const stats = lookAt(toFile(worktree, above));
    if (stats === undefined) return false;
    if (!stats.isDirectory()) return !changes.removed.has(above);
  }
  const stats = lookAt(toFile(worktree, path));
  if (stats === undefined) return false;
  // A folder makes room by itself where all that is in it goes.
  return !stats.isDirectory() || hasOthers(worktree, path, changes);
}

/** Something in the folder that the landing does not remove, ignored or not. */
function hasOthers(worktree: string, folder: string, changes: LandedChanges): boolean {
  return readdirSync(toFile(worktree, folder), { withFileTypes: true, encoding: 'latin1' }).some((entry) => {
    const path = `${folder}/${entry.name}`;
    return entry.isDirectory() ? hasOthers(worktree, path, changes) : !changes.removed.has(path);
  });
}

import {
  type BigIntStats,
  constants,
  copyFileSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readlinkSync,
  renameSync,
  rmdirSync,
  rmSync,
  symlinkSync,
  unlinkSync,
} from 'node:fs';
import { dirname, join } from 'node:path';

/** Files that are ready in a folder, and what a working tree loses and gets by them. */
export interface FileMoves {
  readonly worktree: string;
  /** Where the new files are, each at its path. */
  readonly staged: string;
  /** Files to put there. */
  readonly written: readonly string[];
  readonly removed: readonly string[];
  /** Submodules that are new: an empty folder, as git makes it. */
  readonly folders: readonly string[];
}

/** How files looked before git said that they are as committed. */
export type Snapshot = ReadonlyMap<string, BigIntStats | undefined>;

export function takeSnapshot(worktree: string, paths: Iterable<string>): Snapshot {
  return new Map([...paths].map((path) => [path, lookInside(worktree, path)]));
}

/** Undefined where there is nothing, or where a folder on the way is a link or a file: what is behind is not ours. */
export function lookInside(worktree: string, path: string): BigIntStats | undefined {
  let place = worktree;
  const parts = path.split('/');
  for (const [at, part] of parts.entries()) {
    place = `${place}/${part}`;
    const stats = lookExactly(place);
    if (stats === undefined || at === parts.length - 1) return stats;
    if (!stats.isDirectory()) return undefined;
  }
  return undefined;
}

function lookExactly(path: string): BigIntStats | undefined {
  try {
    return lstatSync(path, { throwIfNoEntry: false, bigint: true });
  } catch {
    return undefined;
  }
}

/** Nobody has touched what will be moved, and nothing has come in the way. Reads only. */
export function isUntouched(moves: FileMoves, before: Snapshot): boolean {
  const removed = new Set(moves.removed);
  for (const [path, was] of before)
    if (!isSameFile(was, lookInside(moves.worktree, path), was?.isDirectory())) return false;
  return moves.written.every((path) => hasRoom(moves.worktree, path, removed));
}

function isSameFile(a: BigIntStats | undefined, b: BigIntStats | undefined, isFolder = false): boolean {
  if (a === undefined || b === undefined) return a === b;
  if (isFolder) return b.isDirectory();
  return (
    a.ino === b.ino &&
    a.size === b.size &&
    a.mtimeNs === b.mtimeNs &&
    a.ctimeNs === b.ctimeNs &&
    a.mode === b.mode
  );
}

/** Its folders are folders, or files that go; a folder at its place holds nothing but files that go. */
export function hasRoom(worktree: string, path: string, removed: ReadonlySet<string>): boolean {
  const parts = path.split('/');
  for (let end = 1; end < parts.length; end += 1) {
    const above = parts.slice(0, end).join('/');
    const stats = lookExactly(join(worktree, above));
    if (stats === undefined) return true;
    if (!stats.isDirectory()) return removed.has(above);
  }
  const stats = lookExactly(join(worktree, path));
  return stats?.isDirectory() !== true || holdsOnly(worktree, path, removed);
}

function holdsOnly(worktree: string, folder: string, removed: ReadonlySet<string>): boolean {
  return readdirSync(join(worktree, folder), { withFileTypes: true }).every((entry) => {
    const path = `${folder}/${entry.name}`;
    return entry.isDirectory() ? holdsOnly(worktree, path, removed) : removed.has(path);
  });
}

/** Each file whole or not at all where both folders are on one file system. `moved` is told after each. */
export function moveFiles(moves: FileMoves, moved: () => void = () => undefined): void {
  const { worktree, staged } = moves;
  for (const path of moves.removed) {
    if (lookInside(worktree, path)?.isDirectory() === false) unlinkSync(join(worktree, path));
    moved();
  }
  for (const path of moves.removed) removeEmptyFolders(worktree, path);
  for (const path of moves.written) {
    const target = join(worktree, path);
    mkdirSync(dirname(target), { recursive: true });
    // Empty by now, or nothing was moved at all.
    if (lookExactly(target)?.isDirectory() === true) removeHollow(target);
    moveFile(join(staged, path), target);
    moved();
  }
  for (const path of moves.folders) mkdirSync(join(worktree, path), { recursive: true });
}

/** As git does: a folder that loses its last file goes too. */
function removeEmptyFolders(worktree: string, path: string): void {
  const parts = path.split('/');
  for (let end = parts.length - 1; end > 0; end -= 1) {
    try {
      rmdirSync(join(worktree, ...parts.slice(0, end)));
    } catch {
      return;
    }
  }
}

/** A folder with nothing but empty folders in it. */
function removeHollow(folder: string): void {
  for (const name of readdirSync(folder)) removeHollow(join(folder, name));
  rmdirSync(folder);
}

function moveFile(from: string, to: string): void {
  try {
    renameSync(from, to);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EXDEV') throw error;
    rmSync(to, { force: true });
    if (lstatSync(from).isSymbolicLink()) symlinkSync(readlinkSync(from), to);
    else copyFileSync(from, to, constants.COPYFILE_EXCL);
  }
}

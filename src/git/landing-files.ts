import { type BigIntStats, mkdirSync, readdirSync, rmdirSync } from 'node:fs';
import { type Backup, createFile, giveBack, isInTheWay, moveAside } from './landing-moves.ts';
import { isSameSave, lookAt, lookInside, makeParent, toFile } from './landing-path.ts';

/** Files that are ready in a folder, and what a working tree loses and gets by them. */
export interface FileMoves {
  readonly worktree: string;
  /** Where the new files are, each at its path. */
  readonly staged: string;
  /** Where the files that they replace are kept until the landing is over. */
  readonly backups: string;
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

/** Nobody has touched what will be moved, and nothing has come in the way. Reads only. */
export function isUntouched(moves: FileMoves, before: Snapshot): boolean {
  const removed = new Set(moves.removed);
  for (const [path, was] of before) if (!isSameFile(was, lookInside(moves.worktree, path))) return false;
  return moves.written.every((path) => hasRoom(moves.worktree, path, removed));
}

function isSameFile(a: BigIntStats | undefined, b: BigIntStats | undefined): boolean {
  if (a === undefined || b === undefined) return a === b;
  if (a.isDirectory()) return b.isDirectory();
  return isSameSave(a, b) && a.ctimeNs === b.ctimeNs;
}

/** Its folders are folders, or files that go; a folder at its place holds nothing but files that go. */
export function hasRoom(worktree: string, path: string, removed: ReadonlySet<string>): boolean {
  const parts = path.split('/');
  for (let end = 1; end < parts.length; end += 1) {
    const above = parts.slice(0, end).join('/');
    const stats = lookAt(toFile(worktree, above));
    if (stats === undefined) return true;
    if (!stats.isDirectory()) return removed.has(above);
  }
  const stats = lookAt(toFile(worktree, path));
  return stats?.isDirectory() !== true || holdsOnly(worktree, path, removed);
}

function holdsOnly(worktree: string, folder: string, removed: ReadonlySet<string>): boolean {
  const entries = readdirSync(toFile(worktree, folder), { withFileTypes: true, encoding: 'latin1' });
  return entries.every((entry) => {
    const path = `${folder}/${entry.name}`;
    return entry.isDirectory() ? holdsOnly(worktree, path, removed) : removed.has(path);
  });
}

export interface Moved {
  /** What was put into the working tree, as it is there. */
  readonly placed: ReadonlyMap<string, BigIntStats>;
  /** What was there before. */
  readonly backups: readonly Backup[];
  /** Where the user has saved or made something meanwhile: that is there, whole. */
  readonly foreign: readonly string[];
}

interface MoveOptions {
  /** Ends at the first path of the user's, or leaves it out. */
  readonly at_foreign: 'stop' | 'skip';
  /** Told after each file, and between the two steps of each. */
  readonly on_moved?: (step: 'aside' | 'file') => void;
}

/**
 * Moves files into a working tree in which the user may save at any moment. Nothing is replaced: the file that is
 * there is moved aside, looked at once more, and the new one is put into the place only if that is empty. So a save
 * that comes between two steps is either what was moved aside, or in the place.
 */
export function moveFiles(moves: FileMoves, before: Snapshot, options: MoveOptions): Moved {
  const { worktree } = moves;
  const { on_moved = () => undefined } = options;
  const moved = { placed: new Map<string, BigIntStats>(), backups: [] as Backup[], foreign: [] as string[] };
  mkdirSync(moves.backups, { recursive: true, mode: 0o700 });
  const each = (paths: readonly string[], act: (path: string) => boolean): void => {
    for (const path of paths) {
      if (moved.foreign.length > 0 && options.at_foreign === 'stop') return;
      if (!withRoom(() => act(path))) moved.foreign.push(path);
      on_moved('file');
    }
  };
  const putAside = (path: string): boolean => {
    const backup = moveOwnAside(moves, path, before.get(path));
    if (backup === 'foreign') return false;
    if (backup !== 'nothing') moved.backups.push(backup);
    return true;
  };
  each(moves.removed, putAside);
  for (const path of moves.removed) removeEmptyFolders(worktree, path);
  each(moves.written, (path) => {
    if (!putAside(path)) return false;
    on_moved('aside');
    const stats = putThere(moves, path);
    if (stats !== undefined) moved.placed.set(path, stats);
    return true;
  });
  each(moves.folders, (path) => {
    mkdirSync(toFile(worktree, path), { recursive: true });
    return true;
  });
  return moved;
}

/** False where a file or folder that has come meanwhile does not let it through. */
function withRoom(act: () => boolean): boolean {
  try {
    return act();
  } catch (error) {
    if (!isInTheWay(error)) throw error;
    return false;
  }
}

function moveOwnAside(
  moves: FileMoves,
  path: string,
  was: BigIntStats | undefined,
): Backup | 'nothing' | 'foreign' {
  const now = lookInside(moves.worktree, path);
  if (was === undefined || was.isDirectory())
    return now === undefined || now.isDirectory() ? 'nothing' : 'foreign';
  if (!isSameFile(was, now)) return 'foreign';
  const spot = { ...moves, path };
  const backup = moveAside(spot);
  if (isSameSave(was, backup.stats)) return backup;
  giveBack(backup.file, spot);
  return 'foreign';
}

const NOTHING: ReadonlySet<string> = new Set();

/** The file as it is there; undefined where the user has changed it already. */
function putThere({ worktree, staged }: FileMoves, path: string): BigIntStats | undefined {
  // What the folder or file is behind a link is not ours to fill.
  if (!hasRoom(worktree, path, NOTHING)) throw Object.assign(new Error('in the way'), { code: 'EEXIST' });
  const target = toFile(worktree, path);
  const isNewFolder = makeParent(worktree, path);
  try {
    if (lookAt(target)?.isDirectory() === true) removeHollow(target);
    return createFile(toFile(staged, path), { worktree, path });
  } catch (error) {
    if (isNewFolder) removeEmptyFolders(worktree, path);
    throw error;
  }
}

/** As git does: a folder that loses its last file goes too. */
function removeEmptyFolders(worktree: string, path: string): void {
  const parts = path.split('/');
  for (let end = parts.length - 1; end > 0; end -= 1) {
    try {
      rmdirSync(toFile(worktree, parts.slice(0, end).join('/')));
    } catch {
      return;
    }
  }
}

/** A folder with nothing but empty folders in it. */
function removeHollow(folder: Buffer): void {
  for (const name of readdirSync(folder, 'latin1'))
    removeHollow(Buffer.concat([folder, Buffer.from(`/${name}`, 'latin1')]));
  rmdirSync(folder);
}

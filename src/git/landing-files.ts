import { type BigIntStats, mkdirSync, readdirSync, rmdirSync } from 'node:fs';
import { isPlacedAs, returnSaved } from './landing-backups.ts';
import {
  type Backup,
  giveBack,
  isInTheWay,
  moveAside,
  prepareAside,
  prepareFile,
  toBackup,
} from './landing-moves.ts';
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
 * there is moved aside, the new one is put into the place only if that is empty, and what was moved aside is looked at
 * once more. So a save that comes between two steps is either what was moved aside, or in the place.
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
  each(moves.removed, (path) => {
    const was = before.get(path);
    if (!isAsBefore(moves, path, was)) return false;
    if (isNothing(was)) return true;
    const spot = { ...moves, path };
    const backup = moveAside(spot);
    moved.backups.push(backup);
    if (was === undefined || isSameSave(was, backup.stats)) return true;
    giveBack(backup.file, spot);
    return false;
  });
  for (const path of moves.removed) removeEmptyFolders(worktree, path);
  each(moves.written, (path) => {
    const was = before.get(path);
    if (!isAsBefore(moves, path, was)) return false;
    const { backup, placed } = exchange(moves, path, { was, on_aside: () => on_moved('aside') });
    if (backup !== undefined) moved.backups.push(backup);
    if (placed !== 'foreign' && placed !== undefined) moved.placed.set(path, placed);
    return placed !== 'foreign';
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

function isAsBefore({ worktree }: FileMoves, path: string, was: BigIntStats | undefined): boolean {
  const now = lookInside(worktree, path);
  return isNothing(was) ? isNothing(now) : isSameFile(was, now);
}

/** What is no file is not moved; whether a folder gives way is another question. */
function isNothing(stats: BigIntStats | undefined): boolean {
  return stats === undefined || stats.isDirectory();
}

const NOTHING: ReadonlySet<string> = new Set();

interface Exchanged {
  readonly backup: Backup | undefined;
  /** The file as it is there; undefined where the user has changed it already. */
  readonly placed: BigIntStats | undefined | 'foreign';
}

function exchange(
  moves: FileMoves,
  path: string,
  { was, on_aside }: { readonly was: BigIntStats | undefined; readonly on_aside: () => void },
): Exchanged {
  const { worktree } = moves;
  const spot = { ...moves, path };
  // What is behind a link is not ours to fill.
  if (!hasRoom(worktree, path, NOTHING)) return { backup: undefined, placed: 'foreign' };
  const isNewFolder = makeParent(worktree, path);
  let aside: Buffer | undefined;
  try {
    const target = toFile(worktree, path);
    if (lookAt(target)?.isDirectory() === true) removeHollow(target);
    const moveOut = isNothing(was) ? undefined : prepareAside(spot);
    using file = prepareFile(toFile(moves.staged, path), spot);
    aside = moveOut?.();
    on_aside();
    file.put();
    const placed = file.finish();
    const backup = aside && toBackup(path, aside);
    if (backup === undefined || was === undefined || isSameSave(was, backup.stats)) return { backup, placed };
    // It was saved between the look and the move: the user's comes before ours.
    returnSaved(spot, [backup], (_, one) => isPlacedAs(placed, one));
    return { backup: undefined, placed: 'foreign' };
  } catch (error) {
    if (isNewFolder) removeEmptyFolders(worktree, path);
    if (!isInTheWay(error)) throw error;
    return { backup: aside && toBackup(path, aside), placed: 'foreign' };
  }
}

/** As git does: a folder that loses its last file goes too. */
export function removeEmptyFolders(worktree: string, path: string): void {
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

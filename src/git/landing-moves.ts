import { createHash } from 'node:crypto';
import {
  type BigIntStats,
  closeSync,
  constants,
  copyFileSync,
  linkSync,
  mkdirSync,
  openSync,
  readdirSync,
  readlinkSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { isSameSave, lookAt, lookInside, makeParent, toBytes, toFile } from './landing-path.ts';

/** A path of a working tree, and the folder for the files that a landing moves aside there. */
export interface Spot {
  readonly worktree: string;
  readonly backups: string;
  readonly path: string;
}

/** A file that was moved aside, as it was right after that. */
export interface Backup {
  readonly path: string;
  readonly file: Buffer;
  readonly stats: BigIntStats;
}

/** What the file system says where something that has come meanwhile does not let a move through. */
export function isInTheWay(error: unknown): boolean {
  const { code = '' } = error as NodeJS.ErrnoException; // what fs throws
  return ['EEXIST', 'ENOENT', 'ENOTDIR', 'EISDIR', 'ENOTEMPTY', 'ELOOP'].includes(code);
}

/**
 * Puts a file into a place that is empty, in one step, and takes it from where it was; throws EEXIST where something is
 * there. Gives the file as it is there; undefined where the user has changed it already.
 */
export function createFile(source: Buffer, spot: Omit<Spot, 'backups'>): BigIntStats | undefined {
  using file = prepareFile(source, spot);
  file.put();
  return file.finish();
}

/** The same in steps, because what is done while a place is empty has to be short: a reader finds no file then. */
export interface PreparedFile extends Disposable {
  put(): void;
  finish(): BigIntStats | undefined;
}

export function prepareFile(source: Buffer, spot: Omit<Spot, 'backups'>): PreparedFile {
  const target = toFile(spot.worktree, spot.path);
  const stats = lookAt(source);
  const leads = stats?.isSymbolicLink() === true ? readlinkSync(source, 'buffer') : undefined;
  const copy = toCopy(spot);
  let copied = isOnOther(stats, spot) && leads === undefined ? copyTo(copy, source) : undefined;
  const isOurs = (now: BigIntStats): boolean => {
    if (leads !== undefined) return now.isSymbolicLink() && readlinkSync(target, 'buffer').equals(leads);
    const made = copied ?? stats;
    return made !== undefined && isSameSave(made, now);
  };
  return {
    put() {
      if (leads !== undefined) return symlinkSync(leads, target);
      try {
        linkOnce(copied === undefined ? source : copy, target);
      } catch (error) {
        if (!isElsewhere(error) || copied !== undefined) throw error;
        copied = copyTo(copy, source);
        linkOnce(copy, target);
      }
    },
    finish() {
      rmSync(source, { force: true });
      if (copied !== undefined) rmSync(copy, { force: true });
      const now = lookInside(spot.worktree, spot.path);
      return now !== undefined && isOurs(now) ? now : undefined;
    },
    [Symbol.dispose]() {
      if (copied !== undefined) rmSync(copy, { force: true });
    },
  };
}

/** A link cannot lead from one file system to another. Mounts of the same one are only seen by trying. */
function isOnOther(stats: BigIntStats | undefined, { worktree, path }: Omit<Spot, 'backups'>): boolean {
  const parent = lookAt(toFile(worktree, path.slice(0, path.lastIndexOf('/') + 1)));
  return stats !== undefined && parent !== undefined && parent.dev !== stats.dev;
}

function copyTo(copy: Buffer, source: Buffer): BigIntStats | undefined {
  rmSync(copy, { force: true });
  copyFileSync(source, copy, constants.COPYFILE_EXCL);
  return lookAt(copy);
}

function linkOnce(source: Buffer, target: Buffer): void {
  try {
    linkSync(source, target);
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException; // what fs throws
    if (!['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EMLINK'].includes(code)) throw error;
    // A file system without hard links, or a file of another user: the name is taken first.
    closeSync(openSync(target, 'wx'));
    renameSync(source, target);
  }
}

function isElsewhere(error: unknown): boolean {
  return (error as NodeJS.ErrnoException).code === 'EXDEV';
}

/** Moves what is in the place out of it, in one step, whatever it is by now. */
export function moveAside(spot: Spot): Backup {
  return toBackup(spot.path, prepareAside(spot)());
}

/** A file that was moved aside, as it is there now. */
export function toBackup(path: string, file: Buffer): Backup {
  const stats = lookAt(file);
  if (stats === undefined) throw new Error(`${file.toString()} has gone`);
  return { path, file, stats };
}

/** The same with all that takes time done before; gives where the file is. */
export function prepareAside(spot: Spot): () => Buffer {
  const target = toFile(spot.worktree, spot.path);
  const [inFolder, inWorktree, beside] = toNames(spot).map((names) => {
    const free = names.find((name) => lookAt(name) === undefined);
    if (free === undefined) throw new Error(`too much was moved aside from ${target.toString()}`);
    return free;
  }) as [Buffer, Buffer, Buffer]; // one for each of the three
  const tryTo = (file: Buffer): boolean => {
    try {
      renameSync(target, file);
      return true;
    } catch (error) {
      if (!isElsewhere(error)) throw error;
      return false;
    }
  };
  return () => {
    if (tryTo(inFolder)) return inFolder;
    mkdirSync(join(spot.worktree, FOLDER), { recursive: true, mode: 0o700 });
    // So that no git of the user's sees it.
    writeFileSync(join(spot.worktree, FOLDER, '.gitignore'), '*\n');
    if (tryTo(inWorktree)) return inWorktree;
    renameSync(target, beside);
    return beside;
  };
}

/** After the last file has left it. */
export function removeFolderInside(worktree: string): void {
  const folder = join(worktree, FOLDER);
  if (lookAt(folder)?.isDirectory() !== true) return;
  if (readdirSync(folder).every((name) => name === '.gitignore'))
    rmSync(folder, { recursive: true, force: true });
}

const FOLDER = '.forge-landing';

/** All that was moved aside from a place and is still there, by names that a process after a death knows too. */
export function listAside(spot: Spot): readonly Buffer[] {
  return toNames(spot)
    .flat()
    .filter((file) => lookAt(file)?.isDirectory() === false);
}

/** A copy on its way to another file system whose process has died. */
export function removeCopy(spot: Omit<Spot, 'backups'>): void {
  if (lookInside(spot.worktree, `${toParent(spot.path)}${toCopyName(spot.path)}`) === undefined) return;
  rmSync(toCopy(spot), { force: true });
}

/** By the path, because a path may be longer than a name, and a folder may now be a file. */
function toNames({ worktree, backups, path }: Spot): readonly [Names, Names, Names] {
  const name = toName(path);
  const parent = toParent(path);
  const number = (folder: string, prefix: string): Names =>
    TIMES.map((time) => toFile(folder, `${prefix}${name}.${time}`));
  // A file is renamed on its own file system: that of the git directory, of the working tree, or of a mount in it.
  return [number(backups, ''), number(worktree, `${FOLDER}/`), number(worktree, `${parent}.forge-landing-`)];
}

type Names = readonly Buffer[];

/** The landing, one that makes it good, and one after that was killed too. */
const TIMES = [0, 1, 2, 3, 4, 5, 6, 7];

function toName(path: string): string {
  return createHash('sha256').update(toBytes(path)).digest('hex').slice(0, 32);
}

/** With the slash at its end; nothing where the path has no folder. */
function toParent(path: string): string {
  return path.slice(0, path.lastIndexOf('/') + 1);
}

function toCopyName(path: string): string {
  return `.forge-landing-${toName(path)}.new`;
}

function toCopy({ worktree, path }: Omit<Spot, 'backups'>): Buffer {
  return toFile(worktree, `${toParent(path)}${toCopyName(path)}`);
}

/** A file of the user's goes to its place; where another one is by now, it is kept beside. */
export function giveBack(file: Buffer, spot: Omit<Spot, 'backups'>): void {
  const { path } = spot;
  const atTop = path.replace(/^.*\//s, '');
  const names = [path, ...TIMES.map((time) => `${path}~forge${time}`), `${atTop}~forge`];
  for (const name of names) {
    try {
      makeParent(spot.worktree, name);
      createFile(file, { ...spot, path: name });
      return;
    } catch (error) {
      if (!isInTheWay(error)) throw error;
    }
  }
  throw new Error(`There is no place for what was saved at ${path}; it is in ${file.toString()}`);
}

import { lstatSync, type BigIntStats } from 'node:fs';
import { dirname } from 'node:path';
import { ForgeError } from '#kernel/errors.ts';
import type { FileMark } from '#store/replication.ts';
import { toFileError } from './file-error.ts';

/** A file that changed within this time before it was looked at may have changed again in the same tick of its clock. */
export const TICK_MS = 50;

/**
 * What stands at the place of a task file; undefined where there is no file. A link is none, nor is anything below a
 * linked folder: a repository could make one lead to a file of the user's, whose lines the next commit would publish.
 */
export function statFile(path: string): BigIntStats | undefined {
  try {
    const stats = lstatSync(path, { bigint: true, throwIfNoEntry: false });
    return stats?.isFile() === true && !isLink(dirname(path)) ? stats : undefined;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOTDIR') return undefined;
    throw toFileError(error, `Could not look at ${path}`);
  }
}

/** Throws already_exists where writing to the folder would write elsewhere. */
export function refuseLinkedFolder(folder: string): void {
  if (!isLink(folder)) return;
  throw new ForgeError('already_exists', `${folder} is in the way: it is a symbolic link`, {
    hint: 'Put a folder in its place, then run the command again',
    details: { path: folder },
  });
}

function isLink(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() === true;
}

/** Whether the file is, by all that can be told without reading it, the one that the mark was made of. */
export function isUnchanged(stats: BigIntStats, mark: FileMark | undefined): boolean {
  if (mark === undefined || !isSameFile(stats, mark)) return false;
  return Number(stats.mtimeMs) < mark.looked_at - TICK_MS;
}

/** Of a file that was not joined in whole: it is looked at again when HEAD is elsewhere. */
const HELD = 'held:';

export function toHeldDigest({ place, key }: { place: string; key: string }, digest: string): string {
  return `${HELD}${place === '' ? key : place}:${digest}`;
}

export function isHeldMark(mark: FileMark | undefined): boolean {
  return mark?.digest.startsWith(HELD) === true;
}

/** The digest of the bytes alone. */
export function toPlainDigest({ digest }: Pick<FileMark, 'digest'>): string {
  return digest.startsWith(HELD) ? digest.slice(digest.lastIndexOf(':') + 1) : digest;
}

/** Whether it was held while HEAD was at this place. */
export function isHeldAt(mark: FileMark, place: string): boolean {
  return mark.digest.startsWith(`${HELD}${place}:`);
}

export function isSameFile(
  stats: BigIntStats,
  mark: Omit<FileMark, 'event_seq' | 'digest' | 'looked_at'>,
): boolean {
  return (
    Number(stats.size) === mark.size &&
    String(stats.mtimeNs) === mark.mtime &&
    String(stats.ctimeNs) === mark.ctime &&
    String(stats.ino) === mark.inode
  );
}

export function toMark(
  path: string,
  stats: BigIntStats,
  more: { digest: string; looked_at: number },
): Omit<FileMark, 'event_seq'> {
  return {
    path,
    size: Number(stats.size),
    mtime: String(stats.mtimeNs),
    ctime: String(stats.ctimeNs),
    inode: String(stats.ino),
    ...more,
  };
}

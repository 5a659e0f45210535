import { randomInt } from 'node:crypto';
import {
  type BigIntStats,
  closeSync,
  fchmodSync,
  fstatSync,
  linkSync,
  lstatSync,
  openSync,
  renameSync,
  rmSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';

/** The `index.lock` of a working tree as git knows it: while it is there, no git changes the index. */
export function toIndexLock(git_dir: string): string {
  return join(git_dir, 'index.lock');
}

/** How a file is told from another at the same path. */
export function readInode(path: string): string | undefined {
  return findFile(path)?.ino.toString();
}

export function findFile(path: string): BigIntStats | undefined {
  return lstatSync(path, { throwIfNoEntry: false, bigint: true });
}

/** Whether the index is the very file it was; git never changes one, it puts another in its place. */
export function isSameIndex(a: BigIntStats | undefined, b: BigIntStats | undefined): boolean {
  if (a === undefined || b === undefined) return a === b;
  return a.ino === b.ino && a.size === b.size && a.mtimeNs === b.mtimeNs && a.ctimeNs === b.ctimeNs;
}

/** An empty file that a journal can name before it is a lock. */
export function makeLockFile(path: string): string {
  closeSync(openSync(path, 'w', 0o666));
  return readInode(path) ?? '';
}

/**
 * Makes the prepared file the lock, in one step and only if there is none, and gives its inode. Waits for another
 * git that has it; git itself does not wait at all. Undefined where the patience is over.
 */
export async function takeLock(
  lock: string,
  prepared: string,
  patience_ms: number,
): Promise<string | undefined> {
  const end = performance.now() + patience_ms;
  for (;;) {
    const inode = tryLock(lock, prepared);
    if (inode !== undefined || performance.now() > end) return inode;
    await setTimeout(randomInt(3, 10));
  }
}

/** The inode is that of the prepared file, except on a file system without hard links. */
export function tryLock(lock: string, prepared: string): string | undefined {
  try {
    linkSync(prepared, lock);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException; // what fs throws
    if (code === 'EEXIST') return undefined;
    if (code !== 'EPERM' && code !== 'ENOTSUP' && code !== 'EMLINK') throw error;
    return tryCreate(lock);
  }
  return readInode(lock);
}

function tryCreate(lock: string): string | undefined {
  try {
    closeSync(openSync(lock, 'wx', 0o666));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return undefined;
    throw error;
  }
  return readInode(lock);
}

/** Only a lock that is ours: the user may have removed it, and another git made its own. */
export function removeLock(lock: string, inodes: readonly string[]): void {
  const inode = readInode(lock);
  if (inode !== undefined && inodes.includes(inode)) rmSync(lock, { force: true });
}

/** An index that is written under the lock and takes the lock's place, then the index's. */
export interface NextIndex extends Disposable {
  readonly inode: string;
  write(bytes: Buffer): void;
  /** From here on the lock is the new index; there is no moment without a lock. */
  intoLock(lock: string): void;
}

export function openNextIndex(path: string, like: BigIntStats | undefined): NextIndex {
  rmSync(path, { force: true });
  const file = openSync(path, 'wx', 0o666);
  let isOpen = true;
  const close = (): void => {
    if (isOpen) closeSync(file);
    isOpen = false;
  };
  if (like !== undefined) fchmodSync(file, Number(like.mode & 0o777n));
  return {
    inode: fstatSync(file, { bigint: true }).ino.toString(),
    write(bytes) {
      for (let at = 0; at < bytes.length;) at += writeSync(file, bytes, at);
      close();
    },
    intoLock: (lock) => renameSync(path, lock),
    [Symbol.dispose]: close,
  };
}

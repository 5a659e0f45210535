import { constants, copyFileSync, linkSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { basename, dirname } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { ForgeError } from '#kernel/errors.ts';
import { sweepTemporaryFiles } from './sweep-temporary-files.ts';

const POLL_MS = 20;
const PATIENCE_MS = 10_000;

/**
 * Two processes that change the same files come one after the other. The lock is a file at `path`; one whose
 * process is gone is nobody's. `what` names the work in the message of whoever waits too long. Its folder must be
 * there. Not for a lock that is held for long: waiting ends after ten seconds with store_busy.
 */
export async function holdFileLock<T>(path: string, what: string, work: () => T | Promise<T>): Promise<T> {
  await acquire(path, what);
  try {
    return await work();
  } finally {
    rmSync(path, { force: true });
  }
}

async function acquire(path: string, what: string): Promise<void> {
  // Written before it is a lock: one without its owner's number could never be told to be nobody's.
  const ready = toTemporary(path);
  sweepTemporaryFiles(dirname(path), `${basename(path)}.`);
  writeFileSync(ready, `${process.pid} ${hostname()}`, { flag: 'wx' });
  try {
    await waitFor(path, what, ready);
  } finally {
    rmSync(ready, { force: true });
  }
}

async function waitFor(path: string, what: string, ready: string): Promise<void> {
  for (let waited = 0; ; waited += POLL_MS) {
    if (tryTake(path, ready)) return;
    if (waited >= PATIENCE_MS) {
      throw new ForgeError('store_busy', `Another ${what} is at work here, or left ${path} behind`, {
        hint: 'Wait for it, or remove that file',
      });
    }
    if (isLockAbandoned(path)) removeAbandonedLock(path);
    else await setTimeout(POLL_MS);
  }
}

function tryTake(path: string, ready: string): boolean {
  try {
    linkSync(ready, path);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
  }
  try {
    // A file system without hard links.
    copyFileSync(ready, path, constants.COPYFILE_EXCL);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  }
}

/** Moved aside before it goes, because somebody else may have replaced it by a lock of their own since. */
export function removeAbandonedLock(path: string): void {
  const aside = toTemporary(path);
  try {
    renameSync(path, aside);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return;
    throw error;
  }
  if (isLockAbandoned(aside)) rmSync(aside, { force: true });
  else renameSync(aside, path);
}

/** Whether the process that made the lock is gone. */
export function isLockAbandoned(path: string): boolean {
  try {
    const [pid, host] = readFileSync(path, 'utf8').split(' ');
    const owner = Number(pid);
    // Not written by this program, or of another machine that shares the folder: its owner may be at work.
    if (!Number.isInteger(owner) || owner <= 0 || (host !== undefined && host !== hostname())) return false;
    process.kill(owner, 0);
    return false;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ESRCH';
  }
}

function toTemporary(path: string): string {
  return `${path}.${process.pid}-${process.hrtime.bigint().toString(36)}.tmp`;
}

import { closeSync, existsSync, openSync, readFileSync, renameSync, rmSync, writeSync } from 'node:fs';
import { Database } from './database.ts';
import { isForeign } from './migrate.ts';

const POLL_MS = 20;
const PATIENCE_MS = 10_000;

/**
 * Moves a database that is damaged out of the way, with what SQLite keeps beside it, and returns where it is now. The
 * file is never deleted. Undefined where it is sound after all: another process has mended it meanwhile.
 */
export function setAsideDatabase(path: string, now: number): string | undefined {
  const lock = `${path}.healing`;
  acquire(lock);
  try {
    if (isSound(path)) return undefined;
    const aside = freeName(`${path}.damaged-${new Date(now).toISOString().replaceAll(/[:.]/g, '-')}`);
    for (const suffix of ['-wal', '-shm', '']) {
      if (existsSync(`${path}${suffix}`)) renameSync(`${path}${suffix}`, `${aside}${suffix}`);
    }
    return aside;
  } finally {
    rmSync(lock, { force: true });
  }
}

/**
 * SQLite would take the log of a database that is gone for the new one's. Everything in it is in the replica too. The
 * new file is made before the lock is free, so that whoever waited for it does not take the new log for the old.
 */
export function removeOrphans(path: string): void {
  const lock = `${path}.healing`;
  acquire(lock);
  try {
    if (existsSync(path)) return;
    for (const suffix of ['-wal', '-shm']) rmSync(`${path}${suffix}`, { force: true });
    closeSync(openSync(path, 'a'));
  } finally {
    rmSync(lock, { force: true });
  }
}

/** Reads every page, which takes a while; nobody asks without a reason. */
function isSound(path: string): boolean {
  if (!existsSync(path)) return true;
  try {
    const database = new Database(path, { lock_timeout_ms: PATIENCE_MS, read_only: true });
    try {
      return !isForeign(database) && database.get('PRAGMA integrity_check(1)')?.integrity_check === 'ok';
    } finally {
      database.close();
    }
  } catch {
    return false;
  }
}

function freeName(wanted: string): string {
  for (let number = 1; ; number += 1) {
    const name = number === 1 ? wanted : `${wanted}-${number}`;
    if (!existsSync(name)) return name;
  }
}

/** Two that set aside at once would take the new database for the damaged one. A lock whose process is gone is nobody's. */
function acquire(lock: string): void {
  for (let waited = 0; ; waited += POLL_MS) {
    try {
      const file = openSync(lock, 'wx');
      writeSync(file, String(process.pid));
      closeSync(file);
      return;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST' || waited >= PATIENCE_MS) throw error;
    }
    if (isAbandoned(lock)) rmSync(lock, { force: true });
    else Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, POLL_MS);
  }
}

function isAbandoned(lock: string): boolean {
  try {
    const pid = Number(readFileSync(lock, 'utf8'));
    if (!Number.isInteger(pid) || pid <= 0) return false;
    process.kill(pid, 0);
    return false;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ESRCH';
  }
}

import { existsSync, renameSync, rmSync, statSync } from 'node:fs';
import type { Clock } from '#kernel/clock.ts';
import { makeFile, type FileModes } from '../file-modes.ts';
import { Database } from './database.ts';
import { isForeign } from './migrate.ts';
import { translateStoreError } from './translate-error.ts';

const PATIENCE_MS = 10_000;

/** Does the work while nobody else has the lock at that path. Rejects with store_busy. */
export type HoldLock = <T>(path: string, work: () => T) => Promise<T>;

/**
 * Moves a database that is damaged out of the way, with what SQLite keeps beside it, and returns where it is now. The
 * file is never deleted. Undefined where it is sound after all: another process has mended it meanwhile. Two that set
 * aside at once would take the new database for the damaged one.
 */
export function setAsideDatabase(
  path: string,
  { clock, hold }: { readonly clock: Clock; readonly hold?: HoldLock | undefined },
): Promise<string | undefined> {
  return alone(path, hold, () => {
    if (isSound(path)) return undefined;
    const now = new Date(clock.now()).toISOString();
    const aside = freeName(`${path}.damaged-${now.replaceAll(/[:.]/g, '-')}`);
    for (const suffix of ['-wal', '-shm', '']) {
      if (existsSync(`${path}${suffix}`)) renameSync(`${path}${suffix}`, `${aside}${suffix}`);
    }
    return aside;
  });
}

/**
 * SQLite would take the log of a database that is gone for the new one's. Everything in it is in the replica too. The
 * new file is made before the lock is free, so that whoever waited for it does not take the new log for the old.
 */
export function removeOrphans(
  path: string,
  { modes, hold }: { readonly modes: FileModes; readonly hold?: HoldLock | undefined },
): Promise<void> {
  return alone(path, hold, () => {
    if ((statSync(path, { throwIfNoEntry: false })?.size ?? 0) > 0) return;
    const orphans = [`${path}-wal`, `${path}-shm`].filter((orphan) => existsSync(orphan));
    for (const orphan of orphans) rmSync(orphan, { force: true });
    // An empty file beside them too: whoever has it open has the wrong log. One without is somebody's who begins.
    if (orphans.length > 0) rmSync(path, { force: true });
    makeFile(path, modes);
  });
}

async function alone<T>(path: string, hold: HoldLock | undefined, work: () => T): Promise<T> {
  try {
    return await (hold === undefined ? work() : hold(`${path}.healing`, work));
  } catch (error) {
    throw translateStoreError(error, path);
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

export function freeName(wanted: string): string {
  for (let number = 1; ; number += 1) {
    const name = number === 1 ? wanted : `${wanted}-${number}`;
    if (!existsSync(name)) return name;
  }
}

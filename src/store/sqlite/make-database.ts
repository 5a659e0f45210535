import { existsSync } from 'node:fs';
import { dirname } from 'node:path';
import { makeFile, makeFolder, type FileModes } from '../file-modes.ts';
import { type HoldLock, removeOrphans } from './set-aside-database.ts';
import { translateStoreError } from './translate-error.ts';

/**
 * An empty file where a database shall be, before SQLite makes one that the umask has a say in. SQLite gives its log
 * and its shared memory the mode of the database.
 */
export async function makeDatabase(
  path: string,
  { modes, hold }: { readonly modes: FileModes; readonly hold?: HoldLock | undefined },
): Promise<void> {
  try {
    makeFolder(dirname(path), modes);
  } catch (error) {
    throw translateStoreError(error, path);
  }
  // What SQLite kept beside it is still there: it was moved or deleted while somebody had it open.
  if (existsSync(`${path}-wal`) || existsSync(`${path}-shm`)) return removeOrphans(path, { modes, hold });
  try {
    makeFile(path, modes);
  } catch {
    // Opening it says why.
  }
}

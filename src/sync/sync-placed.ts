import { closeSync, fsyncSync } from 'node:fs';
import { dirname } from 'node:path';
import { syncFolder } from '#store/sync-folder.ts';
import { toFileError } from './file-error.ts';
import { openToRead } from './read-file-lines.ts';

/** The file system has no such sync, or leaves it to the owner of the file; Windows syncs only what is open to be written. */
const NOT_FOR_US = new Set(['EINVAL', 'EACCES', 'EPERM']);

/**
 * Before the store remembers what stands in a task file: the name of the file survives a power cut, and with `file` what
 * is in it. An older file that came back would look like a change back by hand, and the store would follow it.
 */
export function syncPlaced(path: string, file?: number): void {
  if (file !== undefined) attempt(() => fsyncSync(file));
  attempt(() => syncFolder(dirname(path)));
}

/** The same of a file that another program wrote. */
export function syncSeen(path: string): void {
  const file = openToRead(path);
  try {
    syncPlaced(path, file);
  } catch (error) {
    throw toFileError(error, `Could not sync ${path}`);
  } finally {
    closeSync(file);
  }
}

function attempt(sync: () => void): void {
  try {
    sync();
  } catch (error) {
    if (!NOT_FOR_US.has((error as NodeJS.ErrnoException).code ?? '')) throw error;
  }
}

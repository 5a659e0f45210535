import { chmodSync, closeSync, fchmodSync, mkdirSync, openSync } from 'node:fs';
import { dirname } from 'node:path';

/** Who may read and write what Forge keeps beside a repository. */
export interface FileModes {
  readonly file: number;
  readonly folder: number;
}

/** Tasks, logs and what agents said are for whoever keeps them. */
export const PRIVATE: FileModes = { file: 0o600, folder: 0o700 };

/** With what is above it. Those that are there keep the mode they have. */
export function makeFolder(path: string, { folder }: FileModes): void {
  const first = mkdirSync(path, { recursive: true, mode: folder });
  if (first === undefined) return;
  // Whatever the umask took away.
  for (let made = path; made.length >= first.length; made = dirname(made)) chmodSync(made, folder);
}

/** Opened as `flags` say, with this mode whatever the umask. For a file that is not there yet. */
export function openNewFile(path: string, flags: 'w' | 'w+' | 'wx', { file }: FileModes): number {
  const opened = openSync(path, flags, file);
  try {
    fchmodSync(opened, file);
    return opened;
  } catch (error) {
    closeSync(opened);
    throw error;
  }
}

/** An empty one, unless there is one already. */
export function makeFile(path: string, modes: FileModes): void {
  try {
    closeSync(openNewFile(path, 'wx', modes));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
}

import { closeSync, fsyncSync, openSync } from 'node:fs';

/** A new name survives a power cut only once its folder is synced. Windows cannot open folders. */
export function syncFolder(path: string): void {
  if (process.platform === 'win32') return;
  const folder = openSync(path, 'r');
  try {
    fsyncSync(folder);
  } finally {
    closeSync(folder);
  }
}

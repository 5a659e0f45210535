import { chmodSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { ForgeError } from '#kernel/errors.ts';
import { escapeLine } from '#kernel/text.ts';
import { toDiskPath } from './disk-path.ts';
import { look } from './guard-place.ts';

/**
 * Removes a folder or file in any state that an agent leaves it in: folders that are read-only, as some tools leave their
 * caches, and folders in folders whose path is longer than the system takes. Links are removed, not followed. Packages
 * are many files: other work goes on meanwhile. Throws io_failed for what stays.
 */
export async function removeTree(path: string): Promise<void> {
  try {
    await rm(path, OPTIONS);
  } catch {
    removeStubborn(path);
  }
}

/** The same, at once. */
export function removeTreeNow(path: string): void {
  try {
    rmSync(path, OPTIONS);
  } catch {
    removeStubborn(path);
  }
}

const OPTIONS = { recursive: true, force: true, maxRetries: 3 } as const;

function removeStubborn(path: string): void {
  try {
    openFolders(path);
    rmSync(path, OPTIONS);
  } catch (error) {
    const { code = 'unknown' } = error as NodeJS.ErrnoException;
    throw new ForgeError('io_failed', `${escapeLine(path)} could not be removed (${code})`, {
      hint: 'Remove it by hand, or see who may write there',
      details: { path },
      cause: error,
    });
  }
}

/** Every folder below can be written to afterwards, and has a path that the system takes. */
function openFolders(top: string): void {
  if (look(top)?.isDirectory() !== true) return;
  const taken = new Set(readOpened(top, '').map(({ name }) => name));
  let number = 0;
  const waiting = [''];
  for (let at = waiting.pop(); at !== undefined; at = waiting.pop()) {
    for (const { name } of readOpened(top, at).filter((entry) => entry.isDirectory())) {
      const path = at + name;
      if (path.length < SHORT) {
        waiting.push(`${path}/`);
        continue;
      }
      do number += 1;
      while (taken.has(`deep-${number}`));
      chmodSync(toDiskPath(top, path), 0o700);
      renameSync(toDiskPath(top, path), toDiskPath(top, `deep-${number}`));
      waiting.push(`deep-${number}/`);
    }
  }
}

/** With the name of one more folder, and that of the tree itself, shorter than what any system takes. */
const SHORT = 400;

function readOpened(top: string, at: string) {
  const folder = toDiskPath(top, at);
  chmodSync(folder, 0o700);
  return readdirSync(folder, { withFileTypes: true, encoding: 'latin1' });
}

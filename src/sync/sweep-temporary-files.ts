import { readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { isLeftBehind } from '#process/temporary-path.ts';

/**
 * Removes what killed processes left of their copies of files in this folder; one that is still at work keeps its own.
 * With `of` only copies of the file of that name. What cannot be removed stays: it is no reason for a command to fail.
 */
export function sweepTemporaryFiles(folder: string, of = ''): void {
  try {
    for (const name of readdirSync(folder)) {
      if (name.startsWith(of) && isLeftBehind(name)) rmSync(join(folder, name), { force: true });
    }
  } catch {
    // No such folder, or not ours to write.
  }
}

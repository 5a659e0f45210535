import { readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';

/**
 * Removes what killed processes left of their copies of files in this folder; one that is still at work keeps its own.
 * With `of` only copies of the file of that name. What cannot be removed stays: it is no reason for a command to fail.
 */
export function sweepTemporaryFiles(folder: string, of = ''): void {
  try {
    for (const name of readdirSync(folder)) {
      const [, pid] = /\.(\d+)-[0-9a-z]+\.tmp$/.exec(name) ?? [];
      if (pid !== undefined && name.startsWith(of) && !isRunning(Number(pid)))
        rmSync(join(folder, name), { force: true });
    }
  } catch {
    // No such folder, or not ours to write.
  }
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== 'ESRCH';
  }
}

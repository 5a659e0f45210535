import { readdirSync, rmSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';

/** Removes what a killed process left of its copy of this file; one that is still at work keeps its own. */
export function sweepTemporaryFiles(path: string): void {
  const folder = dirname(path);
  const prefix = basename(path);
  for (const name of readdirSync(folder)) {
    if (!name.startsWith(prefix)) continue;
    const [, pid] = /^\.(\d+)-[0-9a-z]+\.tmp$/.exec(name.slice(prefix.length)) ?? [];
    if (pid !== undefined && !isRunning(Number(pid))) rmSync(join(folder, name), { force: true });
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

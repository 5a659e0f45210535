import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { ForgeError } from '#kernel/errors.ts';

const POLL_MS = 20;
const PATIENCE_MS = 10_000;

/**
 * Two inits of one repository come one after the other: what the second would take back when it fails is what the
 * first has just made. A lock whose process is gone is nobody's.
 */
export async function holdInitLock<T>(commonDir: string, work: () => Promise<T>): Promise<T> {
  const path = join(commonDir, 'forge-init.lock');
  await acquire(path);
  try {
    return await work();
  } finally {
    rmSync(path, { force: true });
  }
}

async function acquire(path: string): Promise<void> {
  for (let waited = 0; ; waited += POLL_MS) {
    try {
      writeFileSync(path, String(process.pid), { flag: 'wx' });
      return;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    }
    if (waited >= PATIENCE_MS) {
      throw new ForgeError('store_busy', `Another forge init is at work here, or left ${path} behind`, {
        hint: 'Wait for it, or remove that file',
      });
    }
    if (isAbandoned(path)) rmSync(path, { force: true });
    else await setTimeout(POLL_MS);
  }
}

function isAbandoned(path: string): boolean {
  try {
    const pid = Number(readFileSync(path, 'utf8'));
    // Just made and not written yet: its owner is at work.
    if (!Number.isInteger(pid) || pid <= 0) return false;
    process.kill(pid, 0);
    return false;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ESRCH';
  }
}

import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { vi } from 'vitest';

const PRELOAD = join(import.meta.dirname, 'met-lock.cjs');

export interface LockWatch {
  /** For one program. */
  readonly env: Readonly<Record<string, string>>;
  /** Resolves when that program has met a lock that another process holds; it goes on to wait for it. */
  readonly met: () => Promise<void>;
}

/** How a test sees that a program waits for the lock of a project's database, however slow the machine is. */
export function watchLock({ path }: { readonly path: string }): LockWatch {
  const mark = join(dirname(path), `met-lock-${randomUUID()}`);
  return {
    env: { NODE_OPTIONS: `--require=${JSON.stringify(PRELOAD)}`, TEST_MET_LOCK: mark },
    async met() {
      await vi.waitUntil(() => existsSync(mark), { timeout: 60_000, interval: 20 });
    },
  };
}

import { dirname, join } from 'node:path';
import { systemClock } from '#kernel/clock.ts';
import type { ForgeError } from '#kernel/errors.ts';
import { healSqliteStore } from '#store/open-sqlite-store.ts';

/** Makes good what a store_corrupt was about, so that what failed can be tried once more. */
export async function healStore({ details }: ForgeError, notice: (line: string) => void): Promise<void> {
  const { path } = details;
  if (typeof path !== 'string') return;
  const replica = join(dirname(path), 'tasks.jsonl');
  await healSqliteStore({ database: path, replica, clock: systemClock, notice });
}

import { toIso } from '#kernel/clock.ts';
import type { Database } from './database.ts';
import { readFact } from './store-facts.ts';

/** Since when agents claim nothing here; null while they may. */
export function readPause(db: Database): string | null {
  const since = readFact(db, 'paused_at');
  return since === 0 ? null : toIso(since);
}

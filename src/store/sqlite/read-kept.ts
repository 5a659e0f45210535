import { KEPT_LIMITS } from '#kernel/kept-limits.ts';
import type { StoreKept } from '../store-care.ts';
import type { Database } from './database.ts';
import { newestEvent, oldestEvent } from './log-rows.ts';
import type { Replica } from './replica.ts';
import { wholeBytes } from './replay.ts';

/** By their numbers: counting a feed of 100,000 would read all of it. */
export function readKept({ db, replica }: { readonly db: Database; readonly replica: Replica }): StoreKept {
  const { events, events_over, replica_bytes, replica_growth } = KEPT_LIMITS;
  return {
    events: { number: Math.max(0, newestEvent(db) - oldestEvent(db) + 1), allowed: events + events_over },
    replica: { bytes: replica.size(), allowed: Math.max(replica_bytes, replica_growth * wholeBytes(db)) },
  };
}

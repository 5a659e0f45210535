import { LIMITS } from '#kernel/limits.ts';
import { checkIntegrity } from './sqlite/check-integrity.ts';
import { compareDatabase } from './sqlite/compare-database.ts';
import { Database } from './sqlite/database.ts';
import { rebuildDatabase, type Rebuilt } from './sqlite/rebuild-database.ts';
import { Replica } from './sqlite/replica.ts';
import { toSlice, waitInSlices } from './sqlite/wait-in-slices.ts';
import type { StoreOptions } from './open-store.ts';
import { toStoreFiles, type StoreLocation } from './store-location.ts';
import type { StoreWrongs } from './store-care.ts';

/**
 * What is not as Forge made it, also where the database cannot be opened as a store, and what SQLite finds wrong with its
 * pages: those of a table that no task is in may be damaged for long before a command reads them. Changes nothing.
 */
export function examineDatabase(location: StoreLocation): StoreWrongs & {
  readonly integrity: readonly string[];
} {
  const { database, replica: path } = toStoreFiles(location);
  const db = new Database(database, { lock_timeout_ms: LIMITS.lock_timeout_ms, read_only: true });
  const replica = new Replica(path);
  try {
    return db.read(() => {
      const wrongs = compareDatabase(db, replica);
      // Tables that are not there have no rows to look at.
      return { ...wrongs, integrity: wrongs.schema.length > 0 ? [] : checkIntegrity(db) };
    });
  } finally {
    replica.close();
    db.close();
  }
}

/** Moves the database out of the way and makes it anew from the replica; see `Rebuilt` for what became of its rows. */
export function rebuildStore(location: StoreLocation, options: StoreOptions): Promise<Rebuilt> {
  const patience_ms = options.lock_timeout_ms ?? LIMITS.lock_timeout_ms;
  return waitInSlices(
    () => rebuildDatabase({ ...options, ...toStoreFiles(location), lock_timeout_ms: toSlice(patience_ms) }),
    patience_ms,
  );
}

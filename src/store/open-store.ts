import { openSqliteStore, type SqliteStore } from './sqlite/open-sqlite-store.ts';
import type { SqliteStoreOptions } from './sqlite/open-parts.ts';
import { toStoreFiles, type StoreLocation } from './store-location.ts';

/** Everything a project's store can do. */
export type Store = SqliteStore;
export type StoreOptions = Omit<SqliteStoreOptions, 'database' | 'replica' | 'gather'>;

/**
 * Opens the store of a project, making or upgrading its schema first and replaying what a crash kept from it. A damaged
 * database is set aside and made anew from the replica.
 */
export function openStore(location: StoreLocation, options: StoreOptions): Promise<Store> {
  return openSqliteStore({ ...options, ...toStoreFiles(location) });
}

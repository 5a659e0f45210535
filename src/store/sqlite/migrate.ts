import { toIso } from '#kernel/clock.ts';
import { ForgeError } from '#kernel/errors.ts';
import type { Database } from './database.ts';
import type { MIGRATIONS } from './migrations.generated.ts';
import { isNewerSchema, NEWEST_SCHEMA, newerSchema, readSchemaVersion } from './schema-version.ts';

/**
 * Brings the schema up to date. One look at a number in the file's header when it is; otherwise one
 * transaction a step under the writer's lock, so that of twenty processes that start at once one does the
 * work and the others find it done. True where there was nothing before.
 */
export function migrate(db: Database, migrations: typeof MIGRATIONS, now: () => number): boolean {
  const version = readSchemaVersion(db);
  if (version === NEWEST_SCHEMA) return false;
  if (isNewerSchema(version)) throw newerSchema(db, version);
  if (isForeign(db)) {
    throw new ForgeError('store_corrupt', `The task database is one of another program: ${db.path}`, {
      hint: 'Move it to where it belongs',
      details: { path: db.path },
    });
  }
  enableWal(db);
  for (const step of migrations) {
    db.write(() => {
      const found = readSchemaVersion(db);
      if (isNewerSchema(found)) throw newerSchema(db, found);
      if (found >= step.number) return;
      db.execute(
        'CREATE TABLE IF NOT EXISTS migrations (number INTEGER PRIMARY KEY, name TEXT NOT NULL, applied_at TEXT NOT NULL)',
      );
      db.run(
        'INSERT INTO migrations (number, name, applied_at) VALUES (?, ?, ?)',
        step.number,
        step.name,
        toIso(now()),
      );
      db.execute(step.sql);
      db.execute(`PRAGMA user_version = ${step.number}`);
    });
  }
  return version === 0;
}

/** Tables that no migration of ours has made. One look at both, because another process may be migrating. */
export function isForeign(db: Database): boolean {
  return db.read(
    () => readSchemaVersion(db) === 0 && db.get('SELECT 1 AS found FROM sqlite_schema LIMIT 1') !== undefined,
  );
}

/**
 * The journal mode is a property of the file and stays. Where a file system cannot do WAL, SQLite answers
 * with the mode it keeps, and Forge goes on with that: slower, as safe.
 */
function enableWal(db: Database): void {
  // Two processes that switch at the same moment can see "locked" in spite of the time-out. Whoever opens tries again.
  db.execute('PRAGMA journal_mode = WAL');
}

import { raiseFloors, type SchemaFloors } from '#domain/schema-floors.ts';
import { toIso } from '#kernel/clock.ts';
import { ForgeError } from '#kernel/errors.ts';
import type { Database } from './database.ts';
import type { Migration } from './migration.ts';
import { NEWEST_SCHEMA, newerSchema, readSchemaVersion } from './schema-version.ts';
import { toRebuild } from './translate-error.ts';

export interface MigrateOptions {
  readonly migrations: readonly Migration[];
  readonly now: () => number;
  /** The version of Forge. */
  readonly written_by?: string | undefined;
  /** Of a new database: chooses how it is to be journalled. */
  readonly begin?: (() => void) | undefined;
}

/**
 * Brings the schema up to date: one transaction a step under the writer's lock, so that of twenty processes that start
 * at once one does the work and the others find it done.
 */
export function migrate(db: Database, options: MigrateOptions): void {
  const { migrations, now, written_by = 'unknown' } = options;
  if (isForeign(db)) {
    throw new ForgeError('store_corrupt', `The task database is one of another program: ${db.path}`, {
      hint: 'Move it to where it belongs',
      details: { path: db.path },
    });
  }
  options.begin?.();
  for (const step of migrations) {
    db.write(() => {
      const found = readSchemaVersion(db);
      if (found > NEWEST_SCHEMA) throw newerSchema(db);
      if (found >= step.number) return;
      db.execute(
        'CREATE TABLE IF NOT EXISTS migrations (number INTEGER PRIMARY KEY, name TEXT NOT NULL, applied_at TEXT NOT NULL)',
      );
      if (db.get('SELECT 1 AS done FROM migrations WHERE number = ?', step.number) !== undefined)
        throw toRebuild(
          db.path,
          `it says schema ${found} but went through migration ${step.number}: the number was set back`,
        );
      db.run(
        'INSERT INTO migrations (number, name, applied_at) VALUES (?, ?, ?)',
        step.number,
        step.name,
        toIso(now()),
      );
      db.execute(step.sql);
      stateFloors(db, step, written_by);
      db.execute(`PRAGMA user_version = ${step.number}`);
    });
  }
}

/** The table itself comes with a migration; all before that were refused by older programs anyway. */
function stateFloors(db: Database, { number, raises }: Migration, written_by: string): void {
  if (db.get("SELECT 1 AS there FROM sqlite_schema WHERE name = 'format'") === undefined) return;
  const before = db.get('SELECT * FROM format') as unknown as SchemaFloors; // columns of the schema
  const { min_reader, min_writer } = raiseFloors(before, raises, number);
  db.run(
    'UPDATE format SET min_reader = ?, min_writer = ?, written_by = ?',
    min_reader,
    min_writer,
    written_by,
  );
}

/** Tables that no migration of ours has made. One look at both, because another process may be migrating. */
export function isForeign(db: Database): boolean {
  return db.read(
    () => readSchemaVersion(db) === 0 && db.get('SELECT 1 AS found FROM sqlite_schema LIMIT 1') !== undefined,
  );
}

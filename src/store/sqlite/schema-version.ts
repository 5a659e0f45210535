import { judgeSchema, type SchemaFloors, type SchemaStanding } from '#domain/schema-floors.ts';
import { ForgeError } from '#kernel/errors.ts';
import type { Database } from './database.ts';
import { toRebuild } from './translate-error.ts';

/** The number of the last migration. Here, because the SQL of all of them is nothing that a cold read should load. */
export const NEWEST_SCHEMA = 15;

/** From here on the queries of this program that only read find all that they name. */
export const OLDEST_READ = 11;

/** One look at a number in the file's header; at the floors too where a newer program was here. */
export function readStanding(db: Database): SchemaStanding {
  return judgeSchema(readSchemaVersion(db), NEWEST_SCHEMA, () => readFloors(db));
}

/**
 * A check for each write transaction: it throws schema_newer where a newer program has raised the floor since the database was
 * opened; then nothing is written.
 */
export function writeGuard(db: Database): () => void {
  let seen = NEWEST_SCHEMA;
  return () => {
    const found = readSchemaVersion(db);
    if (found !== seen) {
      if (found < NEWEST_SCHEMA) throw toRebuild(db.path, `its schema number was set back to ${found}`);
      if (readStanding(db) !== 'usable') throw newerSchema(db);
      seen = found;
    }
  };
}

/** Throws schema_newer where not even reading is left to this program. */
export function checkReadable(db: Database): void {
  if (readStanding(db) === 'too_new') throw newerSchema(db);
}

export function readSchemaVersion(db: Database): number {
  return Number(db.get('PRAGMA user_version')?.user_version ?? 0);
}

/** Undefined where the table does not say what it should: such a database is for newer programs alone. */
function readFloors(db: Database): SchemaFloors | undefined {
  const isThere = db.get("SELECT 1 AS there FROM sqlite_schema WHERE name = 'format'") !== undefined;
  const row = isThere ? db.get('SELECT * FROM format') : undefined;
  const { min_reader, min_writer } = row ?? {};
  if (typeof min_reader !== 'number' || typeof min_writer !== 'number') return undefined;
  return { min_reader, min_writer };
}

export function newerSchema(db: Database): ForgeError {
  const found = readSchemaVersion(db);
  const floors = readFloors(db);
  const what =
    floors !== undefined && NEWEST_SCHEMA >= floors.min_reader
      ? `this Forge knows schemas up to ${NEWEST_SCHEMA} and may read it, but not write it`
      : `this Forge knows schemas up to ${NEWEST_SCHEMA}`;
  return new ForgeError('schema_newer', `The task database has schema ${found}; ${what}: ${db.path}`, {
    hint: 'Update Forge on this machine (a server: start it anew with the newer one). To stay with this version: forge doctor --rebuild',
    details: { path: db.path, found, known: NEWEST_SCHEMA, ...floors },
  });
}

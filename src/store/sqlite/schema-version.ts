import { ForgeError } from '#kernel/errors.ts';
import type { Database } from './database.ts';

/** The number of the last migration. Here, because the SQL of all of them is nothing that a cold read should load. */
export const NEWEST_SCHEMA = 11;

/** One look at a number in the file's header. Throws schema_newer. */
export function isCurrentSchema(db: Database): boolean {
  const version = readSchemaVersion(db);
  if (isNewerSchema(version)) throw newerSchema(db, version);
  return version === NEWEST_SCHEMA;
}

export function isNewerSchema(version: number): boolean {
  return version > NEWEST_SCHEMA;
}

export function readSchemaVersion(db: Database): number {
  return Number(db.get('PRAGMA user_version')?.user_version ?? 0);
}

export function newerSchema(db: Database, version: number): ForgeError {
  return new ForgeError(
    'schema_newer',
    `The task database has schema ${version}; this Forge knows schemas up to ${NEWEST_SCHEMA}: ${db.path}`,
    { hint: 'Update Forge on this machine', details: { found: version, known: NEWEST_SCHEMA } },
  );
}

import type { StoreWrongs } from '../sync-store.ts';
import { compareWithReplica } from './compare-replica.ts';
import { compareSchema } from './compare-schema.ts';
import type { Database } from './database.ts';
import { UnchangedReplica } from './read-past.ts';
import type { Replica } from './replica.ts';
import { readSchemaVersion, readStanding } from './schema-version.ts';

/** What is not as Forge made it. Changes nothing; of a database of another schema it says nothing. */
export function compareDatabase(db: Database, replica: Replica): StoreWrongs {
  const nothing = { schema: [], missing: [], unreadable: [], changed: [] };
  const done = readLastMigration(db);
  const number = readSchemaVersion(db);
  if (number < done)
    return { ...nothing, schema: [`the schema number says ${number}, but migration ${done} was done`] };
  if (readStanding(db) !== 'current') return nothing;
  const schema = compareSchema(db);
  if (schema.length > 0) return { ...nothing, schema };
  // For reading alone, so that a disk that cannot be written is looked at too.
  const told = new UnchangedReplica(replica.path);
  try {
    const { missing, unreadable, changed } = compareWithReplica(db, told);
    return { schema, missing, unreadable, changed };
  } finally {
    told.close();
  }
}

function readLastMigration(db: Database): number {
  const isThere = db.get("SELECT 1 AS there FROM sqlite_schema WHERE name = 'migrations'") !== undefined;
  return isThere ? Number(db.get('SELECT max(number) AS n FROM migrations')?.n ?? 0) : 0;
}

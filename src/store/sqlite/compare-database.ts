import type { StoreWrongs } from '../store-care.ts';
import { compareRows, listMissing } from './compare-replica.ts';
import { compareSchema } from './compare-schema.ts';
import type { Database } from './database.ts';
import { UnchangedReplica } from './read-past.ts';
import { readReplica } from './read-replica.ts';
import { heldBytes } from './replay.ts';
import type { Replica } from './replica.ts';
import { NEWEST_SCHEMA, readSchemaVersion, readStanding } from './schema-version.ts';

/** What is not as Forge made it. Changes nothing; of a database of another schema it says nothing. */
export function compareDatabase(db: Database, replica: Replica): StoreWrongs {
  const nothing = { schema: [], missing: [], unreadable: [], changed: [] };
  const done = readLastMigration(db);
  const number = readSchemaVersion(db);
  if (number < done)
    return { ...nothing, schema: [`the schema number says ${number}, but migration ${done} was done`] };
  if (readStanding(db) !== 'current') return nothing;
  const schema = [...compareSchema(db), ...compareNotes(db)];
  if (schema.length > 0) return { ...nothing, schema };
  // For reading alone, so that a disk that cannot be written is looked at too.
  const told = new UnchangedReplica(replica.path);
  try {
    const content = readReplica(told, heldBytes(db));
    const { unreadable, changed } = compareRows(db, content, { is_whole: true });
    return { schema, missing: listMissing(db, content), unreadable, changed };
  } finally {
    told.close();
  }
}

/** What the database says of itself; a table that is missing is told already. */
function compareNotes(db: Database): string[] {
  const count = (from: string): number => {
    const table = from.split(' ')[0] ?? from;
    const isThere = db.get('SELECT 1 AS there FROM sqlite_schema WHERE name = ?', table) !== undefined;
    return isThere ? Number(db.get(`SELECT count(*) AS n FROM ${from}`)?.n) : NaN;
  };
  const done = count(`migrations WHERE number BETWEEN 1 AND ${NEWEST_SCHEMA}`);
  return [
    ...(count('format') === 0 ? ['table format says nothing'] : []),
    ...(done < NEWEST_SCHEMA ? [`table migrations names ${done} of ${NEWEST_SCHEMA} migrations`] : []),
  ];
}

function readLastMigration(db: Database): number {
  const isThere = db.get("SELECT 1 AS there FROM sqlite_schema WHERE name = 'migrations'") !== undefined;
  return isThere ? Number(db.get('SELECT max(number) AS n FROM migrations')?.n ?? 0) : 0;
}

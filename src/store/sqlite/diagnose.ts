import { checkIntegrity } from './check-integrity.ts';
import { toIso } from '#kernel/clock.ts';
import { LIMITS } from '#kernel/limits.ts';
import type { StoreDiagnosis } from '../store-care.ts';
import { writeInBulk } from './bulk-writes.ts';
import { countUnreadable } from './file-marks.ts';
import type { Database } from './database.ts';
import { findCycles } from '#domain/find-cycles.ts';
import { judgeFileSystem, type ReadFileSystem } from './choose-journal.ts';
import { compareDatabase } from './compare-database.ts';
import { isReplicaWhole } from './replay.ts';
import type { Replica } from './replica.ts';
import { NEWEST_SCHEMA, readSchemaVersion } from './schema-version.ts';

const MISCOUNTED = `SELECT count(*) AS n FROM tasks t WHERE open_blockers <>
    (SELECT count(*) FROM dependencies d JOIN tasks b ON b.id = d.to_id
      WHERE d.from_id = t.id AND d.dep_type = 'blocks' AND b.status <> 'closed')
  + (SELECT count(*) FROM unresolved_dependencies u
      WHERE u.from_id = t.id AND u.dep_type = 'blocks' AND u.closed = 0)`;

/** Looks at everything and changes nothing. */
export function diagnose(
  {
    db,
    replica,
    readFileSystem,
  }: { db: Database; replica: Replica; readFileSystem?: ReadFileSystem | undefined },
  now: number,
): StoreDiagnosis {
  const wrong = compareDatabase(db, replica);
  const schema = db.pastSchema ?? readSchemaVersion(db);
  const choice = judgeFileSystem(db.path, readFileSystem);
  const isLogged = db.pastSchema === undefined && db.get('PRAGMA journal_mode')?.journal_mode === 'wal';
  const unsafe_log = choice.mode === 'delete' && isLogged ? choice.on : null;
  const found = { schema, newest_schema: NEWEST_SCHEMA, wrong, unsafe_log };
  if (wrong.schema.length > 0) return { ...found, ...NOT_LOOKED_AT };
  return { ...found, ...lookAtRows(db, replica, now) };
}

/** Queries that name what is missing would fail. */
const NOT_LOOKED_AT = {
  integrity: [],
  broken_references: 0,
  miscounted: 0,
  replica_complete: true,
  from_the_future: [],
  cycles: [],
  parent_cycles: [],
  missing: [],
  unreadable: 0,
  conflicts: 0,
  tasks: 0,
};

function lookAtRows(
  db: Database,
  replica: Replica,
  now: number,
): Omit<StoreDiagnosis, 'schema' | 'newest_schema' | 'wrong' | 'unsafe_log'> {
  const strings = (sql: string, ...values: (string | number)[]): string[] =>
    db.all(sql, ...values).map((row) => String(Object.values(row)[0]));
  const edges = db.all("SELECT from_id AS a, to_id AS b FROM dependencies WHERE dep_type = 'blocks'");
  const parents = db.all('SELECT id AS a, parent_id AS b FROM tasks WHERE parent_id IS NOT NULL');
  return {
    integrity: checkIntegrity(db),
    broken_references: db.all('PRAGMA foreign_key_check').length,
    miscounted: Number(db.get(MISCOUNTED)?.n ?? 0),
    replica_complete: isReplicaWhole(db, replica),
    from_the_future: strings(
      'SELECT id FROM tasks WHERE updated_at > ? ORDER BY id LIMIT 20',
      toIso(now + LIMITS.clock_skew_ms),
    ),
    cycles: findCycles(toPairs(edges)),
    parent_cycles: findCycles(toPairs(parents)),
    missing: strings(
      `SELECT from_id || ' -> ' || to_id FROM unresolved_dependencies WHERE closed = 0
        UNION ALL SELECT task_id || ' -> ' || parent_id FROM unresolved_parents ORDER BY 1 LIMIT 20`,
    ),
    unreadable: countUnreadable(db),
    conflicts: Number(db.get('SELECT count(*) AS n FROM tasks WHERE conflicts IS NOT NULL')?.n ?? 0),
    tasks: Number(db.get('SELECT count(*) AS n FROM tasks')?.n ?? 0),
  };
}

/** Counts the blockers of every task anew. */
export function recount(db: Database): void {
  db.write(() => writeInBulk(db, () => undefined));
}

function toPairs(rows: readonly Record<string, unknown>[]): [string, string][] {
  return rows.map((row) => [row.a as string, row.b as string]);
}

import { encodeRecord } from '#domain/record-codec.ts';
import { isDeleted } from '#domain/task-record.ts';
import { isForgeError } from '#kernel/errors.ts';
import type { Database, Row } from './database.ts';
import { readSharedBirths } from './fold-facts.ts';
import { moveKey, type ReplicaContent } from './read-replica.ts';
import { decodeReplicaLine, encodeReplicaLine } from './replica-lines.ts';
import { lineOf } from './row-to-line.ts';
import { salvageRow, type SalvagedRow } from './salvage-row.ts';
import { isNumber } from './store-facts.ts';

/** How the rows of a database differ from what its replica says. */
export interface RowDifferences {
  /** The ids of tasks whose rows cannot be read, or not all of them. */
  readonly unreadable: readonly string[];
  /** The ids of tasks whose rows say what the replica does not know: they were changed or added by SQL. */
  readonly changed: readonly string[];
  /** What would tell the replica of `changed`. */
  readonly lines: readonly string[];
  /** What can be read nowhere, in words: whole rows, and values of others. */
  readonly lost: readonly string[];
}

/** Looks at every task. `is_whole`: all tables and columns are there. */
export function compareRows(
  db: Database,
  { newest }: ReplicaContent,
  { is_whole }: { readonly is_whole: boolean },
): RowDifferences {
  const unreadable: string[] = [];
  const changed: string[] = [];
  const lines: string[] = [];
  const lost: string[] = [];
  for (const { id, ...row } of listRows(db)) {
    const told = typeof id === 'string' ? newest.get(id) : undefined;
    const version = Number(row.version ?? 1);
    const read = typeof id === 'string' ? readRow(db, { id, version, told }, is_whole) : undefined;
    if (read === undefined || read.unreadable.length > 0) unreadable.push(String(id));
    if (read === undefined && told === undefined) lost.push(String(id));
    if (read === undefined) continue;
    if (read.lost.length > 0) lost.push(`${String(id)} (${read.lost.join(', ')})`);
    if (told !== undefined && isSame(read.line, version, told)) continue;
    changed.push(String(id));
    lines.push(encodeReplicaLine(read.line, { version, fence: Number(row.fence ?? 0) }));
  }
  return { unreadable, changed, lines, lost };
}

/** What the replica has and the database has not, in words: rows were deleted by SQL. */
export function listMissing(db: Database, content: ReplicaContent): string[] {
  const ids = (table: string): Set<string> =>
    new Set(db.all(`SELECT id FROM ${table}`).map(({ id }) => String(id)));
  const tasks = ids('tasks');
  const deleted = ids('deleted_tasks');
  const moves = new Set<string>();
  for (const row of db.each('SELECT * FROM transitions')) moves.add(keyOf(row));
  const { newest, ahead } = content;
  const gone = [...newest].filter(([id]) => !tasks.has(id) && !deleted.has(id) && !ahead.has(id));
  const lost = [...content.moves].filter(
    ([key, id]) => !moves.has(key) && (tasks.has(id) || deleted.has(id)) && !ahead.has(id),
  );
  if (gone.length + lost.length === 0) return [];
  // Tasks that were told apart went on under other names.
  const births = readBirths(db);
  const missing = gone.flatMap(([id, line]) => {
    const standing = births.has(id) ? undefined : standingOf(line);
    return standing === undefined ? [] : [standing === 'deleted' ? `the deletion of ${id}` : id];
  });
  const moved = new Set(lost.flatMap(([, id]) => (births.has(id) ? [] : [`moves of ${id}`])));
  return [...missing.toSorted(), ...[...moved].toSorted()];
}

export function keyOf(row: Row): string {
  const { task_id, created_at, from_state, to_state, triggered_by } = row;
  return moveKey(String(task_id), String(created_at), {
    from_state: String(from_state),
    to_state: String(to_state),
    triggered_by: String(triggered_by),
  });
}

/** The replica may be ahead of the database; then what it says comes later. */
export function isSame(line: string, version: number, told: string): boolean {
  const end = told.lastIndexOf(LOCAL);
  if (end > 0 && `${told.slice(0, end)}}` === line) return true;
  try {
    const { record, numbers } = decodeReplicaLine(told);
    return (numbers?.version ?? 0) > version || encodeRecord(record) === line;
  } catch (error) {
    // A line that cannot be read says nothing.
    if (!isForgeError(error)) throw error;
    return false;
  }
}

const LOCAL = ',"_local":[';

/** Numbers that make no sense are left out, and so are those whose column is gone. */
function listRows(db: Database): Row[] {
  const number = (name: string): string =>
    `iif(${isNumber(name)} AND ${name} >= 0, ${name}, NULL) AS ${name}`;
  try {
    return db.all(`SELECT id, ${number('version')}, ${number('fence')} FROM tasks ORDER BY id`);
  } catch {
    return db.all('SELECT id FROM tasks');
  }
}

/** By the codec where the row is as it should be. */
function readRow(
  db: Database,
  row: { id: string; version: number; told: string | undefined },
  is_whole: boolean,
): SalvagedRow | undefined {
  if (is_whole) {
    try {
      return { line: lineOf(db, row.id), unreadable: [], lost: [] };
    } catch (error) {
      if (!isForgeError(error)) throw error;
    }
  }
  return salvageRow(db, row);
}

/** None where deleted tasks cannot be read. */
function readBirths(db: Database): ReadonlySet<string> {
  try {
    return readSharedBirths(db);
  } catch {
    return new Set();
  }
}

/** Undefined for a line that cannot be read: it is no task. */
function standingOf(line: string): 'deleted' | 'alive' | undefined {
  try {
    return isDeleted(decodeReplicaLine(line).record) ? 'deleted' : 'alive';
  } catch {
    return undefined;
  }
}

import { encodeRecord } from '#domain/record-codec.ts';
import { isDeleted } from '#domain/task-record.ts';
import { isForgeError } from '#kernel/errors.ts';
import type { Database } from './database.ts';
import { quickId, readSharedBirths } from './fold-lines.ts';
import { decodeReplicaLine, encodeReplicaLine } from './replica-lines.ts';
import type { Replica } from './replica.ts';
import { lineOf } from './row-to-line.ts';

/** How the rows of a database differ from what its replica says; ids. */
export interface RowDifferences {
  /** The replica has them, and the database does not: somebody deleted rows by SQL. */
  readonly missing: readonly string[];
  /** Their rows cannot be read. */
  readonly unreadable: readonly string[];
  /** Their rows say something else, which the replica does not know: somebody changed or added them by SQL. */
  readonly changed: readonly string[];
  /** What would tell the replica of `changed`. */
  readonly lines: readonly string[];
  /** Where the last whole line of the replica ends. */
  readonly end: number;
}

/** Looks at every task. What the replica has beyond the database (a crash) is no difference: it is joined in. */
export function compareWithReplica(db: Database, replica: Replica): RowDifferences {
  const newest = new Map<string, string>();
  let end = 0;
  for (const line of replica.size() === 0 ? [] : replica.lines(0)) {
    const id = quickId(line.text) ?? slowId(line.text);
    if (id !== undefined) newest.set(id, line.text);
    end = line.end;
  }
  const unreadable: string[] = [];
  const changed: string[] = [];
  const lines: string[] = [];
  const ids = new Set<string>();
  for (const row of db.all('SELECT id, version, fence FROM tasks ORDER BY id')) {
    const id = String(row.id);
    ids.add(id);
    const told = newest.get(id);
    const line = tryLine(db, id);
    if (line === undefined) unreadable.push(id);
    else if (told === undefined || !isSame(line, Number(row.version), told)) {
      changed.push(id);
      lines.push(encodeReplicaLine(line, { version: Number(row.version), fence: Number(row.fence) }));
    }
  }
  return { missing: listMissing(db, newest, ids), unreadable, changed, lines, end };
}

/** Of a line that another program wrote; undefined for lines that are no tasks, or cannot be read. */
function slowId(line: string): string | undefined {
  if (!line.includes('"id":')) return undefined;
  try {
    return decodeReplicaLine(line).record.id;
  } catch (error) {
    if (!isForgeError(error)) throw error;
    return undefined;
  }
}

/** A record of its own codec, or nothing where the row does not give one. */
function tryLine(db: Database, id: string): string | undefined {
  try {
    return lineOf(db, id);
  } catch (error) {
    if (error instanceof SyntaxError || error instanceof TypeError || isForgeError(error)) return undefined;
    throw error;
  }
}

const LOCAL = ',"_local":[';

/** The replica may be ahead of the database; then what it says comes later. */
function isSame(line: string, version: number, told: string): boolean {
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

function listMissing(db: Database, newest: ReadonlyMap<string, string>, ids: ReadonlySet<string>): string[] {
  const deleted = new Set(db.all('SELECT id FROM deleted_tasks').map(({ id }) => String(id)));
  const gone = [...newest].filter(([id]) => !ids.has(id) && !deleted.has(id));
  if (gone.length === 0) return [];
  // Tasks that were told apart went on under other names.
  const births = readSharedBirths(db);
  return gone.flatMap(([id, line]) => (births.has(id) || isDeletion(line) ? [] : [id])).toSorted();
}

/** Deletions are forgotten after a while, and lines that cannot be read are no tasks. */
function isDeletion(line: string): boolean {
  try {
    return isDeleted(decodeReplicaLine(line).record);
  } catch {
    return true;
  }
}

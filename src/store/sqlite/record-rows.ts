import type { Comment, DependencyType, Status } from '#contract/task.ts';
import {
  decodeRecord,
  encodeMetadata,
  encodeRecord,
  listDependencies,
  listLabels,
  unknownKeys,
} from '#domain/record-codec.ts';
import { encodeStamps } from '#domain/record-stamps.ts';
import { isParkedState } from '#domain/states.ts';
import { fieldValue, lastStamp, type TaskRecord } from '#domain/task-record.ts';
import { toIso } from '#kernel/clock.ts';
import { ForgeError } from '#kernel/errors.ts';
import { parseJson, type Json, type JsonObject } from '#kernel/json.ts';
import type { Database, Row, Value } from './database.ts';

export interface StoredRecord {
  readonly record: TaskRecord;
  readonly version: number;
  readonly fence: number;
  readonly open_blockers: number;
  /** The row as it is, so that an update can name only the columns that change. */
  readonly row: Row;
}

const SELECT_RECORD = 'SELECT * FROM tasks WHERE id = ?';
const SELECT_DEPENDENCIES = `SELECT to_id AS id, dep_type AS type FROM dependencies WHERE from_id = ?1
  UNION ALL SELECT to_id, dep_type FROM unresolved_dependencies WHERE from_id = ?1`;
const SELECT_COMMENTS = 'SELECT id, author, body, reply_to, created_at FROM comments WHERE task_id = ?';

const COLUMNS = [
  'title',
  'description',
  'status',
  'close_reason',
  'priority',
  'type',
  'assignee',
  'parent_id',
  'labels',
  'github_issue',
  'created_at',
  'created_by',
  'updated_at',
  'closed_at',
  'metadata',
  'state',
  'parked',
  'version',
  'fence',
  'stamps',
  'extra',
] as const;
const INSERT_RECORD = `INSERT INTO tasks (id, ${COLUMNS.join(', ')}) VALUES (?${', ?'.repeat(COLUMNS.length)})`;

/** The row and what hangs on it as one record. The row's columns are believed, also after hand-written SQL. */
export function readRecord(db: Database, id: string): StoredRecord | undefined {
  const row = db.get(SELECT_RECORD, id);
  if (row === undefined) return undefined;
  const line = {
    ...json(row.extra),
    ...pick(row, [
      'id',
      'title',
      'description',
      'status',
      'state',
      'close_reason',
      'priority',
      'type',
      'assignee',
      'parent_id',
    ]),
    ...pick(row, ['github_issue', 'created_at', 'created_by', 'updated_at', 'closed_at']),
    dependencies: db.all(SELECT_DEPENDENCIES, id) as unknown as Json,
    labels: json(row.labels) as unknown as Json,
    metadata: json(row.metadata),
    comments: db.all(SELECT_COMMENTS, id) as unknown as Json,
    ...(row.stamps !== null && { _v: json(row.stamps) }),
  } as JsonObject; // columns of the schema are all JSON values
  return {
    record: decodeRecord(line),
    version: row.version as number,
    fence: row.fence as number,
    open_blockers: row.open_blockers as number,
    row,
  };
}

/** Writes a record over what is there. Edges to tasks that are not here go to their own table. */
export function writeRecord(
  db: Database,
  before: StoredRecord | undefined,
  after: TaskRecord,
  numbers: LocalNumbers,
): void {
  const values = columnValues(after, numbers);
  if (before === undefined) db.run(INSERT_RECORD, after.id, ...values);
  else updateColumns(db, before.row, values, after.id);
  const old = before?.record;
  if (old?.dependencies !== after.dependencies) writeDependencies(db, old, after);
  if (old?.comments !== after.comments) writeComments(db, old, after);
}

/** What this store alone counts. It does not travel, but a rebuild must not start it again: an old claim would fit. */
export interface LocalNumbers {
  readonly version: number;
  readonly fence: number;
}

const LOCAL_KEY = '_local';

/**
 * A line of the local replica: the record's canonical line, and the numbers of this store in one key more. Where
 * one write has several lines, each also says how many `follow`, so that a crash cannot leave half of it.
 */
export function encodeReplicaLine(record: TaskRecord, { version, fence }: LocalNumbers, follow = 0): string {
  const group = follow === 0 ? '' : `,${follow}`;
  return `${encodeRecord(record).slice(0, -1)},"${LOCAL_KEY}":[${version},${fence}${group}]}`;
}

const FOLLOWED = new RegExp(`"${LOCAL_KEY}":\\[\\d+,\\d+,(\\d+)\\]\\}$`);

/** How many of these lines, from the first on, are whole writes; the last write may have been cut by a crash. */
export function countWholeWrites(lines: readonly string[]): number {
  const follow = (at: number): number => Number(FOLLOWED.exec(lines[at] ?? '')?.[1] ?? 0);
  let missing = follow(lines.length - 1);
  if (missing === 0) return lines.length;
  let first = lines.length - 1;
  while (first > 0 && follow(first - 1) === missing + 1) {
    first -= 1;
    missing += 1;
  }
  return first;
}

/** A line without the numbers, written by hand or by another program, has none. */
export function decodeReplicaLine(line: string): { record: TaskRecord; numbers: LocalNumbers | undefined } {
  const value = parseJson(line, 'A line of the local replica');
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new ForgeError('invalid_input', 'A line of the local replica is not an object');
  }
  const { [LOCAL_KEY]: local, ...record } = value as JsonObject;
  const [version, fence] = Array.isArray(local) ? (local as Json[]) : [];
  const counted = typeof version === 'number' && typeof fence === 'number';
  return { record: decodeRecord(record), numbers: counted ? { version, fence } : undefined };
}

/** A canonical line that the database itself keeps, of a deleted task. */
export function readLine(line: string): TaskRecord {
  return decodeRecord(parseJson(line, 'The record of a deleted task') as JsonObject);
}

/** Edges that waited for this task to appear become real ones. */
export function adoptUnresolved(db: Database, id: string): void {
  for (const edge of db.all('SELECT from_id, dep_type FROM unresolved_dependencies WHERE to_id = ?', id)) {
    db.run(
      'DELETE FROM unresolved_dependencies WHERE from_id = ? AND to_id = ? AND dep_type = ?',
      edge.from_id as string,
      id,
      edge.dep_type as string,
    );
    db.run(
      'INSERT INTO dependencies (from_id, to_id, dep_type) VALUES (?, ?, ?) ON CONFLICT DO NOTHING',
      edge.from_id as string,
      id,
      edge.dep_type as string,
    );
  }
}

/** Only what differs is set: SQLite rewrites every index whose column is named, changed or not. */
function updateColumns(db: Database, row: Row, values: readonly Value[], id: string): void {
  const changed: string[] = [];
  const changes: Value[] = [];
  for (const [at, column] of COLUMNS.entries()) {
    const value = values[at] ?? null;
    if (row[column] === value) continue;
    changed.push(`${column} = ?`);
    changes.push(value);
  }
  if (changed.length > 0) db.run(`UPDATE tasks SET ${changed.join(', ')} WHERE id = ?`, ...changes, id);
}

function columnValues(record: TaskRecord, numbers: LocalNumbers): Value[] {
  const { life } = record;
  const stamps = encodeStamps(record);
  const extra = unknownKeys(record).map((key) => [key, fieldValue(record, key)] as const);
  const scalar = (name: string): Value => fieldValue(record, name) as string | number | null; // decoded as such
  return [
    scalar('title'),
    scalar('description'),
    life.status satisfies Status,
    life.close_reason,
    scalar('priority'),
    scalar('type'),
    life.assignee,
    scalar('parent_id'),
    JSON.stringify(listLabels(record)),
    scalar('github_issue'),
    record.created_at,
    record.created_by,
    toIso(lastStamp(record)),
    life.closed_at,
    encodeMetadata(record),
    life.state,
    isParkedState(life.state) ? 1 : 0,
    numbers.version,
    numbers.fence,
    stamps === undefined ? null : JSON.stringify(stamps),
    extra.length === 0 ? null : JSON.stringify(Object.fromEntries(extra)),
  ];
}

function writeDependencies(db: Database, before: TaskRecord | undefined, after: TaskRecord): void {
  const key = (edge: { id: string; type: string }): string => `${edge.id}:${edge.type}`;
  const old = new Map(
    (before === undefined ? [] : listDependencies(before)).map((edge) => [key(edge), edge]),
  );
  const now = new Map(listDependencies(after).map((edge) => [key(edge), edge]));
  for (const [name, edge] of old) {
    if (now.has(name)) continue;
    db.run(
      'DELETE FROM dependencies WHERE from_id = ? AND to_id = ? AND dep_type = ?',
      after.id,
      edge.id,
      edge.type,
    );
    db.run(
      'DELETE FROM unresolved_dependencies WHERE from_id = ? AND to_id = ? AND dep_type = ?',
      after.id,
      edge.id,
      edge.type,
    );
  }
  for (const [name, edge] of now) {
    if (old.has(name)) continue;
    const known = db.get('SELECT 1 AS known FROM tasks WHERE id = ?', edge.id) !== undefined;
    const table = known ? 'dependencies' : 'unresolved_dependencies';
    db.run(
      `INSERT INTO ${table} (from_id, to_id, dep_type) VALUES (?, ?, ?) ON CONFLICT DO NOTHING`,
      after.id,
      edge.id,
      edge.type as DependencyType,
    );
  }
}

function writeComments(db: Database, before: TaskRecord | undefined, after: TaskRecord): void {
  const insert = `INSERT INTO comments (id, task_id, author, body, reply_to, created_at) VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`;
  for (const comment of after.comments.values() as Iterable<Comment>) {
    if (before?.comments.has(comment.id) === true) continue;
    db.run(insert, comment.id, after.id, comment.author, comment.body, comment.reply_to, comment.created_at);
  }
}

function pick(row: Row, names: readonly string[]): Record<string, unknown> {
  return Object.fromEntries(names.filter((name) => row[name] !== null).map((name) => [name, row[name]]));
}

function json(value: unknown): JsonObject {
  return value === null ? {} : (JSON.parse(value as string) as JsonObject); // written by columnValues, or checked by SQLite's users
}

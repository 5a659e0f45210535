import type { Status } from '#contract/task.ts';
import type { EncodedRecord } from '#domain/encoded-record.ts';
import {
  decodeRecord,
  encodeElements,
  encodeMetadata,
  hasConflicts,
  listLabels,
  unknownKeys,
} from '#domain/record-codec.ts';
import { LINE_FIELDS } from '#domain/line-fields.ts';
import type { LocalNumbers } from '#domain/plan-write.ts';
import { dependencyKey, fieldValue, type TaskRecord } from '#domain/task-record.ts';
import { isArchived } from '#domain/workflow-fields.ts';
import type { ForgeError } from '#kernel/errors.ts';
import { parseJson, type Json, type JsonObject } from '#kernel/json.ts';
import { readJson } from '#kernel/read-json.ts';
import { writeDependencies } from './edge-rows.ts';
import type { Database, Row, Value } from './database.ts';
import { toRebuild } from './translate-error.ts';

export interface StoredRecord {
  readonly record: TaskRecord;
  readonly version: number;
  readonly fence: number;
  readonly open_blockers: number;
  /** The row as it is, so that an update can name only the columns that change. */
  readonly row: Row;
}

/** Most tasks have neither edges nor comments: then no query looks for them. */
const SELECT_RECORD = `SELECT t.*, u.parent_id AS unresolved_parent,
    EXISTS (SELECT 1 FROM dependencies WHERE from_id = t.id)
      OR EXISTS (SELECT 1 FROM unresolved_dependencies WHERE from_id = t.id) AS has_edges,
    EXISTS (SELECT 1 FROM comments WHERE task_id = t.id) AS has_comments
  FROM tasks t LEFT JOIN unresolved_parents u ON u.task_id = t.id WHERE t.id = ?`;
const SELECT_DEPENDENCIES = `SELECT to_id AS id, dep_type AS type FROM dependencies WHERE from_id = ?1
  UNION ALL SELECT to_id, dep_type FROM unresolved_dependencies WHERE from_id = ?1`;
const SELECT_COMMENTS =
  'SELECT id, author, body, reply_to, created_at, extra FROM comments WHERE task_id = ?';

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
  'edge_extra',
  'conflicts',
  'digest',
] as const;
/** After the id come the values in the order of COLUMNS. */
export const INSERT_RECORD = `INSERT INTO tasks (id, ${COLUMNS.join(', ')}) VALUES (?${', ?'.repeat(COLUMNS.length)})`;

/** The row and what hangs on it as one record. The row's columns are believed, also after hand-written SQL. */
export function readRecord(db: Database, id: string): StoredRecord | undefined {
  const row = db.get(SELECT_RECORD, id);
  if (row === undefined) return undefined;
  return {
    record: decodeRow(db, row),
    version: row.version as number,
    fence: row.fence as number,
    open_blockers: row.open_blockers as number,
    row,
  };
}

function decodeRow(db: Database, row: Row): TaskRecord {
  const id = row.id as string;
  const edges = row.has_edges === 1 ? db.all(SELECT_DEPENDENCIES, id) : [];
  const comments = row.has_comments === 1 ? db.all(SELECT_COMMENTS, id) : [];
  try {
    return rowToRecord(row, edges, comments);
  } catch (error) {
    throw toUnreadable(db, id, error);
  }
}

/** Nothing that Forge wrote is like that, so the person who meets it has to hear of the doctor. */
export function toUnreadable(db: Database, id: string, error: unknown): ForgeError {
  const why = error instanceof Error ? error.message : String(error);
  return toRebuild(db.path, `the row of ${id} cannot be read: ${why}`, error);
}

/** `row` is all of `tasks` and `unresolved_parent`; the others are the task's edges and comments. */
export function rowToRecord(row: Row, edges: readonly Row[], comments: readonly Row[]): TaskRecord {
  return decodeRecord({
    ...json(row.extra),
    ...pick(row, LINE_FIELDS),
    ...(row.parent_id === null &&
      row.unresolved_parent !== null && { parent_id: row.unresolved_parent as string }),
    dependencies: withEdgeExtras(edges, row.edge_extra) as Json,
    labels: json(row.labels) as unknown as Json,
    metadata: json(row.metadata),
    comments: comments.map(withExtra) as Json,
    ...(row.conflicts !== null && { conflicts: json(row.conflicts) }),
    ...(row.stamps !== null && { _v: json(row.stamps) }),
  } as JsonObject); // columns of the schema are all JSON values
}

/**
 * Writes a record over what is there. References to tasks that are not here go to tables of their own, unless this is
 * one of many writes, after which that is settled for all of them (writeInBulk).
 */
export function writeRecord(
  db: Database,
  before: StoredRecord | undefined,
  after: EncodedRecord,
  { bulk = false, ...numbers }: LocalNumbers & { readonly bulk?: boolean | undefined },
): void {
  const { record } = after;
  const lost = !bulk && hasLostParent(db, before, record);
  const values = columnValues(after, { ...numbers, parked: db.parkedStates.has(record.life.state) }, lost);
  if (before === undefined) db.run(INSERT_RECORD, record.id, ...values);
  else updateColumns(db, before.row, values, record.id);
  const old = before?.record;
  writeLostParent(db, before, record, lost);
  if (old?.dependencies !== record.dependencies) writeDependencies(db, old, record);
  if (old?.comments !== record.comments) writeComments(db, old, record);
}

/** A canonical line that the database itself keeps, of a deleted task. */
export function readLine(line: string): TaskRecord {
  return decodeRecord(parseJson(line, 'The record of a deleted task') as JsonObject);
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

/** In the order of COLUMNS. */
export function columnValues(
  after: EncodedRecord,
  numbers: LocalNumbers & { readonly parked: boolean },
  lostParent: boolean,
): Value[] {
  const { record, stamps, digest, updated_at } = after;
  const { life } = record;
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
    lostParent ? null : scalar('parent_id'),
    JSON.stringify(listLabels(record)),
    scalar('github_issue'),
    record.created_at,
    record.created_by,
    updated_at,
    life.closed_at,
    encodeMetadata(record),
    life.state,
    numbers.parked || isArchived(record) ? 1 : 0,
    numbers.version,
    numbers.fence,
    stamps,
    extra.length === 0 ? null : JSON.stringify(Object.fromEntries(extra)),
    encodeEdgeExtras(record),
    hasConflicts(record) ? encodeElements(record.conflicts) : null,
    digest,
  ];
}

/** The unknown keys of edges, by edge; what has none is not in it. */
function encodeEdgeExtras(record: TaskRecord): string | null {
  const extras: [string, Json][] = [];
  for (const [key, { value }] of record.dependencies.elements) {
    if (value !== undefined && value !== true) extras.push([key, value]);
  }
  return extras.length === 0 ? null : JSON.stringify(Object.fromEntries(extras));
}

function withEdgeExtras(edges: readonly Row[], extras: unknown): unknown[] {
  if (extras === null) return [...edges];
  const known = json(extras);
  return edges.map((edge) => ({
    ...edge,
    ...(known[dependencyKey(edge.id as string, edge.type as string)] as JsonObject | undefined),
  }));
}

/** Whether the parent is a task that is not here. */
function hasLostParent(db: Database, before: StoredRecord | undefined, after: TaskRecord): boolean {
  const parent = fieldValue(after, 'parent_id');
  if (typeof parent !== 'string' || parent === after.id || parent === before?.row.parent_id) return false;
  return db.get('SELECT 1 AS known FROM tasks WHERE id = ?', parent) === undefined;
}

function writeLostParent(
  db: Database,
  before: StoredRecord | undefined,
  after: TaskRecord,
  lost: boolean,
): void {
  if (lost) {
    db.run(
      'INSERT INTO unresolved_parents (task_id, parent_id) VALUES (?, ?) ON CONFLICT DO UPDATE SET parent_id = excluded.parent_id',
      after.id,
      fieldValue(after, 'parent_id') as string, // a lost parent is a text
    );
  } else if (before !== undefined && before.row.unresolved_parent !== null) {
    db.run('DELETE FROM unresolved_parents WHERE task_id = ?', after.id);
  }
}

function writeComments(db: Database, before: TaskRecord | undefined, after: TaskRecord): void {
  const insert = `INSERT INTO comments (id, task_id, author, body, reply_to, created_at, extra) VALUES (?, ?, ?, ?, ?, ?, ?)
    ON CONFLICT DO UPDATE SET task_id = excluded.task_id, author = excluded.author, body = excluded.body,
      reply_to = excluded.reply_to, created_at = excluded.created_at, extra = excluded.extra`;
  for (const comment of after.comments.values()) {
    if (before?.comments.get(comment.id) === comment) continue;
    const extra = comment.extra === undefined ? null : JSON.stringify(comment.extra);
    const { id, author, body, reply_to, created_at } = comment;
    db.run(insert, id, after.id, author, body, reply_to, created_at, extra);
  }
}

function withExtra({ extra, ...row }: Row): Record<string, unknown> {
  return extra === null ? row : { ...row, ...json(extra) };
}

function pick(row: Row, names: readonly string[]): Record<string, unknown> {
  return Object.fromEntries(names.filter((name) => row[name] !== null).map((name) => [name, row[name]]));
}

function json(value: unknown): JsonObject {
  return value === null ? {} : (readJson(value as string) as JsonObject); // written by columnValues, or checked by SQLite's users
}

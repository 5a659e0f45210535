import { encodeRecord } from '#domain/record-codec.ts';
import { isDeleted, textValue, type TaskRecord } from '#domain/task-record.ts';
import { toTask } from '#domain/to-task.ts';
import { toIso } from '#kernel/clock.ts';
import { isForgeError } from '#kernel/errors.ts';
import type { Database } from './database.ts';
import { adoptUnresolved, readLine, readRecord, writeRecord, type StoredRecord } from './record-rows.ts';
import type { Replica } from './replica.ts';

const INSERT_EVENT =
  'INSERT INTO events (type, task_id, triggered_by, created_at, data) VALUES (?, ?, ?, ?, ?)';
const SET_REPLICA_BYTES = "UPDATE store_facts SET value = ? WHERE name = 'replica_bytes'";

/**
 * Makes database and local replica agree, under the write lock; returns the size they agree on.
 * A longer replica holds writes that a crash kept from the database: they are applied. A shorter one was cut
 * or removed: it is written anew from the database.
 */
export function replayReplica(db: Database, replica: Replica, now: number): number {
  const held = Number(db.get("SELECT value FROM store_facts WHERE name = 'replica_bytes'")?.value ?? 0);
  const size = replica.size();
  if (size === held) return held;
  if (size < held) return setBytes(db, replica.rewrite(allLines(db)));
  const { lines, end } = replica.readFrom(held);
  if (end !== size) replica.truncate(end);
  const newest = new Map<string, TaskRecord>();
  const alive = new Map<string, TaskRecord>();
  for (const line of lines) {
    const record = readOrReport(db, line, now);
    if (record === undefined) continue;
    newest.delete(record.id);
    newest.set(record.id, record);
    if (!isDeleted(record)) alive.set(record.id, record);
  }
  // Children may stand before their parents; the foreign key is checked at the end.
  for (const record of newest.values()) applyRecord(db, record, { now, alive: alive.get(record.id) });
  return setBytes(db, end);
}

/** One damaged line must not keep the rest from being read; it stays in the file and in the feed. */
function readOrReport(db: Database, line: string, now: number): TaskRecord | undefined {
  try {
    return readLine(line);
  } catch (error) {
    if (!isForgeError(error)) throw error;
    db.run(
      INSERT_EVENT,
      'replica.line_unreadable',
      null,
      'system:replay',
      toIso(now),
      JSON.stringify({ line, why: error.message }),
    );
    return undefined;
  }
}

/** `alive` is what the lines say the task was before its deletion; that can be restored. */
function applyRecord(
  db: Database,
  record: TaskRecord,
  { now, alive }: { readonly now: number; readonly alive: TaskRecord | undefined },
): void {
  const before = readRecord(db, record.id);
  if (isDeleted(record)) {
    const deleted_at = textValue(record, 'deleted_at');
    db.run('DELETE FROM tasks WHERE id = ?', record.id);
    // What an older deletion kept for its undo is not what this one deleted.
    const content = alive ?? before?.record;
    db.run(
      `INSERT INTO deleted_tasks (id, deleted_at, line, undo) VALUES (?, ?, ?, ?) ON CONFLICT DO UPDATE SET
        undo = CASE WHEN line = excluded.line THEN undo ELSE excluded.undo END,
        deleted_at = excluded.deleted_at, line = excluded.line`,
      record.id,
      deleted_at,
      encodeRecord(record),
      content === undefined ? null : encodeUndo(content, before),
    );
  } else {
    if (before !== undefined && encodeRecord(before.record) === encodeRecord(record)) return;
    const changed = before === undefined || before.record.life.assignee !== record.life.assignee;
    db.run('DELETE FROM deleted_tasks WHERE id = ?', record.id);
    writeRecord(db, before, record, {
      version: (before?.version ?? 0) + 1,
      fence: (before?.fence ?? 0) + (changed ? 1 : 0),
    });
    if (before === undefined) adoptUnresolved(db, record.id);
  }
  db.run(
    INSERT_EVENT,
    isDeleted(record) ? 'task.deleted' : before === undefined ? 'task.created' : 'task.updated',
    record.id,
    'system:replay',
    toIso(now),
    JSON.stringify({ task: toTask(record, (before?.version ?? 0) + 1), changed: [], replayed: true }),
  );
}

/** What hung on the task was taken from it by the same deletion, in lines of its own; only its content is kept. */
function encodeUndo(content: TaskRecord, before: StoredRecord | undefined): string {
  const numbers = { version: before?.version ?? 1, fence: before?.fence ?? 0 };
  return JSON.stringify({ before: encodeRecord(content), ...numbers, children: [], dependents: [] });
}

function* allLines(db: Database): Generator<string> {
  for (const row of db.all('SELECT id FROM tasks ORDER BY id')) {
    const stored = readRecord(db, row.id as string);
    if (stored !== undefined) yield encodeRecord(stored.record);
  }
  for (const row of db.all('SELECT line FROM deleted_tasks ORDER BY id')) yield row.line as string;
}

function setBytes(db: Database, size: number): number {
  db.run(SET_REPLICA_BYTES, size);
  return size;
}

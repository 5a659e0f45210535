import { encodeRecord } from '#domain/record-codec.ts';
import { isDeleted, textValue, type TaskRecord } from '#domain/task-record.ts';
import { toTask } from '#domain/to-task.ts';
import { toIso } from '#kernel/clock.ts';
import { isForgeError } from '#kernel/errors.ts';
import type { Database } from './database.ts';
import { adoptUnresolved, readLine, readRecord, writeRecord } from './record-rows.ts';
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
  for (const line of lines) {
    const record = readOrReport(db, line, now);
    if (record === undefined) continue;
    newest.delete(record.id);
    newest.set(record.id, record);
  }
  // Children may stand before their parents; the foreign key is checked at the end.
  for (const record of newest.values()) applyRecord(db, record, now);
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

function applyRecord(db: Database, record: TaskRecord, now: number): void {
  const before = readRecord(db, record.id);
  if (isDeleted(record)) {
    const deleted_at = textValue(record, 'deleted_at');
    db.run('DELETE FROM tasks WHERE id = ?', record.id);
    db.run(
      'INSERT INTO deleted_tasks (id, deleted_at, line) VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET deleted_at = excluded.deleted_at, line = excluded.line',
      record.id,
      deleted_at,
      encodeRecord(record),
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

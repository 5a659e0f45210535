import { encodeRecord } from '#domain/record-codec.ts';
import { fieldValue, isDeleted, textValue, type TaskRecord } from '#domain/task-record.ts';
import { toTask } from '#domain/to-task.ts';
import { toIso } from '#kernel/clock.ts';
import { isForgeError } from '#kernel/errors.ts';
import type { Database } from './database.ts';
import {
  adoptUnresolved,
  countWholeWrites,
  decodeReplicaLine,
  encodeReplicaLine,
  readLine,
  readRecord,
  writeRecord,
  type LocalNumbers,
  type StoredRecord,
} from './record-rows.ts';
import type { Replica } from './replica.ts';

const INSERT_EVENT =
  'INSERT INTO events (type, task_id, triggered_by, created_at, data) VALUES (?, ?, ?, ?, ?)';
const SET_REPLICA_BYTES = "UPDATE store_facts SET value = ? WHERE name = 'replica_bytes'";

type ReplicaLine = ReturnType<typeof decodeReplicaLine>;

/**
 * Makes database and local replica agree, under the write lock; returns the size they agree on.
 * A longer replica holds writes that a crash kept from the database: they are applied. A shorter one was cut
 * or removed: it is written anew from the database.
 */
export function replayReplica(db: Database, replica: Replica, now: number): number {
  const held = heldBytes(db);
  const size = replica.size();
  if (size === held) return held;
  if (size < held) return setBytes(db, replica.rewrite(allLines(db)));
  const { lines, end } = wholeWrites(replica.readFrom(held));
  if (end !== size) replica.truncate(end);
  const newest = new Map<string, ReplicaLine>();
  const alive = new Map<string, TaskRecord>();
  for (const line of lines) {
    const read = readOrReport(db, line, now);
    if (read === undefined) continue;
    const { record } = read;
    newest.delete(record.id);
    newest.set(record.id, read);
    if (!isDeleted(record)) alive.set(record.id, record);
  }
  // Children may stand before their parents; the foreign key is checked at the end.
  for (const line of newest.values()) applyLine(db, line, { now, alive: alive.get(line.record.id) });
  dropLostParents(
    db,
    [...newest.values()].map((line) => line.record),
  );
  return setBytes(db, end);
}

/** Without the lines of a write that a crash cut short: it was never acknowledged. */
function wholeWrites({ lines, end }: { lines: string[]; end: number }): { lines: string[]; end: number } {
  const whole = countWholeWrites(lines);
  if (whole === lines.length) return { lines, end };
  const cut = lines.slice(whole).reduce((bytes, line) => bytes + Buffer.byteLength(line) + 1, 0);
  return { lines: lines.slice(0, whole), end: end - cut };
}

/** How much of the replica the database holds. */
export function heldBytes(db: Database): number {
  return Number(db.get("SELECT value FROM store_facts WHERE name = 'replica_bytes'")?.value ?? 0);
}

/** One damaged line must not keep the rest from being read; it stays in the file and in the feed. */
function readOrReport(db: Database, line: string, now: number): ReplicaLine | undefined {
  try {
    return decodeReplicaLine(line);
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
function applyLine(
  db: Database,
  { record, numbers: written }: ReplicaLine,
  { now, alive }: { readonly now: number; readonly alive: TaskRecord | undefined },
): void {
  const before = readRecord(db, record.id);
  const numbers = decideNumbers(before, record, written);
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
      content === undefined ? null : encodeUndo(content, numbers),
    );
  } else {
    if (before !== undefined && encodeRecord(before.record) === encodeRecord(record)) return;
    db.run('DELETE FROM deleted_tasks WHERE id = ?', record.id);
    writeRecord(db, before, record, numbers);
    if (before === undefined) adoptUnresolved(db, record.id);
  }
  db.run(
    INSERT_EVENT,
    isDeleted(record) ? 'task.deleted' : before === undefined ? 'task.created' : 'task.updated',
    record.id,
    'system:replay',
    toIso(now),
    JSON.stringify({ task: toTask(record, numbers.version), changed: [], replayed: true }),
  );
}

/** A parent whose line was damaged must not keep its children out. */
function dropLostParents(db: Database, records: Iterable<TaskRecord>): void {
  const drop = 'UPDATE tasks SET parent_id = NULL WHERE id = ? AND parent_id NOT IN (SELECT id FROM tasks)';
  for (const record of records) if (fieldValue(record, 'parent_id') !== null) db.run(drop, record.id);
}

/** Never lower than what the line says or the row has: a number that was given out once must not fit again. */
function decideNumbers(
  before: StoredRecord | undefined,
  record: TaskRecord,
  written: LocalNumbers | undefined,
): LocalNumbers {
  const sameOwner = (before?.record.life.assignee ?? null) === record.life.assignee;
  return {
    version: Math.max(written?.version ?? 0, (before?.version ?? 0) + 1),
    fence: Math.max(written?.fence ?? 0, (before?.fence ?? 0) + (sameOwner ? 0 : 1)),
  };
}

/** What hung on the task was taken from it by the same deletion, in lines of its own; only its content is kept. */
function encodeUndo(content: TaskRecord, { version, fence }: LocalNumbers): string {
  return JSON.stringify({ before: encodeRecord(content), version, fence, children: [], dependents: [] });
}

function* allLines(db: Database): Generator<string> {
  for (const row of db.all('SELECT id FROM tasks ORDER BY id')) {
    const stored = readRecord(db, row.id as string);
    if (stored !== undefined) yield encodeReplicaLine(stored.record, stored);
  }
  for (const row of db.all('SELECT line, undo FROM deleted_tasks ORDER BY id')) {
    const numbers = JSON.parse((row.undo as string | null) ?? '{}') as Partial<LocalNumbers>;
    yield encodeReplicaLine(readLine(row.line as string), {
      version: numbers.version ?? 1,
      fence: numbers.fence ?? 0,
    });
  }
}

function setBytes(db: Database, size: number): number {
  db.run(SET_REPLICA_BYTES, size);
  return size;
}

import { undoElsewhere } from '#domain/decide-delete.ts';
import { numbersOfDeleted, planApplication, type KnownTask } from '#domain/plan-application.ts';
import type { LocalNumbers } from '#domain/plan-write.ts';
import { isDeleted, textValue, type TaskRecord } from '#domain/task-record.ts';
import { toIso } from '#kernel/clock.ts';
import type { Database } from './database.ts';
import { adoptUnresolved, removeRow } from './edge-rows.ts';
import { insertTaskEvents } from './log-rows.ts';
import { toEncoded, type EncodedRecord } from '#domain/encoded-record.ts';
import { readLine, readRecord, toUnreadable, writeRecord, type StoredRecord } from './record-rows.ts';

/** A task as the store holds it, deleted or not. */
export interface Known extends KnownTask {
  /** Undefined for one that is not here. */
  readonly stored: StoredRecord | undefined;
}

export function readKnown(db: Database, id: string): Known | undefined {
  const stored = readRecord(db, id);
  if (stored === undefined) return readDeleted(db, id);
  return { record: stored.record, numbers: stored, is_here: true, stored };
}

export function readDeleted(db: Database, id: string): Known | undefined {
  const row = db.get('SELECT line, undo FROM deleted_tasks WHERE id = ?', id);
  if (row === undefined) return undefined;
  try {
    const undo = JSON.parse((row.undo as string | null) ?? '{}') as Partial<LocalNumbers>;
    return {
      record: readLine(row.line as string),
      numbers: numbersOfDeleted(undo),
      is_here: false,
      stored: undefined,
    };
  } catch (error) {
    throw toUnreadable(db, id, error);
  }
}

export interface Application {
  readonly now: number;
  readonly triggered_by: string;
  /** What the task was before its deletion, where the store does not know it. */
  readonly alive?: TaskRecord | undefined;
  /** At least these: a number that was given out once must not fit again. */
  readonly numbers?: LocalNumbers | undefined;
  /** Left out where so many change at once that one event tells it. */
  readonly silent?: boolean;
  /** One of the many of writeInBulk. */
  readonly bulk?: boolean;
  /** The record's line where it is known already. */
  readonly encoded?: EncodedRecord | undefined;
}

/**
 * Puts a record in the place of what was known of its task: the end of every fold and replay. `record` is the join,
 * so nothing of `before` is lost by it. Returns the numbers the task has now, and its line.
 */
export function applyRecord(
  db: Database,
  before: Known | undefined,
  record: TaskRecord,
  how: Application,
): { numbers: LocalNumbers; encoded: EncodedRecord } {
  const encoded = how.encoded ?? toEncoded(record);
  const plan = planApplication(before, record, { least: how.numbers, workflow: db.workflow });
  const { numbers } = plan;
  if (isDeleted(record)) {
    writeDeleted(db, encoded, how.alive ?? liveRecord(before), numbers);
  } else {
    if (before?.stored === undefined && before !== undefined) {
      db.run('DELETE FROM deleted_tasks WHERE id = ?', record.id);
    }
    writeRecord(db, before?.stored, encoded, { ...numbers, bulk: how.bulk });
    if (before?.stored === undefined && how.bulk !== true) adoptUnresolved(db, record.id);
  }
  if (how.silent !== true) {
    const told = { task_id: record.id, triggered_by: how.triggered_by, created_at: toIso(how.now) };
    insertTaskEvents(db, plan.toEvents(), told);
  }
  return { numbers, encoded };
}

/** Takes a task away under its old name, because it goes on under another. */
export function forgetName(db: Database, id: string): void {
  removeRow(db, id);
  db.run('DELETE FROM deleted_tasks WHERE id = ?', id);
}

function liveRecord(before: Known | undefined): TaskRecord | undefined {
  return before?.stored?.record;
}

function writeDeleted(
  db: Database,
  encoded: EncodedRecord,
  content: TaskRecord | undefined,
  numbers: LocalNumbers,
): void {
  const { record, line, digest } = encoded;
  removeRow(db, record.id);
  const undo = content === undefined ? null : JSON.stringify(undoElsewhere(content, numbers));
  // What an older deletion kept for its undo is not what this one deleted.
  db.run(
    `INSERT INTO deleted_tasks (id, deleted_at, line, undo, digest) VALUES (?, ?, ?, ?, ?) ON CONFLICT DO UPDATE SET
      undo = coalesce(excluded.undo, undo), deleted_at = excluded.deleted_at, line = excluded.line,
      digest = excluded.digest`,
    record.id,
    textValue(record, 'deleted_at'),
    line,
    undo,
    digest,
  );
  db.run('UPDATE unresolved_dependencies SET closed = 1 WHERE to_id = ?', record.id);
}

import type { Task } from '#contract/task.ts';
import { toTriggeredBy } from '#domain/actor.ts';
import type { TaskRecord } from '#domain/task-record.ts';
import { toTask } from '#domain/to-task.ts';
import { toIso } from '#kernel/clock.ts';
import type { Writer } from '../store.ts';
import type { Database } from './database.ts';
import {
  readRecord,
  encodeReplicaLine,
  type LocalNumbers,
  writeRecord,
  type StoredRecord,
} from './record-rows.ts';
import { heldBytes, replayReplica } from './replay.ts';
import type { Replica } from './replica.ts';

const UPDATE_REPLICA_BYTES = "UPDATE store_facts SET value = ? WHERE name = 'replica_bytes'";
const INSERT_EVENT =
  'INSERT INTO events (type, task_id, triggered_by, created_at, data) VALUES (?, ?, ?, ?, ?)';
const INSERT_TRANSITION = `INSERT INTO transitions
  (task_id, from_state, to_state, from_status, to_status, reason, triggered_by, created_at, event_seq) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`;

/** What a change is called in the feed, and what more is known of it. */
export interface Happening {
  readonly type: string;
  readonly changed: readonly string[];
  readonly reason?: string | null;
  readonly more?: Readonly<Record<string, unknown>>;
}

export interface Saved {
  readonly task: Task;
  readonly fence: number;
}

/** One mutation: rows, event, transition and replica line, all or nothing. */
export interface WriteTransaction {
  readonly db: Database;
  readonly by: Writer;
  read(id: string): StoredRecord;
  /** Stores a changed record with a version bump; an unchanged one only gives the task as it is. */
  save(before: StoredRecord | undefined, after: TaskRecord, happening: Happening): Saved;
  /** Puts a row back that was deleted; its numbers go on from where they were. */
  restore(after: TaskRecord, numbers: LocalNumbers, happening: Happening): Saved;
  /** For changes that leave no row behind: deletion. */
  saveLine(record: TaskRecord, numbers: LocalNumbers): void;
  emit(taskId: string, happening: Happening, task: unknown): number;
}

export function writeInTransaction<T>(
  store: { db: Database; replica: Replica },
  by: Writer,
  work: (tx: WriteTransaction) => T,
): T {
  const { db, replica } = store;
  let appended: { from: number } | undefined;
  try {
    return db.write(() => {
      const offset = replayReplica(db, replica, by.now);
      const written: Written[] = [];
      const result = work(openTransaction(db, by, written));
      if (written.length > 0) {
        appended = { from: offset };
        const lines = written.map(({ record, numbers }, at) =>
          encodeReplicaLine(record, numbers, written.length - 1 - at),
        );
        db.run(UPDATE_REPLICA_BYTES, replica.append(offset, lines));
      }
      return result;
    });
  } catch (error) {
    // The database does not hold it, so the replica must not either, or the next open would bring it back.
    if (appended !== undefined) takeBack(store, appended.from);
    throw error;
  }
}

/** The lock is gone with the transaction, so others may have written since: then what stands there is theirs. */
function takeBack({ db, replica }: { db: Database; replica: Replica }, from: number): void {
  try {
    db.write(() => {
      if (heldBytes(db) === from && replica.size() > from) replica.truncate(from);
    });
  } catch {
    // The first error is the one to tell.
  }
}

/** What becomes a line of the replica. */
interface Written {
  readonly record: TaskRecord;
  readonly numbers: LocalNumbers;
}

function openTransaction(db: Database, by: Writer, written: Written[]): WriteTransaction {
  const triggered_by = toTriggeredBy(by.actor);
  const emit = (taskId: string, happening: Happening, task: unknown): number => {
    const data = JSON.stringify({ task, changed: happening.changed, ...happening.more });
    return db.run(INSERT_EVENT, happening.type, taskId, triggered_by, toIso(by.now), data).last_row_id;
  };
  const write = (
    before: StoredRecord | undefined,
    after: TaskRecord,
    numbers: LocalNumbers,
    happening: Happening,
  ) => {
    writeRecord(db, before, after, numbers);
    written.push({ record: after, numbers });
    const task = toTask(after, numbers.version);
    return { task, fence: numbers.fence, seq: emit(after.id, happening, task) };
  };
  return {
    db,
    by,
    emit,
    restore: (after, { version, fence }, happening) =>
      write(undefined, after, { version: version + 1, fence: fence + 1 }, happening),
    read(id) {
      const stored = readRecord(db, id);
      if (stored === undefined) throw new Error(`task ${id} vanished inside its own transaction`);
      return stored;
    },
    saveLine: (record, numbers) => void written.push({ record, numbers }),
    save(before, after, happening) {
      if (before?.record === after) return { task: toTask(after, before.version), fence: before.fence };
      const version = (before?.version ?? 0) + 1;
      const fence = (before?.fence ?? 0) + (changesOwner(before?.record, after) ? 1 : 0);
      const { task, seq } = write(before, after, { version, fence }, happening);
      const from = before?.record.life;
      if (from !== undefined && (from.state !== after.life.state || from.n !== after.life.n)) {
        const { life } = after;
        const reason = happening.reason ?? null;
        db.run(
          INSERT_TRANSITION,
          after.id,
          from.state,
          life.state,
          from.status,
          life.status,
          reason,
          triggered_by,
          toIso(by.now),
          seq,
        );
      }
      return { task, fence };
    },
  };
}

/** Each owner's time with a task has a number of its own; a write that carries an old one is refused. */
function changesOwner(before: TaskRecord | undefined, after: TaskRecord): boolean {
  return (before?.life.assignee ?? null) !== after.life.assignee;
}

import type { Move, PlannedEvent } from '#domain/plan-write.ts';
import { toIso } from '#kernel/clock.ts';
import type { Database } from './database.ts';

const INSERT_EVENT =
  'INSERT INTO events (type, task_id, triggered_by, created_at, data) VALUES (?, ?, ?, ?, ?)';
const INSERT_TRANSITION = `INSERT INTO transitions
  (task_id, created_at, from_state, to_state, triggered_by, from_status, to_status, reason, rejection, event_seq)
  VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`;

export interface NewEvent {
  readonly type: string;
  readonly task_id: string | null;
  readonly triggered_by: string;
  readonly created_at: string;
  readonly data: unknown;
}

/** Returns the event's number. */
export function insertEvent(db: Database, event: NewEvent): number {
  const { type, task_id, triggered_by, created_at, data } = event;
  return db.run(INSERT_EVENT, type, task_id, triggered_by, created_at, JSON.stringify(data)).last_row_id;
}

/** Returns the number of the first. */
export function insertTaskEvents(
  db: Database,
  events: readonly [PlannedEvent, ...PlannedEvent[]],
  told: Pick<NewEvent, 'task_id' | 'triggered_by' | 'created_at'>,
): number {
  const [first, ...more] = events;
  const seq = insertEvent(db, { ...told, ...first });
  for (const event of more) insertEvent(db, { ...told, ...event });
  return seq;
}

export function newestEvent(db: Database): number {
  return Number(db.get('SELECT max(seq) AS seq FROM events')?.seq ?? 0);
}

/** The first that was not forgotten; 1 where there is none yet. */
export function oldestEvent(db: Database): number {
  return Number(db.get('SELECT min(seq) AS seq FROM events')?.seq ?? 1);
}

/** `at` is the stamp of the life that the move led to. A move that is known already stays as it is; true when it is new. */
export function insertTransition(
  db: Database,
  taskId: string,
  at: number,
  move: Move,
  eventSeq: number | null,
): boolean {
  const { changes } = db.run(
    INSERT_TRANSITION,
    taskId,
    toIso(at),
    move.from_state,
    move.to_state,
    move.triggered_by,
    move.from_status,
    move.to_status,
    move.reason,
    move.rejection,
    eventSeq,
  );
  return changes > 0;
}

/** The state that a task stood in when it was closed last. */
export function readClosedFrom(db: Database, taskId: string): string | undefined {
  const sql = `SELECT from_state FROM transitions WHERE task_id = ? AND to_status = 'closed'
    ORDER BY created_at DESC LIMIT 1`;
  const from = db.get(sql, taskId)?.from_state;
  return typeof from === 'string' ? from : undefined;
}

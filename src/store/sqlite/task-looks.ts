import type { Status } from '#contract/task.ts';
import type { NumberedEntry, TaskHead, TaskLooks, TaskPlace } from '../task-looks.ts';
import type { Database, Row } from './database.ts';
import { rowToEntry } from './report-queries.ts';
import { resolveTaskId } from './resolve-id.ts';
import { toState } from './task-rows.ts';

/** By primary key. */
export function readPlace(db: Database, ref: string): TaskPlace {
  const id = resolveTaskId(db, ref);
  const sql = 'SELECT status, state, assignee, close_reason, version FROM tasks WHERE id = ?';
  const row = db.get(sql, id) as Row; // just resolved
  return {
    id,
    status: row.status as Status,
    state: toState(row, db),
    assignee: row.assignee as string | null,
    close_reason: row.close_reason as string | null,
    version: row.version as number,
  };
}

/** By primary key. Of a deleted task nothing but its id is told. */
export function listHeads(db: Database, ids: readonly string[]): TaskHead[] {
  const sql = `SELECT id, title, status, assignee, 0 AS deleted FROM tasks
      WHERE id IN (SELECT value FROM json_each(?1))
    UNION ALL SELECT id, '', 'closed', NULL, 1 FROM deleted_tasks WHERE id IN (SELECT value FROM json_each(?1))`;
  return db.all(sql, JSON.stringify(ids)).map((row) => ({
    id: row.id as string,
    title: row.title as string,
    status: row.status as Status,
    assignee: row.assignee as string | null,
    deleted: row.deleted === 1,
  }));
}

/** Walks the primary key of events behind the number: what came since the last look. */
export function hasNewsOf(db: Database, id: string, after: number): boolean {
  const sql = 'SELECT 1 AS found FROM events WHERE seq > ? AND (task_id = ? OR task_id IS NULL) LIMIT 1';
  return db.get(sql, after, id) !== undefined;
}

/** Uses idx_events_task_id, which has the numbers of one task in their order. */
export function newestEntryOf(db: Database, id: string): number {
  const sql = `SELECT e.seq FROM events e WHERE e.task_id = ? AND json_extract(e.data, '$.beside') IS NULL
    ORDER BY e.seq DESC LIMIT 1`;
  return Number(db.get(sql, id)?.seq ?? 0);
}

/** By the same index, and the transitions' primary key. */
export function findEntry(
  db: Database,
  { id, type, after }: Parameters<TaskLooks['findEntry']>[0],
): NumberedEntry | undefined {
  const row = db.get(
    `SELECT e.seq, e.type, e.created_at, e.triggered_by, e.data, r.from_state, r.to_state, r.reason
      FROM events e LEFT JOIN transitions r ON r.task_id = e.task_id AND r.event_seq = e.seq
      WHERE e.task_id = ?1 AND e.seq > ?2 AND (?3 IS NULL OR e.type = ?3)
        AND json_extract(e.data, '$.beside') IS NULL
      ORDER BY e.seq LIMIT 1`,
    id,
    after,
    type ?? null,
  );
  return row === undefined ? undefined : { ...rowToEntry(row), seq: row.seq as number };
}

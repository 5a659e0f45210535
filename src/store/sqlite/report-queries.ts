import type { TaskType } from '#contract/task.ts';
import type { Undo } from '#domain/decide-delete.ts';
import { knowsOf } from '#domain/decide-restore.ts';
import { explainReadiness } from '#domain/readiness.ts';
import { summariseEvent, type EventData } from '#domain/summarise-event.ts';
import { toIso } from '#kernel/clock.ts';
import { readJson } from '#kernel/read-json.ts';
import { LATELY_MS, type DeletedTask, type HistoryEntry, type StoreStats } from '../report.ts';
import type { HistoryQuery } from '../task-looks.ts';
import { NEIGHBOUR_LIMITS } from '#kernel/neighbour-limits.ts';
import type { ExplainedTask, ReadyQuery } from '../store.ts';
import type { Database, Row } from './database.ts';
import { listBlockers } from './ready-queries.ts';
import { resolveTaskId } from './resolve-id.ts';
import { rowToSummary, SUMMARY_COLUMNS } from './task-rows.ts';

/** Why each open task is or is not ready; every clause of the definition gets a sentence. */
export function explainReady(db: Database, query: ReadyQuery): ExplainedTask[] {
  const sql = `SELECT ${SUMMARY_COLUMNS}, t.open_blockers, t.parked, t.labels FROM tasks t INDEXED BY idx_tasks_open_order
    WHERE t.status IN ('open', 'in_progress') ORDER BY t.priority, t.created_at, t.id`;
  const explained: ExplainedTask[] = [];
  const { limit = Infinity } = query;
  for (const row of db.each(sql)) {
    if (explained.length >= limit) break;
    explained.push(...explainRow(db, query, row));
  }
  return explained;
}

function explainRow(db: Database, query: ReadyQuery, row: Row): ExplainedTask[] {
  if (query.type !== undefined && row.type !== query.type) return [];
  if (query.label !== undefined && !(JSON.parse(row.labels as string) as string[]).includes(query.label))
    return [];
  const most = NEIGHBOUR_LIMITS.blockers_shown;
  const open_blockers = row.open_blockers as number;
  const blockers = open_blockers > 0 ? listBlockers(db, row.id as string, most) : [];
  const more = blockers.length < most ? 0 : open_blockers - blockers.length;
  const summary = rowToSummary(row, db);
  const facts = { ...summary, state: row.state as string, parked: row.parked === 1 };
  const explained = explainReadiness(facts, query, { blockers, more });
  return [{ ...summary, ...explained, blockers, ...(more > 0 && { blockers_more: more }) }];
}

/**
 * Uses idx_events_task_id and the transitions' primary key. Works for deleted tasks too. Moves that were made in
 * another clone, or before the database was made anew, have no event here; they stand among the others by their time.
 */
export function readHistory(db: Database, query: HistoryQuery): HistoryEntry[] {
  const { id } = findTask(db, query.id);
  const { limit = -1, max_bytes = Infinity } = query;
  // What an event holds is read where its entry is given, and not for putting all of them in order.
  const sql = `SELECT h.*, coalesce((SELECT data FROM events WHERE seq = h.seq), '{}') AS data FROM (
      SELECT e.seq, e.type, e.created_at, e.triggered_by, r.from_state, r.to_state, r.reason, octet_length(e.data) AS size
        FROM events e LEFT JOIN transitions r ON r.task_id = e.task_id AND r.event_seq = e.seq
        WHERE e.task_id = ?1 AND ${NOT_BESIDE}
      UNION ALL
      SELECT NULL, 'task.status_changed', created_at, triggered_by, from_state, to_state, reason, 0
        FROM transitions WHERE task_id = ?1 AND event_seq IS NULL
      ORDER BY 3 DESC, 1 DESC LIMIT ?2) h`;
  const entries: HistoryEntry[] = [];
  let bytes = 0;
  for (const row of db.each(sql, id, limit)) {
    bytes += row.size as number;
    if (entries.length > 0 && bytes > max_bytes) break;
    entries.push(rowToEntry(row));
  }
  return entries.reverse();
}

/** An event that says once more, beside another one, that the status changed: only one of them is an entry. */
export const NOT_BESIDE = "(e.type <> 'task.status_changed' OR json_extract(e.data, '$.beside') IS NULL)";

/** Of a row of an event with its move. */
export function rowToEntry(row: Row): HistoryEntry {
  const data = readJson(row.data as string) as EventData & { changed?: string[] };
  const type = row.type as string;
  const reason = row.reason as string | null;
  return {
    seq: row.seq as number | null,
    type,
    at: row.created_at as string,
    triggered_by: row.triggered_by as string,
    summary: summariseEvent({ type, reason, data }),
    changed: data.changed ?? [],
    from_state: row.from_state as string | null,
    to_state: row.to_state as string | null,
    reason,
  };
}

/** Deleted tasks have a history too. */
export function findTask(db: Database, ref: string): { id: string; deleted: boolean } {
  const deleted = db.get('SELECT id FROM deleted_tasks WHERE id = ?', ref.toLowerCase());
  if (deleted !== undefined) return { id: deleted.id as string, deleted: true };
  return { id: resolveTaskId(db, ref), deleted: false };
}

export function readDeleted(db: Database, ref: string): DeletedTask {
  const id = resolveTaskId(db, ref, 'deleted');
  const row = db.get('SELECT undo, deleted_at FROM deleted_tasks WHERE id = ?', id);
  const undo = typeof row?.undo === 'string' ? (readJson(row.undo) as Pick<Undo, 'elsewhere'>) : undefined;
  return { id, deleted_at: String(row?.deleted_at), knows: knowsOf(undo) };
}

export function readStats(
  db: Database,
  query: { now: number; exclude_types: readonly TaskType[] },
): StoreStats {
  const count = (sql: string, ...values: (string | number)[]): number =>
    Number(db.get(sql, ...values)?.n ?? 0);
  const grouped = (column: 'status' | 'state' | 'type' | 'priority'): Record<string, number> =>
    Object.fromEntries(
      db
        .all(`SELECT ${column} AS name, count(*) AS n FROM tasks GROUP BY 1 ORDER BY 1`)
        .map((row) => [String(row.name), row.n as number]),
    );
  const excluded = query.exclude_types.map(() => ' AND type <> ?').join('');
  const owners = `SELECT assignee, sum(status = 'in_progress') AS in_progress, sum(status = 'open') AS open FROM tasks
    WHERE assignee IS NOT NULL AND status <> 'closed' GROUP BY assignee ORDER BY 2 DESC, 3 DESC, 1`;
  return {
    total: count('SELECT count(*) AS n FROM tasks'),
    by_status: grouped('status'),
    by_state: grouped('state'),
    by_type: grouped('type'),
    by_priority: grouped('priority'),
    ready: count(
      `SELECT count(*) AS n FROM tasks INDEXED BY idx_tasks_ready
        WHERE status = 'open' AND assignee IS NULL AND open_blockers = 0 AND parked = 0${excluded}`,
      ...query.exclude_types,
    ),
    blocked: count("SELECT count(*) AS n FROM tasks WHERE status = 'open' AND open_blockers > 0"),
    parked: count("SELECT count(*) AS n FROM tasks WHERE status = 'open' AND parked = 1"),
    assigned: db.all(owners).map((row) => ({
      assignee: row.assignee as string,
      in_progress: row.in_progress as number,
      open: row.open as number,
    })),
    closed_last_7_days: count(
      "SELECT count(*) AS n FROM tasks WHERE status = 'closed' AND closed_at >= ?",
      toIso(query.now - LATELY_MS),
    ),
    deleted: count('SELECT count(*) AS n FROM deleted_tasks'),
  };
}

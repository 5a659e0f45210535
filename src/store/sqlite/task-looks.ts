import type { Comment, Status, Transition } from '#contract/task.ts';
import type {
  MoveQuery,
  NumberedEntry,
  TaskBrief,
  TaskHead,
  TaskLooks,
  TaskPlace,
  TaskWalk,
  WalkedTask,
  WalkEnd,
} from '../task-looks.ts';
import type { Database, Row } from './database.ts';
import { toTransition } from './move-writes.ts';
import { NOT_BESIDE, rowToEntry } from './report-queries.ts';
import { resolveTaskId } from './resolve-id.ts';
import { ARCHIVED, BRIEF_COLUMNS, rowToBrief, toState } from './task-rows.ts';

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

/**
 * By idx_tasks_status_priority, whose last part is the rowid. Sizes stand in the row's header; a column that comes behind a
 * long text is found by way of all pages of that text.
 */
const WALKED = `t.rowid AS row, t.id, t.priority, t.state, t.assignee, t.created_at, t.updated_at,
    t.extra IS NOT NULL AS noted,
    CASE WHEN t.parked = 1 THEN NOT ${ARCHIVED} ELSE 0 END AS parked,
    CASE WHEN t.parked = 1 AND instr(t.labels, ?5) > 0
      THEN EXISTS (SELECT 1 FROM json_each(t.labels) l WHERE l.value = ?5) ELSE 0 END AS labelled`;
const SIZE = 'octet_length(t.description) + octet_length(t.metadata) + coalesce(octet_length(t.extra), 0)';
const BEHIND = `FROM tasks t INDEXED BY idx_tasks_status_priority
  WHERE t.status = ?1 AND t.priority = ?2 AND t.rowid > ?3`;
const IN_ORDER = 'ORDER BY t.rowid';
/** A part lies within one priority, so that the index leads to its beginning. */
const NEXT = `SELECT min(priority) AS next FROM tasks INDEXED BY idx_tasks_status_priority
  WHERE status = ? AND priority > ?`;
const WALK = `SELECT ${WALKED}, ${SIZE} AS size ${BEHIND} ${IN_ORDER}`;
const UP_TO = 'AND t.rowid <= ?4';
/** What is not parked is passed over in SQL: a project may have very many open tasks. */
const WALK_PARKED = `SELECT ${WALKED} ${BEHIND} ${UP_TO} AND t.parked = 1 ${IN_ORDER}`;
const SUM = `SELECT total(${SIZE}) AS size ${BEHIND} ${UP_TO}`;
const NTH = `SELECT t.rowid AS row ${BEHIND} ${IN_ORDER} LIMIT 1 OFFSET ?4`;

export function walkTasks(
  db: Database,
  walk: TaskWalk,
): { tasks: WalkedTask[]; after?: WalkEnd | undefined } {
  const { status, label, max_rows, max_bytes } = walk;
  const after = walk.after ?? findNext(db, walk, -1);
  if (after === undefined) return { tasks: [] };
  if (walk.parked_only === true) {
    const { end, isLast } = findEnd(db, { ...walk, after });
    const rows = db.all(WALK_PARKED, status, after.priority, after.row, end, label);
    const { priority } = after;
    return {
      tasks: rows.map(toWalked),
      after: isLast ? findNext(db, walk, priority) : { priority, row: end },
    };
  }
  const tasks: WalkedTask[] = [];
  let bytes = 0;
  let end = after;
  for (const row of db.each(WALK, status, after.priority, after.row, 0, label)) {
    bytes += row.size as number;
    if (tasks.length === max_rows || (tasks.length > 0 && bytes > max_bytes)) return { tasks, after: end };
    end = { priority: after.priority, row: row.row as number };
    tasks.push(toWalked(row));
  }
  return { tasks, after: findNext(db, walk, after.priority) };
}

function findNext(db: Database, { status }: TaskWalk, priority: number): WalkEnd | undefined {
  const next = db.get(NEXT, status, priority)?.next;
  return typeof next === 'number' ? { priority: next, row: 0 } : undefined;
}

/** Where a part of a walk ends: found by the index alone, and by half as many rows where these are too large. */
function findEnd(
  db: Database,
  { status, after, max_rows, max_bytes }: TaskWalk & { readonly after: WalkEnd },
): { readonly end: number; readonly isLast: boolean } {
  const from = [status, after.priority, after.row] as const;
  for (let rows = max_rows; ; rows = Math.ceil(rows / 2)) {
    const row = db.get(NTH, ...from, rows - 1);
    const end = row === undefined ? Number.MAX_SAFE_INTEGER : (row.row as number);
    if (rows === 1 || Number(db.get(SUM, ...from, end)?.size) <= max_bytes)
      return { end, isLast: row === undefined };
  }
}

function toWalked(row: Row): WalkedTask {
  return {
    id: row.id as string,
    state: row.state as string,
    assignee: row.assignee as string | null,
    created_at: row.created_at as string,
    updated_at: row.updated_at as string,
    parked: row.parked === 1,
    noted: row.noted === 1,
    labelled: row.labelled === 1,
  };
}

/** By primary key. */
export function listBriefs(
  db: Database,
  { ids, max_bytes }: Parameters<TaskLooks['listBriefs']>[0],
): { tasks: TaskBrief[]; looked: number } {
  const size =
    'SELECT coalesce(octet_length(extra), 0) + octet_length(labels) AS size FROM tasks WHERE id = ?';
  const sql = `SELECT ${BRIEF_COLUMNS} FROM tasks t WHERE t.id = ?`;
  const tasks: TaskBrief[] = [];
  let bytes = 0;
  for (const [looked, id] of ids.entries()) {
    bytes += Number(db.get(size, id)?.size ?? 0);
    if (looked > 0 && bytes > max_bytes) return { tasks, looked };
    const row = db.get(sql, id);
    if (row !== undefined) tasks.push(rowToBrief(row, db));
  }
  return { tasks, looked: ids.length };
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

/** Walks the moves of the one task by the primary key, the newest first. */
export function findMove(db: Database, query: MoveQuery): Transition | undefined {
  const { id, changes_state, ...wanted } = query;
  // The names are those of MoveQuery: what a user types never becomes SQL.
  const conditions = [
    'task_id = ?',
    ...MOVE_COLUMNS.filter((name) => wanted[name] !== undefined).map((name) => `${name} = ?`),
    ...(changes_state === true ? ['from_state <> to_state'] : []),
  ];
  const sql = `SELECT * FROM transitions WHERE ${conditions.join(' AND ')} ORDER BY created_at DESC LIMIT 1`;
  const row = db.get(sql, id, ...MOVE_COLUMNS.flatMap((name) => wanted[name] ?? []));
  return row === undefined ? undefined : toTransition(row);
}

const MOVE_COLUMNS = ['from_status', 'to_status', 'to_state', 'triggered_by'] as const;

/** By idx_comments_task_id; of the others no text is kept while they are put in order. */
export function listNewestComments(
  db: Database,
  { id, limit }: Parameters<TaskLooks['listNewestComments']>[0],
): Comment[] {
  const sql = `SELECT id, author, body, reply_to, created_at FROM comments WHERE rowid IN
    (SELECT rowid FROM comments WHERE task_id = ? ORDER BY created_at DESC, id DESC LIMIT ?) ORDER BY created_at, id`;
  return db.all(sql, id, limit).map((row) => ({ ...row }) as unknown as Comment);
}

/** Uses idx_events_task_id, which has the numbers of one task in their order. */
export function newestEntryOf(db: Database, id: string): number {
  const sql = `SELECT e.seq FROM events e WHERE e.task_id = ? AND ${NOT_BESIDE}
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
      WHERE e.task_id = ?1 AND e.seq > ?2 AND (?3 IS NULL OR e.type = ?3) AND ${NOT_BESIDE}
      ORDER BY e.seq LIMIT 1`,
    id,
    after,
    type ?? null,
  );
  return row === undefined ? undefined : { ...rowToEntry(row), seq: row.seq as number };
}

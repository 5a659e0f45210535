import type { ChangedLines } from '../replication.ts';
import type { Database } from './database.ts';
import { readUnreadable } from './file-marks.ts';
import { encodeTransition } from '#domain/history-line.ts';
import { newestEvent, oldestEvent } from './log-rows.ts';
import { lineOf } from './row-to-line.ts';

/** With more of them a whole export is as fast. */
const MOST = 1_000;

/** What the events after `since` changed in a file of tasks; undefined where only the whole export can tell. */
export function readChangedTasks(db: Database, path: string, since: number): ChangedLines | undefined {
  return db.read(() => {
    const ids = readChangedIds(db, since, 'tasks');
    if (ids === undefined || readUnreadable(db, path).length > 0) return undefined;
    const lines = new Map<string, string[]>();
    for (const id of ids) lines.set(id, readTaskLines(db, id));
    const total = count(db, 'tasks') + count(db, 'deleted_tasks');
    return { lines, total, event_seq: newestEvent(db) };
  });
}

/** The same for a file of moves: all moves of every task that made one. */
export function readChangedHistory(db: Database, path: string, since: number): ChangedLines | undefined {
  return db.read(() => {
    const ids = readChangedIds(db, since, 'history');
    if (ids === undefined || readUnreadable(db, path).length > 0) return undefined;
    const lines = new Map<string, string[]>();
    const moves = `SELECT * FROM transitions WHERE task_id = ?
      ORDER BY created_at, from_state, to_state, triggered_by`;
    for (const id of ids) {
      const rows = db.all(moves, id);
      const isNew = rows.some((row) => row.event_seq !== null && (row.event_seq as number) > since);
      if (isNew) lines.set(id, rows.map(encodeTransition));
    }
    return { lines, total: count(db, 'transitions'), event_seq: newestEvent(db) };
  });
}

/** Undefined where there are too many, where some were forgotten, or where an event does not name what it changed. */
function readChangedIds(db: Database, since: number, part: 'tasks' | 'history'): Set<string> | undefined {
  const rows = db.all(
    `SELECT task_id, triggered_by, iif(task_id IS NULL, data, NULL) AS data FROM events WHERE seq > ? LIMIT ${MOST + 1}`,
    since,
  );
  if (rows.length > MOST || since + 1 < oldestEvent(db)) return undefined;
  const ids = new Set<string>();
  for (const row of rows) {
    // A replay may bring moves that have no event of their own.
    if (row.triggered_by === 'system:replay') return undefined;
    if (row.task_id !== null) ids.add(row.task_id as string);
    else if (!isAboutOther(row.data as string, part)) return undefined;
  }
  return ids;
}

function isAboutOther(data: string, part: 'tasks' | 'history'): boolean {
  const { changed } = JSON.parse(data) as { changed?: unknown };
  return Array.isArray(changed) && changed.length > 0 && !changed.includes(part) && isKnown(changed);
}

function isKnown(parts: readonly unknown[]): boolean {
  return parts.every((part) => part === 'tasks' || part === 'history');
}

function readTaskLines(db: Database, id: string): string[] {
  if (db.get('SELECT 1 AS found FROM tasks WHERE id = ?', id) !== undefined) return [lineOf(db, id)];
  const gone = db.get('SELECT line FROM deleted_tasks WHERE id = ?', id);
  return gone === undefined ? [] : [gone.line as string];
}

function count(db: Database, table: 'tasks' | 'deleted_tasks' | 'transitions'): number {
  return Number(db.get(`SELECT count(*) AS n FROM ${table}`)?.n ?? 0);
}

import { findChanged, MOST_CHANGES, type FilePart } from '#domain/find-changed.ts';
import type { ChangedLines } from '../replication.ts';
import type { Database } from './database.ts';
import { readUnreadable } from './file-marks.ts';
import { encodeTransition } from '#domain/history-line.ts';
import { newestEvent, oldestEvent } from './log-rows.ts';
import { lineOf } from './row-to-line.ts';

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

function readChangedIds(db: Database, since: number, part: FilePart): ReadonlySet<string> | undefined {
  const sql = `SELECT task_id, triggered_by, iif(task_id IS NULL, data, NULL) AS data FROM events
    WHERE seq > ? LIMIT ${MOST_CHANGES + 1}`;
  const told = db.all(sql, since).map(({ task_id, triggered_by, data }) => ({
    task_id: task_id as string | null,
    triggered_by: triggered_by as string,
    ...(data !== null && (JSON.parse(data as string) as { changed?: unknown })),
  }));
  return findChanged(told, { since, oldest: oldestEvent(db), part });
}

function readTaskLines(db: Database, id: string): string[] {
  if (db.get('SELECT 1 AS found FROM tasks WHERE id = ?', id) !== undefined) return [lineOf(db, id)];
  const gone = db.get('SELECT line FROM deleted_tasks WHERE id = ?', id);
  return gone === undefined ? [] : [gone.line as string];
}

function count(db: Database, table: 'tasks' | 'deleted_tasks' | 'transitions'): number {
  return Number(db.get(`SELECT count(*) AS n FROM ${table}`)?.n ?? 0);
}

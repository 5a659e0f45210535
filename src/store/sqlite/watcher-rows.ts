import { mayTakeWatch } from '#domain/process-mark.ts';
import type { ProcessMark, TaskWatch, WatchedTask } from '../attempt-store.ts';
import type { Database } from './database.ts';
import { findTask } from './report-queries.ts';
import { fromMark, toMark, type WorkTransaction } from './work-transaction.ts';

export function takeWatch(tx: WorkTransaction, { task_id, watcher, from }: TaskWatch): boolean {
  const { db, by } = tx;
  const { id } = findTask(db, task_id);
  const mark = fromMark(watcher);
  if (from !== undefined) {
    const row = db.get('SELECT watcher FROM task_watchers WHERE task_id = ?', id); // by the primary key
    if (!mayTakeWatch(toMark(row?.watcher), from)) return false;
  }
  db.run(
    `INSERT INTO task_watchers (task_id, watcher, since) VALUES (?, ?, ?)
      ON CONFLICT DO UPDATE SET watcher = excluded.watcher, since = excluded.since`,
    id,
    mark,
    by.now,
  );
  return true;
}

export function noteUnwatched(
  db: Database,
  { task_id, watcher }: { task_id: string; watcher: ProcessMark },
): void {
  db.run('DELETE FROM task_watchers WHERE task_id = ? AND watcher = ?', task_id, fromMark(watcher));
}

/** The whole table: it holds what somebody works on, or did when they were killed. */
export function listWatchedTasks(db: Database): WatchedTask[] {
  return db.all('SELECT * FROM task_watchers ORDER BY since, task_id').map((row) => ({
    task_id: row.task_id as string,
    watcher: toMark(row.watcher) as ProcessMark, // never null
    since: row.since as number,
  }));
}

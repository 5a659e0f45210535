import type { OpenWork, ProcessMark } from '../attempt-store.ts';
import type { Database } from './database.ts';

/** idx_runs_open, idx_reviews_running, idx_merges_started and idx_merges_queued: in most projects all of them are empty. */
const OPEN_WORK = `
  SELECT 'run' AS kind, id, task_id, agent, watcher FROM runs WHERE ended_at IS NULL AND watcher IS NOT NULL
  UNION ALL SELECT 'review', id, task_id, NULL, watcher FROM reviews WHERE status = 'running'
  UNION ALL SELECT 'merge', id, task_id, NULL, watcher FROM merges WHERE state = 'started'
  UNION ALL SELECT 'merge', id, task_id, NULL, watcher FROM merges WHERE state = 'queued'
  -- An agent that was to be started: its folder is made, or set up.
  UNION ALL SELECT 'start', w.task_id, w.task_id, t.assignee, w.watcher FROM task_watchers w JOIN tasks t ON t.id = w.task_id
    WHERE t.status = 'in_progress' AND NOT EXISTS (SELECT 1 FROM runs r WHERE r.task_id = w.task_id)`;

export function listOpenWork(db: Database): OpenWork[] {
  return db.all(OPEN_WORK).map((row) => ({
    kind: row.kind as OpenWork['kind'],
    id: row.id as string,
    task_id: row.task_id as string,
    agent: row.agent as string | null,
    watcher: JSON.parse(row.watcher as string) as ProcessMark, // as it was written
  }));
}

export function forgetWatch(db: Database, taskId: string): void {
  // By the primary key; nearly always there is none, and a look takes no lock.
  if (db.get('SELECT 1 AS found FROM task_watchers WHERE task_id = ?', taskId) === undefined) return;
  db.write(() => db.run('DELETE FROM task_watchers WHERE task_id = ?', taskId));
}

/** By idx_runs_task; of reviews and merges few are open in the whole project. */
const WORKED_ON = `
  SELECT 1 AS found FROM runs WHERE task_id = ?1 AND ended_at IS NULL
  UNION ALL SELECT 1 FROM reviews WHERE status = 'running' AND task_id = ?1
  UNION ALL SELECT 1 FROM merges WHERE state = 'started' AND task_id = ?1
  UNION ALL SELECT 1 FROM merges WHERE state = 'queued' AND task_id = ?1 LIMIT 1`;

/** Likewise, or a process is about to start an agent on it. */
export function isInHand(db: Database, taskId: string): boolean {
  return (
    db.get(`SELECT 1 AS found FROM task_watchers WHERE task_id = ?1 UNION ALL ${WORKED_ON}`, taskId) !==
    undefined
  );
}

export function isWorkedOn(db: Database, taskId: string): boolean {
  return db.get(WORKED_ON, taskId) !== undefined;
}

import type { OpenWork, ProcessMark } from '../attempt-store.ts';
import type { Database } from './database.ts';

/** idx_runs_open, idx_reviews_running, idx_merges_started and idx_merges_queued: in most projects all of them are empty. */
const OPEN_WORK = `
  SELECT 'run' AS kind, id, task_id, agent, watcher FROM runs WHERE ended_at IS NULL AND watcher IS NOT NULL
  UNION ALL SELECT 'review', id, task_id, NULL, watcher FROM reviews WHERE status = 'running'
  UNION ALL SELECT 'merge', id, task_id, NULL, watcher FROM merges WHERE state = 'started'
  UNION ALL SELECT 'merge', id, task_id, NULL, watcher FROM merges WHERE state = 'queued'`;

export function listOpenWork(db: Database): OpenWork[] {
  return db.all(OPEN_WORK).map((row) => ({
    kind: row.kind as OpenWork['kind'],
    id: row.id as string,
    task_id: row.task_id as string,
    agent: row.agent as string | null,
    watcher: JSON.parse(row.watcher as string) as ProcessMark, // as it was written
  }));
}

/** By idx_runs_task. */
export function isWorkedOn(db: Database, taskId: string): boolean {
  return db.get('SELECT 1 AS found FROM runs WHERE task_id = ? AND ended_at IS NULL', taskId) !== undefined;
}

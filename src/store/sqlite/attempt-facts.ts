import type { UnfinishedAttempt } from '#domain/task-plan.ts';
import type { Database } from './database.ts';

/** The newest that was neither merged nor given up. By the index of the task's numbers. */
export function findUnfinished(db: Database, taskId: string): UnfinishedAttempt | undefined {
  const sql =
    "SELECT id, name FROM attempts WHERE task_id = ? AND state = 'active' ORDER BY number DESC LIMIT 1";
  const row = db.get(sql, taskId);
  return row === undefined ? undefined : { id: row.id as string, name: row.name as string };
}

/**
 * Whether an attempt was given up that began after the last merge of the task. One in which only a plan was made holds
 * no work: `planners` are the roles of those who plan.
 */
export function hasGivenUp(db: Database, taskId: string, planners: readonly string[]): boolean {
  const sql = `SELECT 1 AS found FROM attempts a WHERE a.task_id = ?1 AND a.state = 'archived'
    AND a.created_at > coalesce(
      (SELECT max(m.finished_at) FROM attempts m WHERE m.task_id = ?1 AND m.state = 'merged'), '')
    AND (NOT EXISTS (SELECT 1 FROM runs r WHERE r.attempt_id = a.id)
      OR EXISTS (SELECT 1 FROM runs r WHERE r.attempt_id = a.id
        AND r.role NOT IN (SELECT value FROM json_each(?2))))
    LIMIT 1`;
  return db.get(sql, taskId, JSON.stringify(planners)) !== undefined;
}

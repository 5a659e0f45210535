import { ForgeError } from '#kernel/errors.ts';
import type { TaskRecord } from '#domain/task-record.ts';
import type { Database } from './database.ts';

export interface UnfinishedAttempt {
  readonly id: string;
  readonly name: string;
}

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

/**
 * A task is done only if its work is in the target: one with an attempt that was neither merged nor given up does not
 * come to an end but by cancelling it, whichever path leads there. Throws state_invalid.
 */
export function checkLanded(db: Database, { id, life }: TaskRecord, to: string): void {
  const attempt = findUnfinished(db, id);
  if (attempt === undefined) return;
  throw new ForgeError('state_invalid', `${id} is not ${to}: ${attempt.name} has not been merged`, {
    hint: `forge run ${id} --merge`,
    details: { id, status: life.status, state: life.state, attempt: attempt.id },
  });
}

/**
 * A task is closed past its workflow only where there is nothing to review or to merge. Returns what a forced close
 * leaves behind; throws state_invalid where it is not forced.
 */
export function checkUnfinished(
  db: Database,
  { id, life }: TaskRecord,
  force: boolean | undefined,
): UnfinishedAttempt | undefined {
  if (life.status === 'closed') return undefined;
  const attempt = findUnfinished(db, id);
  if (attempt === undefined || force === true) return attempt;
  throw new ForgeError('state_invalid', `${id} has an unfinished attempt: ${attempt.name} (${attempt.id})`, {
    hint: `forge task close ${id} --force --reason "…"`,
    details: { id, status: life.status, state: life.state, attempt: attempt.id },
  });
}

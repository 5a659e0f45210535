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

import { ForgeError } from '#kernel/errors.ts';
import type { TaskRecord } from '#domain/task-record.ts';
import { isArchived } from '#domain/workflow-fields.ts';
import type { Database } from './database.ts';

/**
 * A task whose merge is about to move its target stays where it is until that has happened or was given up: else it
 * would be cancelled, released or deleted with its work on the way to the target. Throws state_invalid with `landing`,
 * for which the store waits.
 */
export function checkLanding(db: Database, before: TaskRecord, after: TaskRecord | undefined): void {
  if (after !== undefined && !isTakenAway(before, after)) return;
  // By idx_merges_landing, which is empty nearly always.
  const merge = db.get('SELECT id FROM merges WHERE task_id = ? AND landing_at IS NOT NULL', before.id);
  if (merge === undefined) return;
  throw new ForgeError('state_invalid', `${before.id} is being merged at this moment`, {
    hint: `forge task show ${before.id}`,
    details: { id: before.id, landing: merge.id },
  });
}

function isTakenAway(before: TaskRecord, after: TaskRecord): boolean {
  if (before.life.state !== after.life.state || before.life.status !== after.life.status) return true;
  return isArchived(before) !== isArchived(after);
}

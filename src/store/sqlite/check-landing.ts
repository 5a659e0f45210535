import type { TaskRecord } from '#domain/task-record.ts';
import { isArchived } from '#domain/workflow-fields.ts';
import { toIso } from '#kernel/clock.ts';
import { ForgeError } from '#kernel/errors.ts';
import { LIMITS } from '#kernel/limits.ts';
import type { Writer } from '../store.ts';
import type { Database } from './database.ts';

/**
 * A task whose merge is about to move its target stays where it is until that was given up, or has happened and Forge
 * itself has moved the task on: else it would be cancelled, released or deleted with its work on the way to the target.
 * Throws state_invalid with `landing`, for which the store waits.
 */
export function checkLanding(
  db: Database,
  by: Writer,
  { before, after }: { readonly before: TaskRecord; readonly after: TaskRecord | undefined },
): void {
  if (after !== undefined && !isTakenAway(before, after)) return;
  // By idx_merges_landing, which is empty nearly always.
  const sql = 'SELECT id, state, finished_at FROM merges WHERE task_id = ? AND landing_at IS NOT NULL';
  const merge = db.get(sql, before.id);
  if (merge === undefined) return;
  const isLanded = merge.state === 'landed';
  // A process that was killed after its landing moves nothing on: the task is not kept for ever.
  const isStale = isLanded && String(merge.finished_at) < toIso(by.now - LIMITS.landed_move_ms);
  if (isStale || (isLanded && by.actor.kind === 'system')) {
    db.run('UPDATE merges SET landing_at = NULL WHERE id = ?', merge.id as string);
    return;
  }
  throw new ForgeError('state_invalid', `${before.id} is being merged at this moment`, {
    hint: `forge task show ${before.id}`,
    details: { id: before.id, landing: merge.id },
  });
}

function isTakenAway(before: TaskRecord, after: TaskRecord): boolean {
  if (before.life.state !== after.life.state || before.life.status !== after.life.status) return true;
  return isArchived(before) !== isArchived(after);
}

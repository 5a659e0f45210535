import { toIso } from '#kernel/clock.ts';
import { LIMITS } from '#kernel/limits.ts';
import type { Deciding } from './task-plan.ts';
import type { TaskRecord } from './task-record.ts';
import type { TaskRefusal } from './task-refusal.ts';
import { isArchived } from './workflow-fields.ts';

/** A merge of the task that is about to move its target, or has done so and waits for the task to be moved on. */
export interface LandingFacts {
  readonly id: string;
  readonly landed: boolean;
  readonly finished_at: string | null;
}

/** Whether a write takes the task away from a merge; `after` is undefined where it is deleted. */
export function isTakenAway(before: TaskRecord, after: TaskRecord | undefined): boolean {
  if (after === undefined) return true;
  if (before.life.state !== after.life.state || before.life.status !== after.life.status) return true;
  return isArchived(before) !== isArchived(after);
}

/**
 * A task whose merge is about to move its target stays where it is until that was given up, or has happened and Forge
 * itself has moved the task on: else it would be cancelled, released or deleted with its work on the way to the target.
 * `settled`: nothing waits for it any more. A refusal is one that the store waits for.
 */
export function decideLanding(
  merge: LandingFacts,
  { actor, now }: Pick<Deciding, 'actor' | 'now'>,
): { readonly outcome: 'settled' } | Extract<TaskRefusal, { outcome: 'landing' }> {
  // A process that was killed after its landing moves nothing on: the task is not kept for ever.
  const isStale = merge.landed && String(merge.finished_at) < toIso(now - LIMITS.landed_move_ms);
  const isOwn = merge.landed && actor.kind === 'system';
  return isStale || isOwn ? { outcome: 'settled' } : { outcome: 'landing', merge: merge.id };
}

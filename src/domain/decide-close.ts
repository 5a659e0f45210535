import { decideSeen, type Seen } from './decide-seen.ts';
import { changedNames } from './describe-change.ts';
import { closeRecord, reopenRecord } from './task-changes.ts';
import type { Deciding, SeenTask, TaskPlan, UnfinishedAttempt } from './task-plan.ts';
import type { TaskRefusal } from './task-refusal.ts';
import { closingState, isParked } from './workflow.ts';

export interface Close extends Seen {
  readonly reason: string;
  /** Also with an attempt that is not finished, or a claim of another. */
  readonly force?: boolean | undefined;
}

/** `unfinished`: the task's newest attempt that was neither merged nor given up. A closed task stays as it is. */
export function decideClose(
  task: SeenTask,
  { unfinished, ...close }: Close & { readonly unfinished: UnfinishedAttempt | undefined },
  { now, workflow }: Deciding,
): TaskPlan | TaskRefusal {
  const other = decideSeen(task, close);
  if (other !== undefined) return other;
  const left = task.record.life.status === 'closed' ? undefined : unfinished;
  if (left !== undefined && close.force !== true) return { outcome: 'unfinished', attempt: left };
  const after = closeRecord(task.record, close.reason, now, closingState(workflow, close.reason));
  return {
    outcome: 'save',
    after,
    happening: {
      type: 'task.closed',
      changed: changedNames(task.record, after),
      reason: close.reason,
      forced: close.force === true,
      more: left === undefined ? {} : { forced: true, attempt_id: left.id },
    },
  };
}

export interface Reopening {
  /** Where the task stood when it was closed last; undefined where that is not known. */
  readonly closed_from: string | undefined;
}

export function decideReopen(
  task: SeenTask,
  { closed_from, ...reopen }: Seen & Reopening & { readonly reason: string | null },
  deciding: Deciding,
): TaskPlan | TaskRefusal {
  const other = decideSeen(task, reopen);
  if (other !== undefined) return other;
  if (task.record.life.status !== 'closed') return { outcome: 'not_closed' };
  const kept = decideReopening({ closed_from }, deciding);
  if (kept !== undefined) return kept;
  const after = reopenRecord(task.record, null, deciding.now, deciding.workflow.initial);
  return {
    outcome: 'save',
    after,
    happening: { type: 'task.reopened', changed: changedNames(task.record, after), reason: reopen.reason },
  };
}

/**
 * An agent does not reopen a task that was closed while it was parked: closing and reopening it would put it into the
 * queue, which only people do.
 */
export function decideReopening(
  { closed_from }: Reopening,
  { actor, workflow }: Pick<Deciding, 'actor' | 'workflow'>,
): Extract<TaskRefusal, { outcome: 'kept_parked_in' }> | undefined {
  const isKept = actor.kind === 'agent' && closed_from !== undefined && isParked(workflow, closed_from);
  return isKept ? { outcome: 'kept_parked_in', state: closed_from } : undefined;
}

import type { Merge } from '#contract/attempt.ts';
import { toIso } from '#kernel/clock.ts';
import type { WorkRefusal } from './work-refusal.ts';

export type MergeEndState = 'landed' | 'conflict' | 'ci_failed' | 'refused' | 'postponed' | 'dropped';

/** How a merge may end that no process has begun. */
const ENDS_UNBEGUN: readonly MergeEndState[] = ['dropped', 'refused'];

/** `known`: a merge of the same attempt that is queued or started. Undefined where it may be queued. */
export function decideQueue(
  { task_id, attempt_id }: Pick<Merge, 'task_id'> & { readonly attempt_id: string },
  known: Pick<Merge, 'id' | 'state'> | undefined,
): Extract<WorkRefusal, { outcome: 'in_queue' }> | undefined {
  return known === undefined ? undefined : { outcome: 'in_queue', task_id, attempt_id, merge: known };
}

/** Whether its turn may come: `begun` where a process has it already. */
export function decideTurn(
  merge: Pick<Merge, 'id' | 'task_id' | 'state'>,
): { readonly outcome: 'waits' | 'begun' } | Extract<WorkRefusal, { outcome: 'merge_over' }> {
  if (merge.state === 'started') return { outcome: 'begun' };
  return merge.state === 'queued' ? { outcome: 'waits' } : { outcome: 'merge_over', merge };
}

/** Only a merge that was begun moves its target; undefined where this one may. */
export function decideLandingStart(
  merge: Pick<Merge, 'id' | 'task_id' | 'state'>,
): Extract<WorkRefusal, { outcome: 'merge_over' | 'merge_not_begun' }> | undefined {
  return merge.state === 'started' ? undefined : toOver(merge, '');
}

export interface MergeEnding {
  readonly state: MergeEndState;
  readonly candidate?: string | undefined;
  readonly conflicts?: Merge['conflicts'] | undefined;
  readonly message?: string | undefined;
}

/** The merge after its end; `keeps_landing`: what has landed stays under way until its task has moved on. */
export function decideMergeEnd(
  before: Merge,
  end: MergeEnding,
  now: number,
):
  | { readonly outcome: 'save'; readonly merge: Merge; readonly keeps_landing: boolean }
  | Extract<WorkRefusal, { outcome: 'merge_over' | 'merge_not_begun' }> {
  const mayEnd =
    before.state === 'started' || (before.state === 'queued' && ENDS_UNBEGUN.includes(end.state));
  if (!mayEnd) return toOver(before, end.state);
  const merge: Merge = {
    ...before,
    state: end.state,
    candidate: end.candidate ?? before.candidate,
    conflicts: end.conflicts ?? before.conflicts,
    message: end.message ?? before.message,
    finished_at: toIso(now),
  };
  return { outcome: 'save', merge, keeps_landing: merge.state === 'landed' };
}

function toOver(
  merge: Pick<Merge, 'id' | 'task_id' | 'state'>,
  wanted: string,
): Extract<WorkRefusal, { outcome: 'merge_over' | 'merge_not_begun' }> {
  return merge.state === 'queued'
    ? { outcome: 'merge_not_begun', merge, wanted }
    : { outcome: 'merge_over', merge };
}

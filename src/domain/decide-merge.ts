import type { Attempt, Merge } from '#contract/attempt.ts';
import { toIso } from '#kernel/clock.ts';
import { findLoss, type HeldTask, type Loss } from './run-hold.ts';
import type { WorkEvent, WorkEventType } from './work-event.ts';
import type { WorkRefusal } from './work-refusal.ts';

export type MergeEndState = 'landed' | 'conflict' | 'ci_failed' | 'refused' | 'postponed' | 'dropped';

/** How a merge may end that no process has begun. */
const ENDS_UNBEGUN: readonly MergeEndState[] = ['dropped', 'refused'];

/** What the caller says of a merge that is to be queued. */
export type MergeWish = Pick<Merge, 'id' | 'target' | 'strategy' | 'head_commit'>;

interface MergePlan {
  readonly outcome: 'save';
  readonly merge: Merge;
  readonly events: readonly WorkEvent[];
}

/** `known`: a merge of the same attempt that is queued or started. An attempt is in the queue once. */
export function decideQueue(
  { task_id, id: attempt_id }: Pick<Attempt, 'id' | 'task_id'>,
  known: Pick<Merge, 'id' | 'state'> | undefined,
  { wish, now }: { readonly wish: MergeWish; readonly now: number },
): MergePlan | Extract<WorkRefusal, { outcome: 'in_queue' }> {
  if (known !== undefined) return { outcome: 'in_queue', task_id, attempt_id, merge: known };
  const { id, target, strategy, head_commit } = wish;
  return toPlan('merge.queued', {
    id,
    task_id,
    attempt_id,
    target,
    strategy,
    state: 'queued',
    head_commit,
    candidate: null,
    conflicts: [],
    message: null,
    queued_at: toIso(now),
    finished_at: null,
  });
}

/** The queue of a target, as far as it says whose turn it is. */
export interface QueueFacts {
  /** A merge of the same target was begun and is not over. */
  readonly busy: boolean;
  /** The id of the first one that is queued. */
  readonly first: string | undefined;
}

/** The merge as it begins, if it is its turn: one of a target at a time, in their order. `begun`: a process has it already. */
export function decideTurn(
  merge: Merge,
  { busy, first }: QueueFacts,
): MergePlan | { readonly outcome: 'waits' | 'begun' } | Extract<WorkRefusal, { outcome: 'merge_over' }> {
  if (merge.state === 'started') return { outcome: 'begun' };
  if (merge.state !== 'queued') return { outcome: 'merge_over', merge };
  if (busy || first !== merge.id) return { outcome: 'waits' };
  return toPlan('merge.started', { ...merge, state: 'started' });
}

/** Only a merge that was begun moves its target, and only while its task stands in the gate that it is merged in. */
export function decideLandingStart(
  merge: Pick<Merge, 'id' | 'task_id' | 'state'>,
  in_state: string,
  task: HeldTask | undefined,
):
  | { readonly outcome: 'lands' }
  | { readonly outcome: 'lost'; readonly loss: Loss }
  | Extract<WorkRefusal, { outcome: 'merge_over' | 'merge_not_begun' }> {
  if (merge.state !== 'started') return toOver(merge, '');
  // Whose task it is does not matter to a merge: where it stands does.
  const loss = findLoss({ task_id: merge.task_id, fence: null, in_state }, task);
  return loss === undefined ? { outcome: 'lands' } : { outcome: 'lost', loss };
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
  | (MergePlan & { readonly keeps_landing: boolean })
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
  return { ...toPlan('merge.finished', merge), keeps_landing: merge.state === 'landed' };
}

function toPlan(type: WorkEventType, merge: Merge): MergePlan {
  return { outcome: 'save', merge, events: [{ type, task_id: merge.task_id, data: { merge } }] };
}

function toOver(
  merge: Pick<Merge, 'id' | 'task_id' | 'state'>,
  wanted: string,
): Extract<WorkRefusal, { outcome: 'merge_over' | 'merge_not_begun' }> {
  return merge.state === 'queued'
    ? { outcome: 'merge_not_begun', merge, wanted }
    : { outcome: 'merge_over', merge };
}

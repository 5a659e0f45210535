import type { AttemptRecord } from '#contract/attempt-record.ts';
import type { Attempt, Run, RunState } from '#contract/attempt.ts';
import { toIso } from '#kernel/clock.ts';
import { findLoss, type HeldTask } from './run-hold.ts';
import { isEnded, listNextStates } from './run-states.ts';
import type { WorkRefusal } from './work-refusal.ts';

export type KeptRun = AttemptRecord['runs'][number];

/** What says whether a run may begin in an attempt. */
export interface RunStartFacts {
  readonly attempt: Pick<Attempt, 'id' | 'name' | 'task_id'>;
  /** The task as it is now; undefined where it was deleted. */
  readonly task: HeldTask | undefined;
  /** The run of the same attempt that has not ended. */
  readonly other: { readonly id: string; readonly agent: string } | undefined;
}

/** Undefined where it may. Who lost the task while its folder was made starts nothing in it. */
export function decideRunStart(
  { attempt, task, other }: RunStartFacts,
  { fence, in_state }: Pick<Run, 'fence' | 'in_state'>,
): Extract<WorkRefusal, { outcome: 'task_lost' | 'at_work' }> | undefined {
  const { task_id } = attempt;
  const loss = findLoss({ task_id, fence, in_state }, task);
  if (loss !== undefined) return { outcome: 'task_lost', task_id, fence, loss };
  return other === undefined ? undefined : { outcome: 'at_work', attempt, run: other };
}

export interface RunStep {
  /** Where the caller believes it to be. */
  readonly from?: RunState | undefined;
  readonly to: RunState;
  readonly outcome?: Run['outcome'] | undefined;
  readonly message?: string | null | undefined;
  readonly retry_after?: string | null | undefined;
  readonly usage?: Run['usage'] | undefined;
}

/** The run after one step; `ended`: its approvals that are pending expire. */
export function decideRunStep(
  before: KeptRun,
  step: RunStep,
  now: number,
):
  | { readonly outcome: 'save'; readonly run: KeptRun; readonly ended: boolean }
  | Extract<WorkRefusal, { outcome: 'run_moved' | 'no_run_edge' }> {
  const { id, state: from } = before;
  const { to } = step;
  if (step.from !== undefined && step.from !== from)
    return { outcome: 'run_moved', id, state: from, asked: step.from, to };
  const allowed = listNextStates(from);
  if (!allowed.includes(to)) return { outcome: 'no_run_edge', id, from, to, allowed };
  const ended = isEnded(to);
  const began = to === 'draft' ? null : before.started_at;
  // What is begun anew has nothing to say of its end.
  const told = isEnded(from) && !ended ? { outcome: null, message: null, retry_after: null } : before;
  const run: KeptRun = {
    ...before,
    state: to,
    outcome: step.outcome === undefined ? told.outcome : step.outcome,
    message: step.message === undefined ? told.message : step.message,
    retry_after: step.retry_after === undefined ? told.retry_after : step.retry_after,
    usage: step.usage ?? before.usage,
    started_at: to === 'running' ? (began ?? toIso(now)) : began,
    ended_at: ended ? (before.ended_at ?? toIso(now)) : null,
    stop_asked_at: to === 'draft' ? null : before.stop_asked_at,
  };
  return { outcome: 'save', run, ended };
}

/** Whether a run can still be told to stop, or ask for an approval; undefined where it can. */
export function decideRunOpen(
  { id, state, ended_at }: Pick<KeptRun, 'id' | 'state' | 'ended_at'>,
  wants: 'stop' | 'approval',
): Extract<WorkRefusal, { outcome: 'run_ended' }> | undefined {
  const isOver = wants === 'stop' ? isEnded(state) : ended_at !== null;
  return isOver ? { outcome: 'run_ended', id, state, wants } : undefined;
}

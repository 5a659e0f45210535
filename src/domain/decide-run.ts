import type { AttemptRecord } from '#contract/attempt-record.ts';
import type { Attempt, Run, RunState } from '#contract/attempt.ts';
import { toIso } from '#kernel/clock.ts';
import { NO_USAGE } from './count-usage.ts';
import { findLoss, type HeldTask } from './run-hold.ts';
import { isEnded, listNextStates } from './run-states.ts';
import type { WorkEvent } from './work-event.ts';
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

/** What the caller says of a run that is to begin. */
export type RunWish = Pick<
  KeptRun,
  'id' | 'role' | 'agent' | 'executor' | 'fence' | 'in_state' | 'state' | 'session_id'
> & { readonly watcher: NonNullable<KeptRun['watcher']> };

type RunPlan = { readonly run: KeptRun; readonly events: readonly WorkEvent[] };

/** Who lost the task while its folder was made starts nothing in it. */
export function decideRunStart(
  { attempt, task, other }: RunStartFacts,
  wish: RunWish,
  now: number,
): ({ readonly outcome: 'save' } & RunPlan) | Extract<WorkRefusal, { outcome: 'task_lost' | 'at_work' }> {
  const { task_id } = attempt;
  const { id, role, agent, executor, fence, in_state, state, session_id, watcher } = wish;
  const loss = findLoss({ task_id, fence, in_state }, task);
  if (loss !== undefined) return { outcome: 'task_lost', task_id, fence, loss };
  if (other !== undefined) return { outcome: 'at_work', attempt, run: other };
  const at = toIso(now);
  const run: KeptRun = {
    id,
    task_id,
    attempt_id: attempt.id,
    role,
    agent,
    executor,
    fence,
    in_state,
    state,
    outcome: null,
    message: null,
    session_id,
    process: null,
    watcher,
    beat_at: null,
    stop_asked_at: null,
    usage: NO_USAGE,
    retry_after: null,
    created_at: at,
    started_at: state === 'running' ? at : null,
    ended_at: isEnded(state) ? at : null,
  };
  return { outcome: 'save', run, events: [tell(run, null)] };
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

/** The run after one step; `ended`: its approvals that are pending expire, see `decideAnswer`. */
export function decideRunStep(
  before: KeptRun,
  step: RunStep,
  {
    now,
    beside,
  }: {
    readonly now: number;
    /** Of a run that begins anew; see `beginsAnew`. */
    readonly beside?: Pick<RunStartFacts, 'attempt' | 'other'> | undefined;
  },
):
  | ({ readonly outcome: 'save'; readonly ended: boolean } & RunPlan)
  | Extract<WorkRefusal, { outcome: 'run_moved' | 'no_run_edge' | 'at_work' }> {
  const { id, state: from } = before;
  const { to } = step;
  if (step.from !== undefined && step.from !== from)
    return { outcome: 'run_moved', id, state: from, asked: step.from, to };
  const allowed = listNextStates(from);
  if (!allowed.includes(to)) return { outcome: 'no_run_edge', id, from, to, allowed };
  // Its place in the folder may be another run's by now.
  if (beside?.other !== undefined) return { outcome: 'at_work', attempt: beside.attempt, run: beside.other };
  const ended = isEnded(to);
  const began = to === 'draft' ? null : before.started_at;
  // What is begun anew has nothing to say of its end.
  const told = beginsAnew(before, step) ? { outcome: null, message: null, retry_after: null } : before;
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
  return { outcome: 'save', run, ended, events: [tell(run, from)] };
}

/** Whether the step takes up a run that has ended: then no other run of its attempt may be at work. */
export function beginsAnew({ state }: Pick<KeptRun, 'state'>, { to }: Pick<RunStep, 'to'>): boolean {
  return isEnded(state) && !isEnded(to);
}

/** Whether a run can still be told to stop, or ask for an approval; undefined where it can. */
export function decideRunOpen(
  { id, state, ended_at }: Pick<KeptRun, 'id' | 'state' | 'ended_at'>,
  wants: 'stop' | 'approval',
): Extract<WorkRefusal, { outcome: 'run_ended' }> | undefined {
  const isOver = wants === 'stop' ? isEnded(state) : ended_at !== null;
  return isOver ? { outcome: 'run_ended', id, state, wants } : undefined;
}

/** The run once it was told to stop; it is told once. */
export function decideStop(
  before: KeptRun,
  now: number,
):
  | { readonly outcome: 'unchanged' }
  | { readonly outcome: 'save'; readonly run: KeptRun; readonly events: readonly WorkEvent[] }
  | Extract<WorkRefusal, { outcome: 'run_ended' }> {
  const over = decideRunOpen(before, 'stop');
  if (over !== undefined) return over;
  if (before.stop_asked_at !== null) return { outcome: 'unchanged' };
  const run = { ...before, stop_asked_at: toIso(now) };
  // For the process that watches it: it waits for events.
  const asked: WorkEvent = { type: 'run.stop_asked', task_id: run.task_id, data: { run: showRun(run) } };
  return { outcome: 'save', run, events: [asked] };
}

/** What became known of a run meanwhile. */
export interface KnownOfRun {
  readonly process?: NonNullable<KeptRun['process']> | undefined;
  readonly watcher?: NonNullable<KeptRun['watcher']> | undefined;
  readonly session_id?: string | undefined;
  readonly beat_at?: number | undefined;
  readonly usage?: KeptRun['usage'] | undefined;
}

/**
 * The run with what became known of it. `is_kept`: its record on disk has to say it too. A beat or what was used is not
 * worth that: after a rebuild the process that watches it is asked anyway.
 */
export function noteOfRun(
  before: KeptRun,
  known: KnownOfRun,
): { readonly run: KeptRun; readonly is_kept: boolean } {
  const { process, watcher, session_id, beat_at, usage } = known;
  const run: KeptRun = {
    ...before,
    process: process ?? before.process,
    watcher: watcher ?? before.watcher,
    session_id: session_id ?? before.session_id,
    beat_at: beat_at ?? before.beat_at,
    usage: usage ?? before.usage,
  };
  return { run, is_kept: process !== undefined || watcher !== undefined || session_id !== undefined };
}

/** As surfaces and the feed show it. The number of a program that has ended may be somebody else's by now. */
export function showRun({
  process,
  watcher: _watcher,
  beat_at: _beat,
  stop_asked_at: _stop,
  ...run
}: KeptRun): Run {
  return { ...run, pid: run.ended_at === null ? (process?.pid ?? null) : null };
}

function tell(run: KeptRun, from: RunState | null): WorkEvent {
  return { type: 'run.state_changed', task_id: run.task_id, data: { run: showRun(run), from } };
}

import type { Task } from '#contract/task.ts';
import { changesOwner, changesStatus, toEventRow } from './describe-change.ts';
import { findLifeWrite, type OwnWrite } from './own-values.ts';
import type { Happening } from './task-plan.ts';
import type { Life, TaskRecord } from './task-record.ts';
import { toTask } from './to-task.ts';
import { standingState, type ResolvedWorkflow } from './workflow.ts';

/** What one store alone counts of a task; it does not travel. */
export interface LocalNumbers {
  readonly version: number;
  /** Of its newest owner's time with it. */
  readonly fence: number;
}

/** A move as the log has it; `rejection` is 1 where a gate said no. */
export interface Move {
  readonly from_state: string;
  readonly to_state: string;
  readonly from_status: string;
  readonly to_status: string;
  readonly reason: string | null;
  readonly triggered_by: string;
  readonly rejection: number;
}

/** An event of one task, without its number and its time. */
export interface PlannedEvent {
  readonly type: string;
  readonly data: Readonly<Record<string, unknown>>;
}

/** Everything that a write of a task puts down besides its record. */
export interface WritePlan {
  readonly numbers: LocalNumbers;
  readonly task: Task;
  /** The first tells what happened; a second one, where there is one, that the status changed by it. */
  readonly events: readonly [PlannedEvent, ...PlannedEvent[]];
  readonly triggered_by: string;
  /** Undefined where the task stays where it is, with the same owner's time. */
  readonly move: Move | undefined;
  /** What is remembered of a status, owner or closing that was written here. */
  readonly own_write: OwnWrite | undefined;
}

export interface TaskWrite {
  /** Undefined for a new task, and for one that comes back. */
  readonly before: TaskRecord | undefined;
  readonly after: TaskRecord;
  readonly happening: Happening;
  readonly numbers: LocalNumbers;
  /** Who writes; the happening may name another. */
  readonly triggered_by: string;
  readonly workflow: ResolvedWorkflow;
}

export function planWrite(write: TaskWrite): WritePlan {
  const { before, after, happening, numbers, workflow } = write;
  const triggered_by = happening.triggered_by ?? write.triggered_by;
  const task = toTask(after, numbers.version, workflow);
  return {
    numbers,
    task,
    triggered_by,
    events: planEvents({ ...happening, task, before, after }),
    move:
      before === undefined
        ? undefined
        : findMove({ from: before.life, to: after.life, workflow }, { ...happening, triggered_by }),
    own_write: before === undefined ? undefined : findLifeWrite(before, after),
  };
}

/** The numbers that a task gets by a write. */
export function nextNumbers(
  before: (LocalNumbers & { readonly record: TaskRecord }) | undefined,
  after: TaskRecord,
): LocalNumbers {
  return {
    version: (before?.version ?? 0) + 1,
    fence: (before?.fence ?? 0) + (changesOwner(before?.record, after) ? 1 : 0),
  };
}

/**
 * A claim, a close, a release and a reopening are told a second time as `task.status_changed`, for readers that follow
 * that alone.
 */
export function planEvents({
  type,
  changed,
  more,
  task,
  before,
  after,
}: Pick<Happening, 'type' | 'changed' | 'more'> & {
  readonly task: Task;
  readonly before: TaskRecord | undefined;
  readonly after: TaskRecord;
}): readonly [PlannedEvent, ...PlannedEvent[]] {
  const row = before === undefined ? { task } : toEventRow(task, { changed, before, after });
  const first = { type, data: { ...row, changed, ...more } };
  if (before === undefined || !changesStatus(type, before, after)) return [first];
  const states = { from_state: before.life.state, to_state: after.life.state };
  const data = { ...toEventRow(task, { changed: [], before, after }), changed, beside: type, ...states };
  return [first, { type: 'task.status_changed', data }];
}

function findMove(
  { from, to, workflow }: { readonly from: Life; readonly to: Life; readonly workflow: ResolvedWorkflow },
  {
    from_state,
    reason = null,
    rejection = false,
    triggered_by,
  }: Pick<Happening, 'from_state' | 'reason' | 'rejection'> & { readonly triggered_by: string },
): Move | undefined {
  if (from.state === to.state && from.n === to.n) return undefined;
  return {
    from_state: from_state ?? standingState(workflow, from),
    to_state: to.state,
    from_status: from.status,
    to_status: to.status,
    reason,
    triggered_by,
    rejection: rejection ? 1 : 0,
  };
}

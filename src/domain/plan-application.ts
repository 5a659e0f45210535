import { changedNames, changesOwner, eventOf } from './describe-change.ts';
import { planEvents, type LocalNumbers, type PlannedEvent } from './plan-write.ts';
import { isDeleted, type TaskRecord } from './task-record.ts';
import { toTask } from './to-task.ts';
import type { ResolvedWorkflow } from './workflow.ts';

/** A task as a store knows it. */
export interface KnownTask {
  readonly record: TaskRecord;
  /** Of one that is not here those that its next write gets. */
  readonly numbers: LocalNumbers;
  /** False where it is deleted, or was here under another name. */
  readonly is_here: boolean;
}

/** Of a deleted task, those that its next write gets; `undo` where this store knows what it was before. */
export function numbersOfDeleted(undo: Partial<LocalNumbers> | undefined): LocalNumbers {
  return { version: (undo?.version ?? 0) + 1, fence: (undo?.fence ?? 0) + 1 };
}

/** A record that came from elsewhere and takes the place of what was known of its task. */
export interface ApplicationPlan {
  readonly numbers: LocalNumbers;
  /** What the feed is told, where it is told of this task by itself. */
  readonly toEvents: () => readonly [PlannedEvent, ...PlannedEvent[]];
}

/** `record` is the join, so nothing of `before` is lost by it. */
export function planApplication(
  before: KnownTask | undefined,
  record: TaskRecord,
  how: {
    /** At least these: a number that was given out once must not fit again. */
    readonly least?: LocalNumbers | undefined;
    readonly workflow: ResolvedWorkflow;
  },
): ApplicationPlan {
  const { least, workflow } = how;
  const known = before?.numbers ?? { version: 0, fence: 0 };
  const isAway = before?.is_here === false;
  const owner = changesOwner(before?.record, record) ? 1 : 0;
  const numbers = {
    version: Math.max(least?.version ?? 0, known.version + (isAway ? 0 : 1)),
    fence: Math.max(least?.fence ?? 0, known.fence + owner),
  };
  return {
    numbers,
    toEvents: () =>
      planEvents({
        type: nameOf(before, record),
        changed: before === undefined ? [] : changedNames(before.record, record),
        task: toTask(record, numbers.version, workflow),
        before: isAway ? undefined : before?.record,
        after: record,
      }),
  };
}

function nameOf(before: KnownTask | undefined, record: TaskRecord): string {
  if (isDeleted(record)) return 'task.deleted';
  return before?.is_here === true ? eventOf(before.record, record) : 'task.created';
}

import { decideSeen } from './decide-seen.ts';
import { moveRecord } from './task-changes.ts';
import type { Deciding, SeenTask, TaskPlan } from './task-plan.ts';
import type { TaskRecord } from './task-record.ts';
import type { TaskRefusal } from './task-refusal.ts';

/** How long a claim lasts unless its holder says that it is there. */
export interface LeaseTerm {
  /** Of the claim. */
  readonly fence: number;
  readonly ttl_ms: number;
}

/** Whether the holder of the claim `fence` may go on; `lease`: the task's newest. */
export function decideRenewal(
  task: SeenTask,
  { fence, lease }: { readonly fence: number; readonly lease: LeaseTerm | undefined },
): { readonly outcome: 'renew'; readonly lease: LeaseTerm } | TaskRefusal {
  const other = decideSeen(task, { fence });
  if (other !== undefined) return other;
  return lease === undefined || lease.fence !== fence
    ? { outcome: 'no_lease', fence }
    : { outcome: 'renew', lease };
}

/** Gives a task back whose lease is over. */
export function planExpiry(record: TaskRecord, { now, workflow }: Omit<Deciding, 'actor'>): TaskPlan {
  const to = { status: 'open', state: workflow.initial, assignee: null } as const;
  return {
    outcome: 'save',
    after: moveRecord(record, to, now),
    happening: {
      type: 'task.released',
      changed: ['status', 'state', 'assignee'],
      reason: `the lease of ${record.life.assignee ?? 'nobody'} ran out`,
      triggered_by: 'system',
    },
  };
}

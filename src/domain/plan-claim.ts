import { changedNames } from './describe-change.ts';
import { claimRecord } from './task-changes.ts';
import type { Deciding, TaskPlan } from './task-plan.ts';
import type { TaskRecord } from './task-record.ts';

/** The write of a claim that `decideClaim` has given, which says the state. */
export function planClaim(
  record: TaskRecord,
  claim: { readonly assignee: string; readonly state: string; readonly force: boolean },
  { now }: Pick<Deciding, 'now'>,
): TaskPlan {
  const after = claimRecord(record, claim.assignee, now, claim.state);
  return {
    outcome: 'save',
    after,
    happening: {
      type: 'task.claimed',
      changed: changedNames(record, after),
      reason: claim.force ? 'forced' : null,
      forced: claim.force,
      claimed: true,
    },
  };
}

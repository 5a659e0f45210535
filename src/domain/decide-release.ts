import { decideSeen, type Seen } from './decide-seen.ts';
import { moveRecord } from './task-changes.ts';
import type { Deciding, SeenTask, TaskPlan } from './task-plan.ts';
import type { TaskRefusal } from './task-refusal.ts';
import { kindOf } from './workflow.ts';

export interface Release extends Pick<Seen, 'fence'> {
  readonly owner: string;
  /** Also of a task that is another's, or that waits in a gate. */
  readonly force: boolean;
  readonly reason: string | null;
}

/** Gives a claimed task back. */
export function decideRelease(
  task: SeenTask,
  release: Release,
  { now, workflow }: Deciding,
): TaskPlan | TaskRefusal {
  const { life } = task.record;
  if (life.status !== 'in_progress') return { outcome: 'not_claimed' };
  const other = decideSeen(task, { fence: release.fence });
  if (other !== undefined) return other;
  if (life.assignee !== release.owner && !release.force)
    return { outcome: 'not_the_owner', owner: release.owner, next: 'release' };
  if (kindOf(workflow, life.state) === 'gate' && !release.force) return { outcome: 'in_gate' };
  const isForced = release.force && life.assignee !== release.owner;
  const to = { status: 'open', state: workflow.initial, assignee: null } as const;
  return {
    outcome: 'save',
    after: moveRecord(task.record, to, now),
    happening: {
      type: 'task.released',
      changed: ['status', 'state', 'assignee'],
      reason: release.reason ?? (isForced ? 'forced' : null),
      forced: isForced,
    },
  };
}

import { isHeldBy, type Holding } from './task-holding.ts';
import type { TaskRecord } from './task-record.ts';
import type { TaskRefusal } from './task-refusal.ts';
import { otherFields, showWorkflowFields } from './workflow-fields.ts';

/** Undefined where the task is the agent's, by its claim or by a role. */
export function decideHolding(
  record: TaskRecord,
  holding: Holding,
): Extract<TaskRefusal, { outcome: 'not_held' }> | undefined {
  const named = Object.values(showWorkflowFields(otherFields(record)).roles ?? {});
  const roles = named.flatMap((one) => ('agent' in one ? [one.agent] : []));
  const { assignee } = record.life;
  return isHeldBy({ assignee, roles }, holding.agent, holding)
    ? undefined
    : { outcome: 'not_held', agent: holding.agent };
}

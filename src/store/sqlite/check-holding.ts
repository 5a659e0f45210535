import { isHeldBy, type Holding } from '#domain/task-holding.ts';
import { otherFields, showWorkflowFields } from '#domain/workflow-fields.ts';
import { ForgeError } from '#kernel/errors.ts';
import type { Database } from './database.ts';
import { readRecord } from './record-rows.ts';
import { resolveTaskId } from './resolve-id.ts';

/** Throws permission_denied where the task is not the agent's, as this transaction sees it. */
export function checkHolding(db: Database, holding: Holding): void {
  const id = resolveTaskId(db, holding.id);
  const stored = readRecord(db, id);
  if (stored === undefined) return; // the write says what is wrong
  const { life } = stored.record;
  const named = Object.values(showWorkflowFields(otherFields(stored.record)).roles ?? {});
  const roles = named.flatMap((one) => ('agent' in one ? [one.agent] : []));
  if (isHeldBy({ assignee: life.assignee, roles }, holding.agent, holding)) return;
  throw new ForgeError(
    'permission_denied',
    `${id} is not ${holding.agent}'s: an agent changes only tasks that it holds`,
    { hint: 'forge claim --next', details: { id, assignee: life.assignee } },
  );
}

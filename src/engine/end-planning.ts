import type { Task } from '#contract/task.ts';
import { isPlanning } from '#domain/gate-targets.ts';
import { roleOf } from '#domain/workflow.ts';
import { roleField } from '#domain/workflow-fields.ts';
import type { Annotation } from '#domain/plan-transition.ts';
import type { Engine } from './engine.ts';

/**
 * What follows on a plan, before the task moves on. The role of the planner is free again, so that a task is planned
 * once; whoever gives it away anew wants another plan. The folder of the planner goes, so that nothing that was left
 * there becomes part of the work, and the work begins with the target as it is by then. Gives what the task waits for:
 * it is gone on with when its subtasks are closed. Idempotent, for whoever goes on after a crash.
 */
export async function endPlanning(
  engine: Engine,
  { task, state }: { readonly task: Task; readonly state: string },
): Promise<Annotation | undefined> {
  const { workflow, store, by } = engine;
  if (!isPlanning(workflow, state)) return undefined;
  const role = roleOf(workflow, state) ?? '';
  const work = await engine.work?.();
  await work?.endPlanning(task, role);
  if (task.roles?.[role] !== undefined)
    await store.updateTask({ id: task.id, workflow_fields: new Map([[roleField(role), null]]) }, by);
  const { blockers } = await store.readStanding(task.id);
  if (blockers.length === 0) return undefined;
  const ids = blockers.map(({ id }) => id);
  const shown = ids.length <= SHOWN ? ids : [...ids.slice(0, SHOWN), `${ids.length - SHOWN} more`];
  return { code: 'waits_for_subtasks', message: `It was planned and waits for ${shown.join(', ')}` };
}

/** Nobody reads a hundred ids. */
const SHOWN = 10;

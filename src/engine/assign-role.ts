import type { RoleHolder, Task } from '#contract/task.ts';
import { decideRole, explainRoleRefusal } from '#domain/decide-role.ts';
import { ASSIGNEE_ROLE, roleOf, standingState, type ResolvedWorkflow } from '#domain/workflow.ts';
import type { TaskStore } from '#store/store.ts';
import type { Engine } from './engine.ts';
import { checkVersion, retry, transitionTask } from './transition-task.ts';

export interface RoleChange {
  readonly id: string;
  readonly role: string;
  /** Null: nobody. */
  readonly holder: RoleHolder | null;
  readonly version?: number | undefined;
  readonly fence?: number | undefined;
  readonly reset_worktree: boolean;
  readonly reset_workspace: boolean;
}

/**
 * Gives a role to somebody else. Whoever works on a claimed task loses it when their role goes to another: the task is
 * back in the queue, and a review that had passed counts no more. Every other role is only written down.
 */
export async function assignRole(engine: Engine, change: RoleChange): Promise<Task> {
  const { store, by, workflow } = engine;
  const { role, holder, fence } = change;
  const { task, plan, assigned } = await retry(change.version === undefined, async () => {
    const seen = (await store.readStanding(change.id)).task;
    const decided = decideRole(seen, { role, holder }, { actor: by.actor, workflow });
    if (decided.outcome !== 'assign') throw explainRoleRefusal(decided);
    // What was decided is true of the task as it was seen.
    const version = change.version ?? seen.version;
    checkVersion(seen, version);
    // Rows first: a process that is killed in between leaves a task that cannot be merged, not one that can.
    if (decided.clears_reviews) await store.clearReviews({ task_id: seen.id }, by);
    const write = { id: seen.id, version, fence, workflow_fields: decided.fields };
    return { task: seen, plan: decided, assigned: await store.updateTask(write, by) };
  });
  const reset = change.reset_workspace ? 'workspace' : change.reset_worktree ? 'worktree' : undefined;
  const isWorked = plan.takes !== undefined || reset !== undefined;
  const hasAttempt = isWorked && (await store.listAttempts({ task_id: task.id, there: true })).length > 0;
  if (hasAttempt) await (await engine.work?.())?.recall(task, reset);
  if (plan.takes === undefined) return assigned;
  return transitionTask(engine, { id: task.id, to: workflow.initial, fence, reason: plan.takes });
}

export interface HeldRole {
  readonly role: string;
  readonly holder: RoleHolder | null;
  readonly from: 'claim' | 'assigned' | null;
}

/** Every role of the workflow. Who claimed a task has the role of the work, unless somebody else was named for it. */
export async function listRoles(
  store: TaskStore,
  workflow: ResolvedWorkflow,
  id: string,
): Promise<HeldRole[]> {
  const { task } = await store.readStanding(id);
  const standing = roleOf(workflow, standingState(workflow, task));
  const claimed = standing ?? roleOf(workflow, workflow.in_progress);
  const declared = workflow.definition.roles ?? [];
  const bound = [...workflow.states.keys()].some((state) => roleOf(workflow, state) === ASSIGNEE_ROLE);
  const claimer = task.assignee === null ? undefined : await readClaimer(store, task.id, task.assignee);
  return [...declared, ...(bound ? [ASSIGNEE_ROLE] : [])].map((role) => {
    const named = task.roles?.[role];
    if (named !== undefined) return { role, holder: named, from: 'assigned' };
    const mine = role === claimed && claimer !== undefined && task.status === 'in_progress';
    return mine ? { role, holder: claimer, from: 'claim' } : { role, holder: null, from: null };
  });
}

/** The log knows whether it was a person: the task has only the name. */
async function readClaimer(store: TaskStore, id: string, assignee: string): Promise<RoleHolder> {
  const byPerson = await store.findMove({ id, triggered_by: `user:${assignee}` });
  return byPerson !== undefined ? { user: assignee } : { agent: assignee };
}

import type { RoleHolder, Task } from '#contract/task.ts';
import { ASSIGNEE_ROLE, kindOf, roleOf, standingState, type ResolvedWorkflow } from '#domain/workflow.ts';
import { holderName, roleField } from '#domain/workflow-fields.ts';
import { ForgeError } from '#kernel/errors.ts';
import type { Json } from '#kernel/json.ts';
import type { TaskStore } from '#store/store.ts';
import type { Engine } from './engine.ts';
import { checkVersion, transitionTask } from './transition-task.ts';

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
  const { workflow, store, by } = engine;
  if (by.actor.kind === 'agent')
    throw new ForgeError('permission_denied', 'Roles are given by people; an agent cannot change them');
  if (!workflow.roles.has(change.role)) throw unknownRole(workflow, change.role);
  const { task } = await store.readStanding(change.id);
  if (task.status === 'closed') {
    throw new ForgeError('state_invalid', `${task.id} is closed; nobody works on it any more`, {
      hint: `forge task reopen ${task.id}`,
      details: { id: task.id, state: task.state },
    });
  }
  const state = standingState(workflow, task);
  // Who holds a gate does not work on the task: another holder takes nothing from anybody.
  const takes =
    kindOf(workflow, state) === 'active' &&
    roleOf(workflow, state) === change.role &&
    task.assignee !== null &&
    (change.holder === null || holderName(change.holder) !== task.assignee);
  const fields = new Map<string, Json>([[roleField(change.role), change.holder]]);
  const { version, fence } = change;
  checkVersion(task, version);
  if (change.role === roleOf(workflow, workflow.in_progress)) {
    // Rows first: whoever is killed in between leaves a task that cannot be merged, not one that can.
    if (task.review_passed_at !== undefined || kindOf(workflow, state) === 'gate')
      await store.clearReviews({ task_id: task.id }, by);
    if (task.review_passed_at !== undefined) fields.set('review_passed_at', null);
  }
  const assigned = await store.updateTask({ id: task.id, version, fence, workflow_fields: fields }, by);
  const reset = change.reset_workspace ? 'workspace' : change.reset_worktree ? 'worktree' : undefined;
  const isWorked = takes || reset !== undefined;
  const hasAttempt = isWorked && (await store.listAttempts({ task_id: task.id, there: true })).length > 0;
  if (hasAttempt) await (await engine.work?.())?.recall(task, reset);
  if (!takes) return assigned;
  return transitionTask(engine, {
    id: task.id,
    to: workflow.initial,
    fence,
    reason: `the role ${change.role} went to ${change.holder === null ? 'nobody' : holderName(change.holder)}`,
  });
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

function unknownRole(workflow: ResolvedWorkflow, role: string): ForgeError {
  const known = [...(workflow.definition.roles ?? [])];
  return new ForgeError('invalid_input', `The workflow has no role ${role}`, {
    hint: 'forge workflow show',
    details: { role, known },
  });
}

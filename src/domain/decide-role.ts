import type { RoleHolder, Task } from '#contract/task.ts';
import { ForgeError } from '#kernel/errors.ts';
import type { Json } from '#kernel/json.ts';
import type { Deciding } from './task-plan.ts';
import { kindOf, roleOf, standingState, type ResolvedWorkflow } from './workflow.ts';
import { holderName, roleField } from './workflow-fields.ts';

export interface RoleWish {
  readonly role: string;
  /** Null: no holder. */
  readonly holder: RoleHolder | null;
}

export interface RolePlan {
  readonly outcome: 'assign';
  readonly fields: ReadonlyMap<string, Json>;
  /** What was judged so far counts no more. */
  readonly clears_reviews: boolean;
  /** The owner loses the task by it, which goes back into the queue; why, in words. */
  readonly takes: string | undefined;
}

export type RoleRefusal =
  | { readonly outcome: 'not_a_person' }
  | { readonly outcome: 'no_such_role'; readonly role: string; readonly known: readonly string[] }
  | { readonly outcome: 'closed'; readonly id: string; readonly state: string };

/**
 * Gives a role to somebody else. Whoever works on a claimed task loses it when their role goes to another. Who holds a gate
 * does not work on the task: another holder takes nothing from anybody.
 */
export function decideRole(
  task: Pick<Task, 'id' | 'status' | 'state' | 'assignee' | 'review_passed_at'>,
  { role, holder }: RoleWish,
  { actor, workflow }: Omit<Deciding, 'now'>,
): RolePlan | RoleRefusal {
  if (actor.kind === 'agent') return { outcome: 'not_a_person' };
  if (!workflow.roles.has(role))
    return { outcome: 'no_such_role', role, known: [...(workflow.definition.roles ?? [])] };
  if (task.status === 'closed') return { outcome: 'closed', id: task.id, state: task.state };
  const state = standingState(workflow, task);
  const kind = kindOf(workflow, state);
  const isTaken =
    kind === 'active' &&
    roleOf(workflow, state) === role &&
    task.assignee !== null &&
    (holder === null || holderName(holder) !== task.assignee);
  const isPassed = task.review_passed_at !== undefined;
  const isCoder = role === coderOf(workflow);
  return {
    outcome: 'assign',
    fields: new Map<string, Json>([
      [roleField(role), holder],
      ...(isCoder && isPassed ? ([['review_passed_at', null]] as const) : []),
    ]),
    clears_reviews: isCoder && (isPassed || kind === 'gate'),
    takes: isTaken
      ? `the role ${role} went to ${holder === null ? 'nobody' : holderName(holder)}`
      : undefined,
  };
}

/** The role of the work that reviews judge. */
function coderOf(workflow: ResolvedWorkflow): string | undefined {
  return roleOf(workflow, workflow.in_progress);
}

export function explainRoleRefusal(refusal: RoleRefusal): ForgeError {
  switch (refusal.outcome) {
    case 'not_a_person':
      return new ForgeError('permission_denied', 'Roles are given by people; an agent cannot change them');
    case 'no_such_role': {
      const { role, known } = refusal;
      return new ForgeError('invalid_input', `The workflow has no role ${role}`, {
        hint: 'forge workflow show',
        details: { role, known },
      });
    }
    case 'closed': {
      const { id, state } = refusal;
      return new ForgeError('state_invalid', `${id} is closed; nobody works on it any more`, {
        hint: `forge task reopen ${id}`,
        details: { id, state },
      });
    }
  }
}

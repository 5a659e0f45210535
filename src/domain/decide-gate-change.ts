import type { ReviewConfig, RoleHolder } from '#contract/task.ts';
import type { Actor } from './actor.ts';
import { roleOf, type ResolvedWorkflow } from './workflow.ts';

/** What judges the work on a task, before and after a write. */
export interface GateFacts {
  readonly review_config?: ReviewConfig | undefined;
  readonly roles?: Readonly<Record<string, RoleHolder>> | undefined;
}

/**
 * Why an agent may not make this change; undefined where it may. What gates a task is for people to say: an agent
 * neither takes checks away, nor changes those that are there, nor says who holds a gate. Where a task has no checks of
 * its own it may bring some, which run once a person has trusted them.
 */
export function findGateLoosening(
  workflow: ResolvedWorkflow,
  actor: Pick<Actor, 'kind' | 'name'>,
  { before, after }: { readonly before: GateFacts; readonly after: GateFacts },
): string | undefined {
  if (actor.kind !== 'agent') return undefined;
  if (
    !isSame(before.review_config, after.review_config) &&
    !isFirst(before.review_config, after.review_config)
  )
    return 'what its review asks for is for a person to change';
  for (const { name, kind } of workflow.states.values()) {
    const role = kind === 'gate' ? roleOf(workflow, name) : undefined;
    if (role !== undefined && !isSame(before.roles?.[role], after.roles?.[role]))
      return `who holds ${role} is for a person to say`;
  }
  return undefined;
}

/** Whether the commands that check a task are others now; also an empty list, which puts the project's own out of force. */
export function changesSteps(before: GateFacts, after: GateFacts): boolean {
  return !isSame(before.review_config?.ci_steps, after.review_config?.ci_steps);
}

/** Checks where there were none. An empty list is no check: it would put the project's own out of force. */
function isFirst(before: ReviewConfig | undefined, after: ReviewConfig | undefined): boolean {
  return before === undefined && (after?.ci_steps === undefined || after.ci_steps.length > 0);
}

/** Both are small and made by the same code, with their keys in the same order. */
function isSame(one: unknown, other: unknown): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}

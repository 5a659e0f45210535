import type { Attempt, PickRule } from '#contract/attempt.ts';
import type { Task } from '#contract/task.ts';
import type { Actor } from './actor.ts';
import { kindOf, roleOf, type ResolvedWorkflow } from './workflow.ts';

/** What decides whether a caller may choose between the attempts at a task. */
export interface AgentPick {
  readonly actor: Pick<Actor, 'kind' | 'name'>;
  /** What was said when the attempts were begun; else what the settings say. */
  readonly rule: PickRule;
  /** Those that are open, the chosen one among them. */
  readonly attempts: readonly Pick<Attempt, 'agent'>[];
  readonly task: Pick<Task, 'roles'>;
}

export type AgentPickDecision =
  | { readonly outcome: 'allowed' }
  | { readonly outcome: 'refused'; readonly why: string };

/**
 * Which attempt goes on decides what is merged, so a person chooses. An agent does only where the rule is `reviewer` and
 * it holds a gate of the task, and never where one of the attempts is its own.
 */
export function decideAgentPick(
  workflow: ResolvedWorkflow,
  { actor, rule, attempts, task }: AgentPick,
): AgentPickDecision {
  if (actor.kind !== 'agent') return { outcome: 'allowed' };
  if (attempts.some(({ agent }) => agent === actor.name))
    return { outcome: 'refused', why: 'one of the attempts is its own' };
  if (rule !== 'reviewer')
    return { outcome: 'refused', why: `attempts.pick is ${rule}, which lets no agent choose` };
  const gates = [...workflow.states.keys()].filter((state) => kindOf(workflow, state) === 'gate');
  const holders = gates.map((gate) => task.roles?.[roleOf(workflow, gate) ?? '']);
  const isHolder = holders.some((one) => one !== undefined && 'agent' in one && one.agent === actor.name);
  return isHolder ? { outcome: 'allowed' } : { outcome: 'refused', why: 'it does not review this task' };
}

/** Whether a caller may say by which rule is chosen: an agent only as the settings say, or that a person does. */
export function mayNameRule(
  { kind }: Pick<Actor, 'kind'>,
  { asked, set }: { readonly asked: PickRule | undefined; readonly set: PickRule },
): boolean {
  return kind !== 'agent' || asked === undefined || asked === 'person' || asked === set;
}

import type { Task } from '#contract/task.ts';
import type { Actor } from './actor.ts';
import { doesOnEnter } from './decide-review.ts';
import { kindOf, roleOf, standingState, type ResolvedWorkflow } from './workflow.ts';
import { holderName } from './workflow-fields.ts';

/** What decides whether an agent may make a move. */
export interface AgentMove {
  readonly actor: Pick<Actor, 'kind' | 'name'>;
  readonly task: Pick<
    Task,
    'id' | 'status' | 'state' | 'assignee' | 'roles' | 'review_config' | 'review_passed_at'
  >;
  /** It has an attempt that was neither merged nor given up. */
  readonly unfinished: boolean;
  /** It was worked on in an attempt since its last merge, and that attempt was given up. */
  readonly given_up: boolean;
  readonly to: string;
}

export type AgentMoveDecision =
  | { readonly outcome: 'allowed' }
  | { readonly outcome: 'refused'; readonly why: string; readonly gate: string };

const ALLOWED: AgentMoveDecision = { outcome: 'allowed' };

/**
 * An agent does not judge its own work: it never starts a merge, and it neither closes a task nor leaves a gate while a
 * gate on the way has something left to say. A gate has, where somebody holds it, where the task brings checks of its
 * own, or where an attempt is unfinished or was given up: else cancelling and reopening would wash off the work that
 * was not merged. Without any of these there is nothing to review or to merge, and a task may be closed directly.
 * Giving up, giving back and handing in are free, and so is what people and Forge itself do.
 */
export function decideAgentMove(workflow: ResolvedWorkflow, move: AgentMove): AgentMoveDecision {
  const { actor, task, to } = move;
  if (actor.kind !== 'agent') return ALLOWED;
  if (doesOnEnter(workflow, to, 'run_merge'))
    return { outcome: 'refused', gate: to, why: 'an agent cannot merge: a person does, or Forge itself' };
  const from = standingState(workflow, task);
  const isEnd = isDone(workflow, to);
  if (!isEnd && !isPassing(workflow, from, to)) return ALLOWED;
  const ahead = isEnd ? listGates(workflow, from) : [from];
  for (const gate of ahead) {
    const why = findObjection(workflow, move, { from, gate });
    if (why !== undefined) return { outcome: 'refused', gate, why };
  }
  return ALLOWED;
}

/** Whether it counts how the attempts of the task stand. */
export function needsAttempts(
  workflow: ResolvedWorkflow,
  { actor, task, to }: Pick<AgentMove, 'actor' | 'to'> & { readonly task: Pick<Task, 'status' | 'state'> },
): boolean {
  if (actor.kind !== 'agent') return false;
  return isDone(workflow, to) || isPassing(workflow, standingState(workflow, task), to);
}

function isDone(workflow: ResolvedWorkflow, to: string): boolean {
  return kindOf(workflow, to) === 'terminal' && to !== workflow.cancelled;
}

function isPassing(workflow: ResolvedWorkflow, from: string, to: string): boolean {
  return kindOf(workflow, from) === 'gate' && kindOf(workflow, to) === 'gate';
}

/** Why a gate has not been passed; undefined where it has nothing to say. */
function findObjection(
  workflow: ResolvedWorkflow,
  { actor, task, unfinished, given_up }: AgentMove,
  { from, gate }: { readonly from: string; readonly gate: string },
): string | undefined {
  const isHere = gate === from;
  if (doesOnEnter(workflow, gate, 'run_merge')) {
    if (unfinished) return `its attempt has not gone through ${gate}`;
    return given_up ? 'its attempt was given up, not merged: a person closes it' : undefined;
  }
  const checks = doesOnEnter(workflow, gate, 'run_ci_steps');
  if (checks && isHere && task.review_passed_at !== undefined) return undefined;
  const holder = task.roles?.[roleOf(workflow, gate) ?? ''];
  if (holder !== undefined) {
    const isHolder = 'agent' in holder && holder.agent === actor.name && task.assignee !== actor.name;
    // Where Forge runs nothing, the move of the holder is the word of the holder.
    return isHere && !checks && isHolder ? undefined : `${holderName(holder)} has not passed it in ${gate}`;
  }
  if (checks && (task.review_config?.ci_steps ?? []).length > 0)
    return `its checks have not passed in ${gate}`;
  return unfinished ? `its attempt has not gone through ${gate}` : undefined;
}

/**
 * The gates between here and the end. From a gate only the gates right behind it: the way back to work is not the way
 * to the end.
 */
function listGates(workflow: ResolvedWorkflow, from: string): string[] {
  const isGate = (name: string): boolean => kindOf(workflow, name) === 'gate';
  const found = new Set([from]);
  for (const state of found) {
    if (kindOf(workflow, state) === 'terminal') continue;
    const next = workflow.states.get(state)?.next ?? [];
    for (const name of isGate(from) ? next.filter(isGate) : next) found.add(name);
  }
  return [...found].filter(isGate);
}

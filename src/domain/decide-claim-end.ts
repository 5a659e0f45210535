import type { Actor } from './actor.ts';
import type { TaskRecord } from './task-record.ts';
import { kindOf, roleOf, standingState, type ResolvedWorkflow } from './workflow.ts';
import { holderName, isArchived, roleHolder } from './workflow-fields.ts';

/** A write that may end the claim or the reservation of another, or take the task from its owner. */
export interface ClaimEndFacts {
  readonly actor: Pick<Actor, 'kind' | 'name'>;
  readonly before: TaskRecord;
  /** Undefined where the task is deleted. */
  readonly after: TaskRecord | undefined;
  /** The actor said `--force`, where the command has it. */
  readonly forced: boolean;
  /** It is a claim that `decideClaim` has given: by force, or because the owner's lease is over. */
  readonly claimed: boolean;
}

/** The command that does by force what was refused. */
export type ForceCommand = 'release' | 'close' | 'claim';

export type ClaimEndDecision =
  /** No claim of another ends, or it ends by the workflow itself. */
  | { readonly outcome: 'none' }
  /** It ends, and the actor is told whose it was. */
  | { readonly outcome: 'ends'; readonly owner: string }
  | {
      readonly outcome: 'not_the_owner';
      /** The actor. */
      readonly owner: string;
      readonly next: ForceCommand;
    };

const NONE: ClaimEndDecision = { outcome: 'none' };

/**
 * One task, one owner: an agent neither ends nor takes what another owns, by any command or surface, unless it
 * says `--force`. A person may, and is told whose it was. What Forge does by itself is the workflow's, and so is what
 * a gate says of the work that waits in it.
 */
export function decideClaimEnd(facts: ClaimEndFacts, workflow: ResolvedWorkflow): ClaimEndDecision {
  const { actor, before, after, forced, claimed } = facts;
  const owner = before.life.assignee;
  if (actor.kind === 'system' || owner === null || owner === actor.name) return NONE;
  if (!endsOwnership(before, after) || isGateVerdict(facts, workflow)) return NONE;
  if (actor.kind === 'user' || forced || claimed) return { outcome: 'ends', owner };
  return { outcome: 'not_the_owner', owner: actor.name, next: findForce(before, after) };
}

/** A closed task has no owner any more: the name on it says who did the work. */
function endsOwnership(before: TaskRecord, after: TaskRecord | undefined): boolean {
  if (before.life.status === 'closed') return false;
  if (after === undefined || after.life.assignee !== before.life.assignee) return true;
  return after.life.status === 'closed' || (isArchived(after) && !isArchived(before));
}

/**
 * In a gate no agent is at work: its edges are what the gate says of the work, and the holder of its role may also close
 * the task. Which of them an agent may follow is decided by `decideAgentMove`.
 */
function isGateVerdict({ actor, before, after }: ClaimEndFacts, workflow: ResolvedWorkflow): boolean {
  const from = standingState(workflow, before.life);
  if (kindOf(workflow, from) !== 'gate' || after === undefined || after.life.state === from) return false;
  const holder = roleHolder(before, roleOf(workflow, from) ?? '');
  if (holder !== undefined && holderName(holder) === actor.name) return true;
  return workflow.states.get(from)?.next?.includes(after.life.state) === true;
}

function findForce(before: TaskRecord, after: TaskRecord | undefined): ForceCommand {
  if (after?.life.status === 'closed') return 'close';
  const isTaken =
    after !== undefined && after.life.assignee !== null && after.life.assignee !== before.life.assignee;
  return isTaken || before.life.status === 'open' ? 'claim' : 'release';
}

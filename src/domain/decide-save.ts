import { decideAgentMove, needsAttempts } from './decide-agent-move.ts';
import { decideClaimEnd } from './decide-claim-end.ts';
import { changesSteps, findGateLoosening, type GateFacts } from './decide-gate-change.ts';
import { decideLanding, isTakenAway, type LandingFacts } from './decide-landing.ts';
import { decideMoveCheck, needsWorkers, type HookRunner, type MovingWrite } from './decide-move-check.ts';
import type { Deciding, Happening } from './task-plan.ts';
import { isDeleted, type TaskRecord } from './task-record.ts';
import type { TaskRefusal } from './task-refusal.ts';
import { otherFields, showWorkflowFields } from './workflow-fields.ts';

/** A write of a task that is there, whatever decided it. */
export interface Save {
  readonly before: TaskRecord;
  readonly version: number;
  /** Undefined where the task is deleted. */
  readonly after: TaskRecord | undefined;
  readonly happening?: Pick<Happening, 'forced' | 'claimed' | 'triggered_by'>;
}

export interface Saving extends Deciding {
  /** False: the token may not run programs. */
  readonly vouches?: boolean | undefined;
  /** Left out: no engine runs the hooks of a move that this write makes. */
  readonly runner?: HookRunner | undefined;
}

/** Which facts a save needs, so that no others are read. */
export interface SaveNeeds {
  readonly attempts: boolean;
  readonly landing: boolean;
  readonly is_worked_on: boolean;
}

export interface SaveFacts {
  /** The task has an attempt that was neither merged nor given up. */
  readonly unfinished: boolean;
  /** It was worked on in an attempt since its last merge, and that attempt was given up. */
  readonly given_up: boolean;
  /** A merge of the task that is about to move its target, or has just moved it. */
  readonly landing: LandingFacts | undefined;
  /** A run, a review or a merge of the task has not ended, or a process is about to start an agent on it. */
  readonly is_worked_on: boolean;
}

export const NO_SAVE_FACTS: SaveFacts = {
  unfinished: false,
  given_up: false,
  landing: undefined,
  is_worked_on: false,
};

export type SaveDecision =
  | {
      readonly outcome: 'allowed';
      /** Whose claim ends by it, where it is another's. */
      readonly former_owner: string | undefined;
      /** The merge that waits for the task no more. */
      readonly settles: string | undefined;
    }
  | TaskRefusal;

export function listSaveNeeds(save: Save, { actor, workflow, runner }: Saving): SaveNeeds {
  const { before, after } = save;
  const isMove = after !== undefined && before.life.state !== after.life.state;
  return {
    attempts: isMove && needsAttempts(workflow, { actor, task: before.life, to: after.life.state }),
    landing: isTakenAway(before, after),
    is_worked_on: after !== undefined && needsWorkers(toMoving(save, after), runner),
  };
}

/**
 * What holds for every write of a task, so that no way of writing one has rules of its own: what gates it, whose it is,
 * and whether a merge has it in hand.
 */
export function decideSave(
  save: Save,
  { facts, saving }: { readonly facts: SaveFacts; readonly saving: Saving },
): SaveDecision {
  const { before, after, happening } = save;
  const { actor, workflow } = saving;
  const gate = after === undefined ? undefined : decideGates({ before, after }, { facts, saving });
  if (gate !== undefined) return gate;
  const { forced = false, claimed = false, triggered_by } = happening ?? {};
  // What Forge does on the way, as with leases that are over, is not the writer's doing.
  const owner =
    triggered_by === undefined
      ? decideClaimEnd({ actor, before, after, forced, claimed }, workflow)
      : undefined;
  if (owner?.outcome === 'not_the_owner') return owner;
  const merge = isTakenAway(before, after) ? facts.landing : undefined;
  const landing = merge === undefined ? undefined : decideLanding(merge, saving);
  if (landing?.outcome === 'landing') return landing;
  const { runner } = saving;
  const check =
    after === undefined
      ? undefined
      : decideMoveCheck(toMoving(save, after), { runner, is_worked_on: facts.is_worked_on }, saving);
  if (check !== undefined) return { outcome: 'check_first', check };
  return {
    outcome: 'allowed',
    former_owner: owner?.outcome === 'ends' ? owner.owner : undefined,
    settles: merge?.id,
  };
}

function toMoving({ before, version, happening }: Save, after: TaskRecord): MovingWrite {
  return { before: { record: before, version }, after, happening };
}

/** What is told of a save that ends the claim of another. */
export function tellFormer(happening: Happening, former_owner: string | undefined): Happening {
  if (former_owner === undefined) return happening;
  const forced = happening.forced === true && { forced: true };
  return { ...happening, more: { ...happening.more, former_owner, ...forced } };
}

/** An agent does not lead a task past a gate, and a token that may not run programs does not change what checks it. */
function decideGates(
  { before, after }: { readonly before: TaskRecord; readonly after: TaskRecord },
  { facts, saving }: { readonly facts: SaveFacts; readonly saving: Saving },
): TaskRefusal | undefined {
  const { actor, workflow, vouches } = saving;
  // Of people; what an agent may bring is told below. A deleted task comes back with what it had.
  const isBound = vouches === false && actor.kind === 'user' && !isDeleted(before);
  if (isBound && changesSteps(toGateFacts(before), toGateFacts(after)))
    return { outcome: 'checks_kept', actor: actor.name };
  if (actor.kind !== 'agent') return undefined;
  const sides = { before: toGateFacts(before), after: toGateFacts(after) };
  const why = findGateLoosening(workflow, actor, sides);
  if (why !== undefined) return { outcome: 'gates_kept', actor: actor.name, why };
  const { state: to } = after.life;
  if (before.life.state === to) return undefined;
  // As it stood before: what the same write takes away still counts.
  const task = { id: before.id, ...before.life, ...sides.before };
  const { unfinished, given_up } = facts;
  const move = decideAgentMove(workflow, { actor, task, unfinished, given_up, to });
  if (move.outcome === 'allowed') return undefined;
  return { outcome: 'gate_ahead', actor: actor.name, to, gate: move.gate, why: move.why };
}

function toGateFacts(record: TaskRecord): GateFacts {
  return showWorkflowFields(otherFields(record));
}

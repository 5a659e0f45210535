import type { Actor } from './actor.ts';
import type { Claimer } from './claimer.ts';
import type { Life } from './task-record.ts';
import { claimTarget, isParked, kindOf, roleOf, type ResolvedWorkflow } from './workflow.ts';

/**
 * How a task is taken. `claim`: it must be free. `force`: in spite of its owner, its blockers or its role, and by a
 * person also in spite of its parking or its archive. `hand_over`: whoever asks gives it from its owner to another.
 * `move`: it follows from a move along an edge of the workflow, whose guards have looked at blockers.
 */
export type ClaimWay = 'claim' | 'force' | 'hand_over' | 'move';

/** Everything that a claim is decided by, as one transaction sees it. */
export interface ClaimFacts {
  readonly way: ClaimWay;
  /** Where a move leads, and so which role it is about; a claim finds its state itself. */
  readonly to?: string | undefined;
  readonly life: Pick<Life, 'status' | 'state' | 'assignee'>;
  readonly claimer: Claimer;
  /** Who asks for it. */
  readonly asker: Pick<Actor, 'kind' | 'name'>;
  /** The project is paused: agents claim nothing. */
  readonly pauses_agents: boolean;
  readonly archived: boolean;
  /** Other agents that are started with this claim. */
  readonly companions: readonly Claimer[];
  /** Whom a role was given to; undefined where nobody was named. */
  readonly holderOf: (role: string) => string | undefined;
  /** Those that are not closed. */
  readonly blockers: readonly BlockerFacts[];
  /** The owner's lease is over, and everybody has had the time to say that they are still there. */
  readonly lease_over: boolean;
}

export interface BlockerFacts {
  /** It waits in a gate. */
  readonly in_gate: boolean;
  /** Who did the work that it waits with; null where nobody is known. */
  readonly submitted_by: string | null;
}

/** What keeps a claimer from every task. */
export type PauseRefusal =
  | { readonly outcome: 'agent_paused'; readonly agent: string }
  | { readonly outcome: 'project_paused' };

export type ClaimRefusal =
  | PauseRefusal
  | { readonly outcome: 'taken'; readonly owner: string }
  | { readonly outcome: 'role'; readonly role: string; readonly holder: string }
  /** `kept_parked`, `kept_archived`: only a person could have it all the same. */
  | {
      readonly outcome: 'blocked' | 'closed' | 'parked' | 'kept_parked' | 'archived' | 'kept_archived';
    };

export type ClaimDecision =
  | { readonly outcome: 'claim'; readonly state: string }
  /** It is the claimer's already. */
  | { readonly outcome: 'mine' }
  | ClaimRefusal;

/** The one set of rules of every claim, whatever the surface and whatever it is called there. */
export function decideClaim(facts: ClaimFacts, workflow: ResolvedWorkflow): ClaimDecision {
  const { life, claimer, way } = facts;
  // What the workflow leads on by itself is written down also while it is paused; only nothing is started then.
  const paused = way === 'move' && facts.asker.kind === 'system' ? undefined : decidePause(facts);
  if (paused !== undefined) return paused;
  if (life.status === 'closed') return { outcome: 'closed' };
  if (life.status === 'in_progress' && life.assignee === claimer.name && way !== 'move')
    return { outcome: 'mine' };
  const state = facts.to ?? claimTarget(workflow, life, (role) => facts.holderOf(role) === claimer.name);
  if (way === 'force') {
    if (facts.asker.kind !== 'agent') return { outcome: 'claim', state };
    // What a person has put away is taken out again by people.
    if (facts.archived) return { outcome: 'kept_archived' };
    return isParked(workflow, life.state) ? { outcome: 'kept_parked' } : { outcome: 'claim', state };
  }
  const isOthers = life.assignee !== null && life.assignee !== claimer.name;
  // An agent gives away what is its own; people also what is not theirs.
  const takes = way === 'claim' || (way === 'hand_over' && isTaking(facts));
  if (takes && isOthers && !facts.lease_over) return { outcome: 'taken', owner: life.assignee ?? '' };
  if (facts.archived) return { outcome: 'archived' };
  if (way === 'move') return decideMove(facts, { workflow, state });
  if (isParked(workflow, life.state)) return { outcome: 'parked' };
  // Who takes over what waits in a gate begins no work there.
  if (kindOf(workflow, state) === 'gate') return { outcome: 'claim', state };
  if (!facts.blockers.every((blocker) => isContextHolder(claimer.name, blocker)))
    return { outcome: 'blocked' };
  const role = roleOf(workflow, state) ?? '';
  const holder = facts.holderOf(role);
  if (holder !== undefined && holder !== claimer.name) return { outcome: 'role', role, holder };
  return { outcome: 'claim', state };
}

/** An agent begins by a move what it gets itself. A gate that sends work back gives it back to the agent that handed it in. */
function decideMove(
  { life, asker, claimer, holderOf }: ClaimFacts,
  { workflow, state }: { readonly workflow: ResolvedWorkflow; readonly state: string },
): ClaimDecision {
  const isOwn =
    asker.name === claimer.name || (life.status === 'in_progress' && life.assignee === asker.name);
  if (asker.kind !== 'agent' || isOwn || kindOf(workflow, life.state) === 'gate')
    return { outcome: 'claim', state };
  const role = roleOf(workflow, state) ?? '';
  return holderOf(role) === claimer.name
    ? { outcome: 'role', role, holder: claimer.name }
    : { outcome: 'taken', owner: claimer.name };
}

/** Also the claimer's own task is refused: what is claimed again may be started again. */
export function decidePause({
  claimer,
  companions,
  pauses_agents,
}: Pick<ClaimFacts, 'claimer' | 'companions' | 'pauses_agents'>): PauseRefusal | undefined {
  const all = [claimer, ...companions];
  const paused = all.find((one) => one.paused);
  if (paused !== undefined) return { outcome: 'agent_paused', agent: paused.name };
  const isAgents = all.some(({ kind }) => kind === 'agent');
  return pauses_agents && isAgents ? { outcome: 'project_paused' } : undefined;
}

function isTaking({ asker, life }: ClaimFacts): boolean {
  return asker.kind === 'agent' && asker.name !== life.assignee;
}

/** Who did the work that a blocker waits in a gate with may go on before the blocker is through. */
function isContextHolder(name: string, { in_gate, submitted_by }: BlockerFacts): boolean {
  return in_gate && submitted_by === name;
}

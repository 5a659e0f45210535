import type { Status } from '#contract/task.ts';
import type { Actor } from './actor.ts';
import { DEFAULT_RESOLVED, isParked, kindOf, statusOfKind, type ResolvedWorkflow } from './workflow.ts';
import type { Life } from './task-record.ts';

/** What `task update` asks of status, state and owner; undefined is "leave it". */
export interface LifeRequest {
  readonly status?: Status | undefined;
  /** One of the states in which a task is open. */
  readonly state?: string | undefined;
  readonly assignee?: string | null | undefined;
  readonly reason?: string | undefined;
  /** Who asks; becomes the owner where one is needed and none is named. */
  readonly actor: Pick<Actor, 'kind' | 'name'>;
}

export type LifeDecision =
  | { readonly outcome: 'keep' }
  /** Somebody is to have the task; whether they may is decided by `decideClaim`. `named`: the request says who. */
  | {
      readonly outcome: 'claim';
      readonly way: 'claim' | 'hand_over';
      readonly assignee: string;
      readonly named: boolean;
    }
  /** What is parked is put into the queue by people. */
  | { readonly outcome: 'kept_parked' }
  | { readonly outcome: 'close'; readonly reason: string; readonly assignee: string | null }
  | { readonly outcome: 'reopen'; readonly assignee: string | null; readonly state: string }
  | { readonly outcome: 'move'; readonly to: { status: Status; state: string; assignee: string | null } }
  | {
      readonly outcome: 'refused';
      readonly why: string;
      readonly next: 'reopen' | 'release' | 'owner' | 'state' | 'transition';
    };

/**
 * Status, state and owner belong together, so one decision moves them together: no combination of flags can
 * leave a task in progress without an owner or closed without a reason.
 */
export function decideLife(
  life: Life,
  request: LifeRequest,
  workflow: ResolvedWorkflow = DEFAULT_RESOLVED,
): LifeDecision {
  const decision = decideWish(life, request, workflow);
  const unparks = decision.outcome === 'move' && leavesParking(workflow, life.state, decision.to.state);
  return unparks && request.actor.kind === 'agent' ? { outcome: 'kept_parked' } : decision;
}

function decideWish(life: Life, request: LifeRequest, workflow: ResolvedWorkflow): LifeDecision {
  if (request.state !== undefined && !isWaiting(workflow, request.state)) {
    return {
      outcome: 'refused',
      why: `${request.state} is no state in which a task waits`,
      next: 'transition',
    };
  }
  if (request.state !== undefined && request.status !== undefined && request.status !== 'open') {
    return {
      outcome: 'refused',
      why: `a task that is ${request.status} is in no queue to be parked in`,
      next: 'state',
    };
  }
  switch (request.status) {
    case 'in_progress':
      return decideStart(life, request);
    case 'closed':
      if (life.status === 'closed') return { outcome: 'keep' };
      return {
        outcome: 'close',
        reason: request.reason ?? 'done',
        assignee: request.assignee === undefined ? life.assignee : request.assignee,
      };
    case 'open':
      return decideOpen(life, request, workflow);
    case undefined:
      return decideOwner(life, request, workflow);
  }
}

/** Only a wish: `decideClaim` says whether it comes true. */
function decideStart(life: Life, request: LifeRequest): LifeDecision {
  if (request.assignee === null)
    return { outcome: 'refused', why: 'a task in progress has an owner', next: 'owner' };
  const named = request.assignee !== undefined;
  if (!named && life.status === 'in_progress') return { outcome: 'keep' };
  const assignee = request.assignee ?? life.assignee ?? request.actor.name;
  return { outcome: 'claim', way: 'claim', assignee, named };
}

function decideOpen(life: Life, request: LifeRequest, workflow: ResolvedWorkflow): LifeDecision {
  const state = request.state ?? workflow.initial;
  if (life.status === 'closed') return { outcome: 'reopen', assignee: request.assignee ?? null, state };
  if (life.status === 'in_progress') {
    return { outcome: 'move', to: { status: 'open', state, assignee: request.assignee ?? null } };
  }
  const assignee = request.assignee === undefined ? life.assignee : request.assignee;
  return { outcome: 'move', to: { status: 'open', state: request.state ?? life.state, assignee } };
}

function decideOwner(life: Life, request: LifeRequest, workflow: ResolvedWorkflow): LifeDecision {
  if (request.state !== undefined && life.status !== 'open') {
    return life.status === 'closed'
      ? { outcome: 'refused', why: 'it is closed', next: 'reopen' }
      : { outcome: 'refused', why: `it is in progress with ${life.assignee ?? 'nobody'}`, next: 'release' };
  }
  const state = request.state ?? life.state;
  if (request.assignee === undefined) {
    return request.state === undefined
      ? { outcome: 'keep' }
      : { outcome: 'move', to: { status: 'open', state, assignee: life.assignee } };
  }
  if (life.status !== 'in_progress') {
    return { outcome: 'move', to: { status: life.status, state, assignee: request.assignee } };
  }
  if (request.assignee === null) {
    return { outcome: 'move', to: { status: 'open', state: workflow.initial, assignee: null } };
  }
  return request.assignee === life.assignee
    ? { outcome: 'keep' }
    : { outcome: 'claim', way: 'hand_over', assignee: request.assignee, named: true };
}

/** Only in such states a task is open; every other one is reached by a transition. */
function isWaiting(workflow: ResolvedWorkflow, state: string): boolean {
  const kind = kindOf(workflow, state);
  return kind === 'initial' || kind === 'backlog';
}

/** From where a task is parked into the queue, or into work: what only people do. */
export function leavesParking(workflow: ResolvedWorkflow, from: string, to: string): boolean {
  const kind = kindOf(workflow, to);
  return (
    isParked(workflow, from) && kind !== undefined && kind !== 'backlog' && statusOfKind(kind) !== 'closed'
  );
}

import type { Status } from '#contract/task.ts';
import { DEFAULT_RESOLVED, isParked, kindOf, type ResolvedWorkflow } from './workflow.ts';
import type { Life } from './task-record.ts';

/** What `task update` asks of status, state and owner; undefined is "leave it". */
export interface LifeRequest {
  readonly status?: Status | undefined;
  /** One of the states in which a task is open. */
  readonly state?: string | undefined;
  readonly assignee?: string | null | undefined;
  readonly reason?: string | undefined;
  /** Who asks; becomes the owner where one is needed and none is named. */
  readonly actor: string;
}

export type LifeDecision =
  | { readonly outcome: 'keep'; readonly claimed?: true }
  | { readonly outcome: 'claim'; readonly assignee: string; readonly claimed?: true }
  | { readonly outcome: 'lost' }
  | { readonly outcome: 'close'; readonly reason: string; readonly assignee: string | null }
  | { readonly outcome: 'reopen'; readonly assignee: string | null; readonly state: string }
  | { readonly outcome: 'move'; readonly to: { status: Status; state: string; assignee: string | null } }
  | {
      readonly outcome: 'refused';
      readonly why: string;
      readonly next: 'reopen' | 'unpark' | 'release' | 'owner' | 'state' | 'transition';
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
      return decideStart(life, request, workflow);
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

/** The strict claim: `forge claim`. */
export type ClaimDecision =
  | { readonly outcome: 'claim' | 'mine' }
  | { readonly outcome: 'taken'; readonly owner: string }
  | { readonly outcome: 'blocked' | 'closed' | 'parked' };

export function decideClaim(
  life: Life,
  claim: {
    readonly assignee: string;
    readonly open_blockers: number;
    readonly force: boolean;
    /** The owner's lease is over, and everybody has had the time to say that they are still there. */
    readonly expired?: boolean | undefined;
  },
  workflow: ResolvedWorkflow = DEFAULT_RESOLVED,
): ClaimDecision {
  if (life.status === 'closed') return { outcome: 'closed' };
  if (life.status === 'in_progress' && life.assignee === claim.assignee) return { outcome: 'mine' };
  if (claim.force) return { outcome: 'claim' };
  if (life.assignee !== null && life.assignee !== claim.assignee && claim.expired !== true)
    return { outcome: 'taken', owner: life.assignee };
  if (isParked(workflow, life.state)) return { outcome: 'parked' };
  if (claim.open_blockers > 0) return { outcome: 'blocked' };
  return { outcome: 'claim' };
}

function decideStart(life: Life, request: LifeRequest, workflow: ResolvedWorkflow): LifeDecision {
  if (request.assignee === null)
    return { outcome: 'refused', why: 'a task in progress has an owner', next: 'owner' };
  const named = request.assignee !== undefined;
  if (life.status === 'closed') {
    return named ? { outcome: 'lost' } : { outcome: 'refused', why: 'it is closed', next: 'reopen' };
  }
  if (life.status === 'in_progress') {
    if (!named) return { outcome: 'keep' };
    return life.assignee === request.assignee ? { outcome: 'keep', claimed: true } : { outcome: 'lost' };
  }
  if (named && life.assignee !== null && life.assignee !== request.assignee) return { outcome: 'lost' };
  if (isParked(workflow, life.state)) return { outcome: 'refused', why: 'it is parked', next: 'unpark' };
  const assignee = request.assignee ?? life.assignee ?? request.actor;
  return named ? { outcome: 'claim', assignee, claimed: true } : { outcome: 'claim', assignee };
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
    : { outcome: 'claim', assignee: request.assignee };
}

/** Only in such states a task is open; every other one is reached by a transition. */
function isWaiting(workflow: ResolvedWorkflow, state: string): boolean {
  const kind = kindOf(workflow, state);
  return kind === 'initial' || kind === 'backlog';
}

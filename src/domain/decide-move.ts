import { assert } from '#kernel/assert.ts';
import type { Json } from '#kernel/json.ts';
import { decideClaim, type ClaimFacts } from './decide-claim.ts';
import { leavesParking } from './decide-life.ts';
import { decideSeen, type Seen } from './decide-seen.ts';
import { changedNames, eventOf } from './describe-change.ts';
import { findMoveOwner } from './move-owner.ts';
import { claimRecord, closeRecord, editRecord, moveRecord } from './task-changes.ts';
import type { Deciding, SeenTask, TaskPlan, UnfinishedAttempt } from './task-plan.ts';
import type { Life, TaskRecord } from './task-record.ts';
import type { TaskRefusal } from './task-refusal.ts';
import {
  endsAsDone,
  findEdge,
  kindOf,
  listEdges,
  standingState,
  statusOfKind,
  type EdgeKind,
  type ResolvedWorkflow,
} from './workflow.ts';
import { holderName, roleHolder, submitField } from './workflow-fields.ts';

export interface TaskMove extends Pick<Seen, 'version' | 'fence'> {
  readonly to: string;
  readonly reason: string | null;
  readonly rejection?: boolean | undefined;
  readonly workflow_fields?: ReadonlyMap<string, Json> | undefined;
}

/** What a move is decided by besides the task itself; `listMoveNeeds` says which of it counts. */
export interface MoveFacts {
  readonly unfinished: UnfinishedAttempt | undefined;
  /** What a claim is decided by, of the one who begins to work on the task by this move. */
  readonly claim: ClaimFacts | undefined;
}

/** Which facts a move needs, so that no others are read. */
export interface MoveNeeds {
  readonly unfinished: boolean;
  /** Who would begin to work on the task. */
  readonly claim_of: string | undefined;
}

export function listMoveNeeds({ record }: SeenTask, move: TaskMove, deciding: Deciding): MoveNeeds {
  const { actor, workflow } = deciding;
  const edge = findEdge(workflow, standingState(workflow, record.life), move.to);
  if (!isMoveEdge(edge)) return { unfinished: false, claim_of: undefined };
  const { life } = follow(record, { ...move, workflow, edge, actor: actor.name }, deciding.now);
  const isBeginning = kindOf(workflow, move.to) === 'active' && begins(record.life, life);
  return {
    unfinished: endsAsDone(workflow, move.to),
    claim_of: isBeginning ? (life.assignee ?? undefined) : undefined,
  };
}

/** One move along the workflow's edges. */
export function decideMove(
  task: SeenTask,
  move: TaskMove,
  { facts, deciding }: { readonly facts: MoveFacts; readonly deciding: Deciding },
): (TaskPlan & { readonly from: string }) | TaskRefusal {
  const { actor, now, workflow } = deciding;
  const other = decideSeen(task, { version: move.version, fence: move.fence });
  if (other !== undefined) return other;
  const { record } = task;
  const from = standingState(workflow, record.life);
  const edge = findEdge(workflow, from, move.to);
  // Reopening is the one way out of a terminal state, and an operation of its own.
  if (record.life.status === 'closed' && workflow.states.has(move.to)) return { outcome: 'closed' };
  if (!isMoveEdge(edge)) return noEdge(workflow, { from, to: move.to });
  if (endsAsDone(workflow, move.to) && facts.unfinished !== undefined)
    return { outcome: 'not_landed', to: move.to, attempt: facts.unfinished };
  if (actor.kind === 'agent' && leavesParking(workflow, from, move.to))
    return { outcome: 'kept_parked_in', state: from };
  const kinds = { from: kindOf(workflow, from), to: kindOf(workflow, move.to), actor: actor.name };
  const fields = new Map([...(move.workflow_fields ?? []), ...submitField(record, kinds)]);
  const edited = editRecord(record, { fields }, now);
  const after = follow(edited, { ...move, workflow, edge, actor: actor.name }, now);
  if (kinds.to === 'active' && begins(record.life, after.life)) {
    // Who begins to work by a move is under the rules of claims.
    assert(facts.claim !== undefined, 'the facts of a claim were read for who begins by a move');
    const claim = decideClaim(facts.claim, workflow);
    if (claim.outcome !== 'claim' && claim.outcome !== 'mine') return claim;
  }
  return {
    outcome: 'save',
    from,
    after,
    happening: {
      type: eventOf(record, after),
      changed: changedNames(record, after),
      reason: move.reason,
      rejection: move.rejection === true,
    },
  };
}

/** What a move may follow. Closing tells whom it freed, and reopening clears the owner: both are operations of their own. */
export function isMoveEdge(edge: EdgeKind | undefined): edge is MoveEdge {
  return edge !== undefined && edge !== 'close' && edge !== 'reopen';
}

type MoveEdge = Exclude<EdgeKind, 'close' | 'reopen'>;

/** A move that gives the task to a new owner, or lets its owner begin. */
function begins(before: Life, after: Life): boolean {
  if (after.status !== 'in_progress' || after.assignee === null) return false;
  return before.status === 'open' || before.assignee !== after.assignee;
}

/** The record after a move along an edge. The actor that begins to work on a task without an owner becomes its owner. */
function follow(
  record: TaskRecord,
  move: {
    readonly workflow: ResolvedWorkflow;
    readonly edge: MoveEdge;
    readonly to: string;
    readonly reason: string | null;
    readonly actor: string;
  },
  now: number,
): TaskRecord {
  const { workflow, edge, to } = move;
  const { life } = record;
  const kind = kindOf(workflow, to) ?? 'custom';
  if (kind === 'terminal')
    return closeRecord(record, move.reason ?? (edge === 'cancel' ? 'cancelled' : to), now, to);
  const status = statusOfKind(kind);
  const holderOf = (role: string): string | undefined => {
    const holder = roleHolder(record, role);
    return holder && holderName(holder);
  };
  const owner = findMoveOwner(workflow, { life, holderOf, actor: move.actor, to });
  const isBeginning = kind === 'active' && life.status === 'open';
  return owner === null || (owner === life.assignee && !isBeginning)
    ? moveRecord(record, { status, state: to, assignee: owner }, now)
    : claimRecord(record, owner, now, to);
}

function noEdge(
  workflow: ResolvedWorkflow,
  { from, to }: { readonly from: string; readonly to: string },
): Extract<TaskRefusal, { outcome: 'no_edge' }> {
  const next = listEdges(workflow, from).flatMap(({ kind, to: name }) => (isMoveEdge(kind) ? name : []));
  return {
    outcome: 'no_edge',
    from,
    to,
    next,
    is_known: workflow.states.has(to),
    is_closing: to === workflow.closed,
  };
}

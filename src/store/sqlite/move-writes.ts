import type { Task, Transition } from '#contract/task.ts';
import { decideClaim } from '#domain/decide-claim.ts';
import { leavesParking } from '#domain/decide-life.ts';
import { changedNames, eventOf } from '#domain/describe-change.ts';
import { explainRefusal, keptParked } from '#domain/explain-refusal.ts';
import { mapStatus, type StateMap } from '#domain/map-states.ts';
import { findMoveOwner } from '#domain/move-owner.ts';
import { claimRecord, closeRecord, editRecord, moveRecord, reopenRecord } from '#domain/task-changes.ts';
import type { Life, TaskRecord } from '#domain/task-record.ts';
import { toTask } from '#domain/to-task.ts';
import {
  closingState,
  DEFAULT_RESOLVED,
  endsAsDone,
  findEdge,
  kindOf,
  listEdges,
  standingState,
  statusOfKind,
  type EdgeKind,
  type ResolvedWorkflow,
} from '#domain/workflow.ts';
import { holderName, roleHolder, submitField } from '#domain/workflow-fields.ts';
import { ForgeError } from '#kernel/errors.ts';
import type {
  CloseResult,
  HookResult,
  MappedState,
  MovedTask,
  MoveRequest,
  Standing,
  TaskStore,
} from '../store.ts';
import { checkLanded, checkUnfinished } from './check-attempts.ts';
import { checkReopening } from './check-parking.ts';
import { checkSeenState, checkVersion } from './check-version.ts';
import { readClaimFacts, toRefusal, workflowOf } from './claim-facts.ts';
import type { Database, Row } from './database.ts';
import { listBlockers, listFreed } from './ready-queries.ts';
import { readRecord, type StoredRecord } from './record-rows.ts';
import { resolveTaskId } from './resolve-id.ts';
import type { WriteTransaction } from './write-transaction.ts';

/** The port's moves along the workflow; each runs inside one WriteTransaction. */

export function moveTask(tx: WriteTransaction, move: MoveRequest): MovedTask {
  const { by } = tx;
  const workflow = by.workflow ?? DEFAULT_RESOLVED;
  const before = tx.read(resolveTaskId(tx.db, move.id));
  checkVersion(before, move);
  const { record } = before;
  const from = standingState(workflow, record.life);
  const edge = findEdge(workflow, from, move.to);
  // Closing is an operation of its own: it tells whom it freed.
  if (edge === undefined || edge === 'close') throw noEdge(workflow, record, { from, to: move.to });
  if (endsAsDone(workflow, move.to)) checkLanded(tx.db, record, move.to);
  if (by.actor.kind === 'agent' && leavesParking(workflow, from, move.to))
    throw keptParked({ id: record.id, state: from });
  if (edge === 'reopen') checkReopening(tx, record);
  const kinds = { from: kindOf(workflow, from), to: kindOf(workflow, move.to), actor: by.actor.name };
  const fields = new Map([...(move.workflow_fields ?? []), ...submitField(record, kinds)]);
  const edited = editRecord(record, { fields }, by.now);
  const after = follow(edited, { workflow, edge, actor: by.actor.name, ...move }, by.now);
  if (kinds.to === 'active' && begins(record.life, after.life))
    checkBeginner(tx, before, { move, owner: after.life.assignee ?? '' });
  const saved = tx.save(before, after, {
    type: eventOf(record, after),
    changed: changedNames(record, after),
    reason: move.reason,
    rejection: move.rejection === true,
  });
  return { ...saved, from_state: from, to_state: after.life.state };
}

/** A move that gives the task to somebody, or lets its owner begin. */
function begins(before: Life, after: Life): boolean {
  if (after.status !== 'in_progress' || after.assignee === null) return false;
  return before.status === 'open' || before.assignee !== after.assignee;
}

/** Who begins to work by a move is under the rules of claims. */
function checkBeginner(
  tx: WriteTransaction,
  before: StoredRecord,
  { move, owner }: { readonly move: MoveRequest; readonly owner: string },
): void {
  const asked = { way: 'move', to: move.to, assignee: owner, agents: move.agents } as const;
  const decision = decideClaim(readClaimFacts(tx, before, asked), workflowOf(tx));
  if (decision.outcome === 'claim' || decision.outcome === 'mine') return;
  throw explainRefusal(toRefusal(tx, before, decision));
}

/** Throws nothing for a closed task: closing it again changes nothing. */
export function closeTask(tx: WriteTransaction, close: Parameters<TaskStore['closeTask']>[0]): CloseResult {
  const before = tx.read(resolveTaskId(tx.db, close.id));
  checkVersion(before, close);
  checkSeenState(before, close, tx.db);
  const unfinished = checkUnfinished(tx.db, before.record, close.force);
  const state = closingState(tx.by.workflow ?? DEFAULT_RESOLVED, close.reason);
  const after = closeRecord(before.record, close.reason, tx.by.now, state);
  const changed = changedNames(before.record, after);
  const more = unfinished === undefined ? {} : { forced: true, attempt_id: unfinished.id };
  const { task } = tx.save(before, after, { type: 'task.closed', changed, reason: close.reason, more });
  return { ...task, unblocked: after === before.record ? [] : listFreed(tx.db, task.id) };
}

export function reopenTask(tx: WriteTransaction, reopen: Parameters<TaskStore['reopenTask']>[0]): Task {
  const before = tx.read(resolveTaskId(tx.db, reopen.id));
  const { life, id } = before.record;
  checkVersion(before, reopen);
  if (life.status !== 'closed') {
    throw new ForgeError('state_invalid', `${id} is not closed; it is ${life.status}`, {
      details: { id, status: life.status },
    });
  }
  checkSeenState(before, reopen, tx.db);
  checkReopening(tx, before.record);
  const { initial } = tx.by.workflow ?? DEFAULT_RESOLVED;
  const after = reopenRecord(before.record, null, tx.by.now, initial);
  return tx.save(before, after, {
    type: 'task.reopened',
    changed: changedNames(before.record, after),
    reason: reopen.reason,
  }).task;
}

/**
 * Tasks in states that a workflow has no longer go where the map says. No edge leads there and nobody decided about the
 * single task, so no guard and no hook is asked; the log says why it moved. Reads all tasks: it happens once in months.
 */
export function mapStates(tx: WriteTransaction, map: StateMap): MappedState[] {
  return [...map].map(([from, to]) => {
    const rows = tx.db.all('SELECT id FROM tasks WHERE state = ? ORDER BY id', from);
    for (const { id } of rows) mapTask(tx, id as string, { from, to });
    return { from, to, tasks: rows.length };
  });
}

function mapTask(tx: WriteTransaction, id: string, move: { from: string; to: string }): void {
  const before = tx.read(id);
  const { life } = before.record;
  const status = mapStatus({ id, status: life.status }, move, tx.by.workflow ?? DEFAULT_RESOLVED);
  const assignee = status === life.status ? life.assignee : null;
  const after = moveRecord(before.record, { status, state: move.to, assignee }, tx.by.now);
  tx.save(before, after, {
    type: eventOf(before.record, after),
    changed: changedNames(before.record, after),
    reason: `the workflow has no state ${move.from} any more; it was mapped to ${move.to}`,
  });
}

export function recordHookResults(
  db: Database,
  { id, to_state, results }: { id: string; to_state: string; results: readonly HookResult[] },
): void {
  db.run(
    `UPDATE transitions SET hook_results = ?3 WHERE task_id = ?1 AND to_state = ?2 AND created_at =
      (SELECT max(created_at) FROM transitions WHERE task_id = ?1 AND to_state = ?2)`,
    id,
    to_state,
    JSON.stringify(results),
  );
}

export function readStanding(db: Database, ref: string): Standing {
  const id = resolveTaskId(db, ref);
  const stored = readRecord(db, id);
  if (stored === undefined) throw new Error(`task ${id} vanished inside its own transaction`);
  const sql =
    'SELECT from_state, count(*) AS n FROM transitions WHERE task_id = ? AND rejection = 1 GROUP BY from_state';
  return {
    task: toTask(stored.record, stored.version, db.workflow),
    fence: stored.fence,
    blockers: stored.open_blockers > 0 ? listBlockers(db, id) : [],
    rejections: new Map(db.all(sql, id).map((row) => [row.from_state as string, row.n as number])),
  };
}

export function listTransitions(
  db: Database,
  query: { id: string; limit: number | undefined },
): Transition[] {
  const id = resolveTaskId(db, query.id);
  const newest = 'SELECT * FROM transitions WHERE task_id = ? ORDER BY created_at DESC LIMIT ?';
  return db
    .all(newest, id, query.limit ?? -1)
    .reverse()
    .map(toTransition);
}

function toTransition(row: Row): Transition {
  return {
    from_state: row.from_state as string,
    to_state: row.to_state as string,
    from_status: row.from_status as Transition['from_status'],
    to_status: row.to_status as Transition['to_status'],
    trigger_reason: row.reason as string | null,
    triggered_by: row.triggered_by as string,
    rejection: row.rejection === 1,
    created_at: row.created_at as string,
    hook_results:
      row.hook_results === null
        ? null
        : (JSON.parse(row.hook_results as string) as Transition['hook_results']), // written above
  };
}

/** The record after a move along an edge. Who begins to work on a task that nobody has becomes its owner. */
function follow(
  record: TaskRecord,
  move: {
    readonly workflow: ResolvedWorkflow;
    readonly edge: EdgeKind;
    readonly to: string;
    readonly reason: string | null;
    readonly actor: string;
  },
  now: number,
): TaskRecord {
  const { workflow, edge, to } = move;
  const { life } = record;
  const kind = kindOf(workflow, to) ?? 'custom';
  if (edge === 'reopen') return reopenRecord(record, null, now, to);
  if (kind === 'terminal')
    return closeRecord(record, move.reason ?? (edge === 'cancel' ? 'cancelled' : to), now, to);
  const status = statusOfKind(kind);
  const holderOf = (role: string): string | undefined => {
    const holder = roleHolder(record, role);
    return holder && holderName(holder);
  };
  const owner = findMoveOwner(workflow, { life, holderOf, actor: move.actor, to });
  const begins = kind === 'active' && life.status === 'open';
  return owner === null || status === 'open' || (owner === life.assignee && !begins)
    ? moveRecord(record, { status, state: to, assignee: owner }, now)
    : claimRecord(record, owner, now, to);
}

function noEdge(
  workflow: ResolvedWorkflow,
  { id, life }: TaskRecord,
  { from, to }: { from: string; to: string },
): ForgeError {
  const next = listEdges(workflow, from).flatMap((edge) => (edge.kind === 'close' ? [] : edge.to));
  const known = workflow.states.has(to);
  return new ForgeError(
    'state_invalid',
    known ? `${id} cannot go from ${from} to ${to}` : `The workflow has no state ${to}`,
    {
      hint:
        to === workflow.closed
          ? `forge task close ${id} --reason "…"`
          : next.length === 0
            ? 'forge workflow show'
            : `forge task transition ${id} ${next[0] ?? ''}`,
      details: { id, state: life.state, status: life.status, next },
    },
  );
}

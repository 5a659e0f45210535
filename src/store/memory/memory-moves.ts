import type { Task, Transition } from '#contract/task.ts';
import { decideClose, decideReopen } from '#domain/decide-close.ts';
import { decideMove, listMoveNeeds } from '#domain/decide-move.ts';
import { planMapping, type StateMap } from '#domain/map-states.ts';
import { countRejections, grantsBudget } from '#domain/retry-budget.ts';
import { toTask } from '#domain/to-task.ts';
import { findUnfinished } from '#domain/worked-attempts.ts';
import { compareText } from '#kernel/text.ts';
import type { CloseResult, MappedState, MovedTask, MoveRequest, Standing, TaskStore } from '../store.ts';
import type { MoveQuery } from '../task-looks.ts';
import { readClaimFacts } from './memory-claims.ts';
import { resolveTaskId } from './memory-ids.ts';
import { listFreed } from './memory-lists.ts';
import { listBlockers } from './memory-rows.ts';
import { savePlan, toDeciding, toError, toSeen } from './memory-seen.ts';
import { toKey, type MemoryTables, type TaskRow, type TransitionRow } from './memory-tables.ts';
import type { MemoryTransaction } from './memory-transaction.ts';
import { listWorked } from './memory-worked.ts';
import { workflowOf } from './memory-workflow.ts';

/** The port's moves along the workflow, and what the log says of them. */

export function moveTask(tx: MemoryTransaction, move: MoveRequest): MovedTask {
  const { tables } = tx;
  const before = tx.read(resolveTaskId(tables, move.id));
  const [seen, deciding] = [toSeen(before), toDeciding(tx)];
  const { claim_of } = listMoveNeeds(seen, move, deciding);
  const asked = { way: 'move', to: move.to, agents: move.agents } as const;
  const facts = {
    unfinished: findUnfinished(listWorked(tables, before.record.id)),
    claim: claim_of === undefined ? undefined : readClaimFacts(tx, before, { ...asked, assignee: claim_of }),
  };
  const decision = decideMove(seen, move, { facts, deciding });
  if (decision.outcome !== 'save') throw toError(tables, before, decision);
  const { state: to_state } = decision.after.life;
  return { ...savePlan(tx, before, decision), from_state: decision.from, to_state };
}

export function closeTask(tx: MemoryTransaction, close: Parameters<TaskStore['closeTask']>[0]): CloseResult {
  const { tables } = tx;
  const before = tx.read(resolveTaskId(tables, close.id));
  const unfinished = findUnfinished(listWorked(tables, before.record.id));
  const decision = decideClose(toSeen(before), { ...close, unfinished }, toDeciding(tx));
  const { task } = savePlan(tx, before, decision);
  const isChanged = task.version !== before.version;
  return { ...task, ...(isChanged ? listFreed(tables, task.id) : { unblocked: [] }) };
}

export function reopenTask(tx: MemoryTransaction, reopen: Parameters<TaskStore['reopenTask']>[0]): Task {
  const before = tx.read(resolveTaskId(tx.tables, reopen.id));
  const closed_from = readClosedFrom(tx.tables, before.record.id);
  const decision = decideReopen(toSeen(before), { ...reopen, closed_from }, toDeciding(tx));
  return savePlan(tx, before, decision).task;
}

export function mapStates(tx: MemoryTransaction, map: StateMap): MappedState[] {
  return [...map].map(([from, to]) => {
    const rows = tx.tables.tasks.list().filter(({ record }) => record.life.state === from);
    rows.sort((a, b) => compareText(a.record.id, b.record.id));
    for (const before of rows) savePlan(tx, before, planMapping(before.record, { from, to }, toDeciding(tx)));
    return { from, to, tasks: rows.length };
  });
}

/** The newest first. */
export function listMoves({ transitions }: MemoryTables, id: string): TransitionRow[] {
  const keyOf = (row: TransitionRow): string =>
    toKey(row.created_at, row.from_state, row.to_state, row.triggered_by);
  return transitions
    .list()
    .filter(({ task_id }) => task_id === id)
    .sort((a, b) => compareText(keyOf(b), keyOf(a)));
}

export function recordHookResults(
  tables: MemoryTables,
  { id, to_state, results }: Parameters<TaskStore['recordHookResults']>[0],
): void {
  const row = listMoves(tables, id).find((move) => move.to_state === to_state);
  if (row === undefined) return;
  const { created_at, from_state, triggered_by } = row;
  const key = toKey(id, created_at, from_state, to_state, triggered_by);
  const hook_results = results as Transition['hook_results']; // as it comes back from its JSON
  tables.transitions.set(key, { ...row, hook_results });
}

/** The state that a task stood in when it was closed last. */
export function readClosedFrom(tables: MemoryTables, id: string): string | undefined {
  return listMoves(tables, id).find(({ to_status }) => to_status === 'closed')?.from_state;
}

export function readStanding(tables: MemoryTables, ref: string): Standing {
  const id = resolveTaskId(tables, ref);
  const { record, version, fence } = tables.tasks.get(id) as TaskRow; // it was found
  const { blocked } = workflowOf(tables);
  const granted = findGrant(tables, { id, blocked })?.created_at ?? '';
  const since = listMoves(tables, id).filter(({ created_at }) => created_at >= granted);
  return {
    task: toTask(record, version, workflowOf(tables)),
    fence,
    blockers: listBlockers(tables, record),
    rejections: countRejections(since),
  };
}

export function findGrant(
  tables: MemoryTables,
  { id, blocked }: { readonly id: string; readonly blocked: string | undefined },
): Transition | undefined {
  const row = listMoves(tables, id).find((move) => grantsBudget({ blocked }, move));
  return row && toTransition(row);
}

export function listTransitions(
  tables: MemoryTables,
  query: Parameters<TaskStore['listTransitions']>[0],
): Transition[] {
  const moves = listMoves(tables, resolveTaskId(tables, query.id)).filter(
    (move) => query.changes_state !== true || move.from_state !== move.to_state,
  );
  return moves.slice(0, query.limit).reverse().map(toTransition);
}

/** The newest move of a task that is so. */
export function findMove(
  tables: MemoryTables,
  { id, changes_state, ...wanted }: MoveQuery,
): Transition | undefined {
  const { from_status, to_status, to_state, triggered_by } = wanted;
  const row = listMoves(tables, id).find(
    (move) =>
      (from_status ?? move.from_status) === move.from_status &&
      (to_status ?? move.to_status) === move.to_status &&
      (to_state ?? move.to_state) === move.to_state &&
      (triggered_by ?? move.triggered_by) === move.triggered_by &&
      (changes_state !== true || move.from_state !== move.to_state),
  );
  return row && toTransition(row);
}

function toTransition({ task_id: _task, event_seq: _seq, ...move }: TransitionRow): Transition {
  return move;
}

import type { Task } from '#contract/task.ts';
import { listReached } from '#domain/bounded-walk.ts';
import { decideDelete } from '#domain/decide-delete.ts';
import {
  explainForgotten,
  findUndo,
  knowsOf,
  planRestore,
  type RestorePlan,
} from '#domain/decide-restore.ts';
import type { Neighbours } from '#domain/graph-paths.ts';
import { encodeRecord } from '#domain/record-codec.ts';
import { textValue } from '#domain/task-record.ts';
import { findTieBack, planTie, type Ties } from '#domain/task-ties.ts';
import { toTask } from '#domain/to-task.ts';
import { compareText } from '#kernel/text.ts';
import type { DeletedTask } from '../report.ts';
import type { DeleteResult, TaskStore } from '../store.ts';
import { blockersOf, parentsOf } from './memory-edges.ts';
import { resolveTaskId } from './memory-ids.ts';
import { adoptWaiting, listBlockers, listChildren, listInbound, readLine, removeRow } from './memory-rows.ts';
import { checkSave } from './memory-save.ts';
import { checkSeen, savePlan, toDeciding, toError, toSeen } from './memory-seen.ts';
import type { DeletedRow, MemoryTables } from './memory-tables.ts';
import type { MemoryTransaction } from './memory-transaction.ts';
import { workflowOf } from './memory-workflow.ts';

/** Deletion and its undo. */

export function deleteTask(
  tx: MemoryTransaction,
  remove: Parameters<TaskStore['deleteTask']>[0],
): DeleteResult {
  const { tables } = tx;
  const stored = tx.read(resolveTaskId(tables, remove.id));
  const { record, version } = stored;
  const { id } = record;
  checkSeen(tables, stored, { version: remove.version, fence: remove.fence });
  const former_owner = checkSave(tx, stored, { after: undefined });
  const waited = listInbound(tables, id)
    .filter(({ from, type }) => type === 'blocks' && listBlockers(tables, from.record).length > 0)
    .map(({ from }) => from.record.id);
  const plan = decideDelete(toSeen(stored), { ties: readTies(tables, id) }, toDeciding(tx));
  if (plan.outcome !== 'delete') throw toError(tables, stored, plan);
  for (const [neighbour, tie] of plan.ties) {
    const before = tx.read(neighbour);
    savePlan(tx, before, planTie(before.record, { id, tie, is_there: false }, tx.by));
  }
  const deleted_at = textValue(plan.after, 'deleted_at');
  removeRow(tables, id);
  tables.deleted.set(id, { id, deleted_at, line: encodeRecord(plan.after), undo: plan.undo });
  const former = former_owner === undefined ? {} : { former_owner };
  const task = toTask(record, version, workflowOf(tables));
  tx.tell({ type: 'task.deleted', task_id: id, data: { task, changed: [], ...former } });
  return {
    id,
    title: textValue(record, 'title'),
    deleted_at,
    orphaned: [...plan.undo.children],
    unblocked: waited.filter((from) => listBlockers(tables, tx.read(from).record).length === 0),
    ...former,
  };
}

function readTies(tables: MemoryTables, id: string): Ties {
  return {
    children: listChildren(tables, id)
      .map(({ record }) => record.id)
      .sort(compareText),
    dependents: listInbound(tables, id).map(({ from, type }) => [from.record.id, type]),
  };
}

export function restoreTask(tx: MemoryTransaction, restore: Parameters<TaskStore['restoreTask']>[0]): Task {
  const { tables } = tx;
  const id = resolveTaskId(tables, restore.id, 'deleted');
  const { line, undo: own } = tables.deleted.get(id) as DeletedRow; // it was found
  const deleted = readLine(line);
  const undo = findUndo({ own, remembered: restore.remembered, deleted });
  if (undo === undefined) throw explainForgotten(id);
  const before = readLine(undo.before);
  checkSeen(
    tables,
    { row: 0, record: before, version: undo.version, fence: undo.fence },
    { fence: restore.fence },
  );
  const plan = planRestore(deleted, { undo, before, is_here: (other) => tables.tasks.has(other) }, tx.by);
  tables.deleted.delete(id);
  const { task } = tx.restore(plan.after, plan.numbers, plan.happening);
  dropWaitingCycles(tx, id);
  adoptWaiting(tables, id);
  restoreTies(tx, id, plan);
  return task;
}

function restoreTies(tx: MemoryTransaction, id: string, { ties, since }: RestorePlan): void {
  const { tables } = tx;
  // A tie to this task adds no way out of it.
  const [above, awaited] = [listAll(id, parentsOf(tables)), listAll(id, blockersOf(tables))];
  for (const [neighbour, tie] of ties) {
    const stored = tables.tasks.get(neighbour);
    if (stored === undefined) continue;
    const reach = { is_above: above.has(neighbour), is_awaited: awaited.has(neighbour) };
    const back = findTieBack(stored.record, { id, tie, since, ...reach });
    if (back !== undefined)
      savePlan(tx, stored, planTie(stored.record, { id, tie: back, is_there: true }, tx.by));
  }
}

/** An edge that waited for this task is dropped where its coming back would close a cycle. */
function dropWaitingCycles(tx: MemoryTransaction, id: string): void {
  const awaited = listAll(id, blockersOf(tx.tables));
  const waiting = tx.tables.waiting.list().filter(({ to, type }) => to === id && type === 'blocks');
  for (const { from } of waiting.sort((a, b) => compareText(a.from, b.from))) {
    if (!awaited.has(from)) continue;
    const before = tx.read(from);
    const tie = { child: false, types: ['blocks'] } as const;
    savePlan(tx, before, planTie(before.record, { id, tie, is_there: false }, tx.by));
  }
}

function listAll(id: string, next: Neighbours): ReadonlySet<string> {
  return listReached(id, { next, most: Infinity }) ?? new Set(); // there is no bound
}

export function readDeleted(tables: MemoryTables, ref: string): DeletedTask {
  const id = resolveTaskId(tables, ref, 'deleted');
  const { deleted_at, undo } = tables.deleted.get(id) as DeletedRow; // it was found
  return { id, deleted_at, knows: knowsOf(undo) };
}

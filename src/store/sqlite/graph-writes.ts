import type { DependencyType, Task } from '#contract/task.ts';
import { decideDelete, type Undo } from '#domain/decide-delete.ts';
import {
  decideDependency,
  decideNoDependency,
  isDependency,
  needsWayBack,
} from '#domain/decide-dependency.ts';
import { explainForgotten, findUndo, planRestore, type RestorePlan } from '#domain/decide-restore.ts';
import { explainGraphRefusal } from '#domain/graph-refusal.ts';
import { findTieBack, planTie, type Ties } from '#domain/task-ties.ts';
import { textValue } from '#domain/task-record.ts';
import { toTask } from '#domain/to-task.ts';
import { readJson } from '#kernel/read-json.ts';
import type { DeleteResult, TaskStore } from '../store.ts';
import { checkSave } from './check-save.ts';
import type { Database } from './database.ts';
import { adoptUnresolved, removeRow } from './edge-rows.ts';
import { findWayBack, listAllBlockers, listAncestors } from './graph-walks.ts';
import { refuseManyRestored, refuseManyTies } from './neighbour-bounds.ts';
import { toEncoded } from '#domain/encoded-record.ts';
import { readLine, readRecord, type StoredRecord } from './record-rows.ts';
import { resolveTaskId } from './resolve-id.ts';
import { checkSeen, savePlan, toDeciding, toError, toSeen } from './save-plan.ts';
import type { WriteTransaction } from './write-transaction.ts';

/** The port's writes that touch more than one task: edges, deletion and its undo. */

export function addDependency(
  tx: WriteTransaction,
  edge: Parameters<TaskStore['addDependency']>[0],
): { from_id: string; to_id: string; added: boolean } {
  const from_id = resolveTaskId(tx.db, edge.from_id);
  const to_id = edge.foreign === true ? edge.to_id : resolveTaskId(tx.db, edge.to_id);
  const before = tx.read(from_id);
  const [seen, deciding, wish] = [toSeen(before), toDeciding(tx), { ...edge, to: to_id }];
  const way_back = needsWayBack(seen, wish, deciding) ? findWayBack(tx, from_id, to_id) : undefined;
  const decision = decideDependency(seen, wish, { way_back, deciding });
  if (decision.outcome === 'kept') return { from_id, to_id, added: false };
  savePlan(tx, before, decision);
  return { from_id, to_id, added: true };
}

export function removeDependency(
  tx: WriteTransaction,
  edge: Parameters<TaskStore['removeDependency']>[0],
): { from_id: string; to_id: string; removed: DependencyType[] } {
  const from_id = resolveTaskId(tx.db, edge.from_id);
  const before = tx.read(from_id);
  checkSeen(tx, before, { fence: edge.fence });
  const to_id = isDependency(before.record, edge.to_id) ? edge.to_id : resolveTaskId(tx.db, edge.to_id);
  const decision = decideNoDependency(toSeen(before), { to: to_id, type: edge.type }, toDeciding(tx));
  if (decision.outcome !== 'save') throw toError(tx, before, decision);
  savePlan(tx, before, decision);
  return { from_id, to_id, removed: [...decision.removed] };
}

export function deleteTask(
  tx: WriteTransaction,
  remove: Parameters<TaskStore['deleteTask']>[0],
): DeleteResult {
  const { db } = tx;
  const stored = tx.find(remove.id);
  const { record } = stored;
  const { id } = record;
  checkSeen(tx, stored, { version: remove.version, fence: remove.fence });
  const former_owner = checkSave(tx, stored, { after: undefined });
  if (tx.bounded) refuseManyTies(db, id);
  const wereBlocked = db
    .all(
      `SELECT t.id FROM dependencies d JOIN tasks t ON t.id = d.from_id
        WHERE d.to_id = ? AND d.dep_type = 'blocks' AND t.open_blockers > 0 ORDER BY t.id`,
      id,
    )
    .map((row) => row.id as string);
  const plan = decideDelete(toSeen(stored), { ties: readTies(db, id) }, toDeciding(tx));
  if (plan.outcome !== 'delete') throw toError(tx, stored, plan);
  for (const [neighbour, tie] of plan.ties) {
    const before = tx.read(neighbour);
    savePlan(tx, before, planTie(before.record, { id, tie, is_there: false }, tx.by));
  }
  const deleted = toEncoded(plan.after);
  const deleted_at = textValue(plan.after, 'deleted_at');
  removeRow(db, id);
  db.run(
    'INSERT INTO deleted_tasks (id, deleted_at, line, undo, digest) VALUES (?, ?, ?, ?, ?)',
    id,
    deleted_at,
    deleted.line,
    JSON.stringify(plan.undo),
    deleted.digest,
  );
  tx.saveLine(deleted, plan.numbers);
  const more = former_owner === undefined ? {} : { former_owner };
  tx.emit(id, { type: 'task.deleted', changed: [], more }, toTask(record, stored.version, tx.db.workflow));
  return {
    id,
    title: textValue(record, 'title'),
    deleted_at,
    orphaned: [...plan.undo.children],
    unblocked: wereBlocked.filter((from) => readOpenBlockers(db, from) === 0),
    ...(former_owner !== undefined && { former_owner }),
  };
}

function readTies(db: Database, id: string): Ties {
  const children = db.all('SELECT id FROM tasks WHERE parent_id = ? ORDER BY id', id);
  const inbound = db.all(
    'SELECT from_id, dep_type FROM dependencies WHERE to_id = ? ORDER BY from_id, dep_type',
    id,
  );
  return {
    children: children.map((row) => row.id as string),
    dependents: inbound.map((row) => [row.from_id as string, row.dep_type as DependencyType]),
  };
}

export function restoreTask(tx: WriteTransaction, restore: Parameters<TaskStore['restoreTask']>[0]): Task {
  const { db } = tx;
  const id = resolveTaskId(db, restore.id, 'deleted');
  const row = db.get('SELECT line, undo FROM deleted_tasks WHERE id = ?', id);
  const deleted = readLine(row?.line as string);
  const own = typeof row?.undo === 'string' ? (readJson(row.undo) as Undo) : undefined; // written by deleteTask
  const undo = findUndo({ own, remembered: restore.remembered, deleted });
  if (undo === undefined) throw explainForgotten(id);
  const before = readLine(undo.before);
  checkSeen(tx, { ...undo, record: before }, { fence: restore.fence });
  if (tx.bounded) refuseManyRestored(db, id, [...undo.children, ...undo.dependents.map(([from]) => from)]);
  const is_here = (other: string): boolean =>
    db.get('SELECT 1 AS found FROM tasks WHERE id = ?', other) !== undefined;
  const plan = planRestore(deleted, { undo, before, is_here }, tx.by);
  db.run('DELETE FROM deleted_tasks WHERE id = ?', id);
  const { task } = tx.restore(plan.after, plan.numbers, plan.happening);
  dropWaitingCycles(tx, id);
  adoptUnresolved(db, id);
  restoreTies(tx, id, plan);
  return task;
}

function restoreTies(tx: WriteTransaction, id: string, { ties, since }: RestorePlan): void {
  if (ties.size === 0) return;
  // A tie to this task adds no way out of it, so that what can be reached from it is read once.
  const [above, awaited] = [listReached(tx, id, listAncestors), listReached(tx, id, listAllBlockers)];
  for (const [neighbour, tie] of ties) {
    const stored = readRecord(tx.db, neighbour);
    if (stored === undefined) continue;
    const reach = { is_above: above.has(neighbour), is_awaited: awaited.has(neighbour) };
    const back = findTieBack(stored.record, { id, tie, since, ...reach });
    if (back !== undefined)
      savePlan(tx, stored, planTie(stored.record, { id, tie: back, is_there: true }, tx.by));
  }
}

function listReached(tx: WriteTransaction, id: string, list: typeof listAncestors): ReadonlySet<string> {
  const reached = list(tx, id);
  if (reached !== undefined) return reached;
  throw explainGraphRefusal(id, { outcome: 'walk_too_long', command: `forge task restore ${id}` });
}

function readOpenBlockers(db: Database, id: string): number {
  return Number(db.get('SELECT open_blockers FROM tasks WHERE id = ?', id)?.open_blockers ?? 0);
}

/** An edge that waited for this task is dropped where its coming back would close a cycle. */
function dropWaitingCycles(tx: WriteTransaction, id: string): void {
  const waiting =
    "SELECT from_id FROM unresolved_dependencies WHERE to_id = ? AND dep_type = 'blocks' ORDER BY from_id";
  const rows = tx.db.all(waiting, id);
  if (rows.length === 0) return;
  const awaited = listReached(tx, id, listAllBlockers);
  for (const row of rows) {
    const from = row.from_id as string;
    if (!awaited.has(from)) continue;
    const before: StoredRecord = tx.read(from);
    const tie = { child: false, types: ['blocks'] } as const;
    savePlan(tx, before, planTie(before.record, { id, tie, is_there: false }, tx.by));
  }
}

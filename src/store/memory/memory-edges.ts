import type { DependencyType } from '#contract/task.ts';
import type { Reach } from '#domain/bounded-walk.ts';
import {
  decideDependency,
  decideNoDependency,
  isDependency,
  needsWayBack,
} from '#domain/decide-dependency.ts';
import { findPath, type Neighbours } from '#domain/graph-paths.ts';
import { listDependencies } from '#domain/record-codec.ts';
import { LIMITS } from '#kernel/limits.ts';
import { compareText } from '#kernel/text.ts';
import type { ForeignEdge, TaskStore } from '../store.ts';
import { resolveTaskId } from './memory-ids.ts';
import { parentOf } from './memory-rows.ts';
import { checkSeen, savePlan, toDeciding, toError, toSeen } from './memory-seen.ts';
import { toKey, type MemoryTables } from './memory-tables.ts';
import type { MemoryTransaction } from './memory-transaction.ts';

/** Edges of the graph, those to tasks of other projects too. */

export function addDependency(
  tx: MemoryTransaction,
  edge: Parameters<TaskStore['addDependency']>[0],
): { from_id: string; to_id: string; added: boolean } {
  const { tables } = tx;
  const from_id = resolveTaskId(tables, edge.from_id);
  const to_id = edge.foreign === true ? edge.to_id : resolveTaskId(tables, edge.to_id);
  const before = tx.read(from_id);
  const [seen, deciding, wish] = [toSeen(before), toDeciding(tx), { ...edge, to: to_id }];
  const way_back = needsWayBack(seen, wish, deciding) ? findWayBack(tables, from_id, to_id) : undefined;
  const decision = decideDependency(seen, wish, { way_back, deciding });
  if (decision.outcome === 'kept') return { from_id, to_id, added: false };
  savePlan(tx, before, decision);
  return { from_id, to_id, added: true };
}

export function removeDependency(
  tx: MemoryTransaction,
  edge: Parameters<TaskStore['removeDependency']>[0],
): { from_id: string; to_id: string; removed: DependencyType[] } {
  const { tables } = tx;
  const from_id = resolveTaskId(tables, edge.from_id);
  const before = tx.read(from_id);
  checkSeen(tables, before, { fence: edge.fence });
  const to_id = isDependency(before.record, edge.to_id) ? edge.to_id : resolveTaskId(tables, edge.to_id);
  const wish = { to: to_id, type: edge.type };
  const decision = decideNoDependency(toSeen(before), wish, toDeciding(tx));
  if (decision.outcome !== 'save') throw toError(tables, before, decision);
  savePlan(tx, before, decision);
  return { from_id, to_id, removed: [...decision.removed] };
}

/** Whether `from` is reached from `to` by `blocks` edges. */
function findWayBack(tables: MemoryTables, from: string, to: string): Reach {
  return findWay(to, from, blockersOf(tables));
}

/** Whether the parent lies in the task. */
export function findWayUp(tables: MemoryTables, id: string, parent: string): Reach {
  return findWay(parent, id, parentsOf(tables));
}

function findWay(start: string, goal: string, next: Neighbours): Reach {
  const path = findPath(start, goal, next);
  return path === undefined ? { outcome: 'apart' } : { outcome: 'reached', path };
}

/** Those that are here. */
export function blockersOf({ tasks }: MemoryTables): Neighbours {
  return (id) => {
    const record = tasks.get(id)?.record;
    const edges = record === undefined ? [] : listDependencies(record);
    return edges.filter((edge) => edge.type === 'blocks' && tasks.has(edge.id)).map((edge) => edge.id);
  };
}

export function parentsOf(tables: MemoryTables): Neighbours {
  return (id) => {
    const row = tables.tasks.get(id);
    const parent = row === undefined ? null : parentOf(tables, row.record);
    return parent === null ? [] : [parent];
  };
}

/** One for each task that is not here; closed where everybody says so. */
export function listForeign({ waiting }: MemoryTables): ForeignEdge[] {
  const groups = Map.groupBy(waiting.list(), ({ to }) => to);
  return [...groups]
    .map(([id, edges]) => ({
      id,
      closed: edges.every((edge) => edge.closed),
      blocks: edges.some((edge) => edge.type === 'blocks'),
    }))
    .sort((a, b) => compareText(a.id, b.id))
    .slice(0, LIMITS.foreign_tasks);
}

export function markForeign({ waiting }: MemoryTables, closed: ReadonlyMap<string, boolean>): void {
  for (const edge of waiting.list()) {
    const is = closed.get(edge.to);
    if (is !== undefined) waiting.set(toKey(edge.from, edge.to, edge.type), { ...edge, closed: is });
  }
}

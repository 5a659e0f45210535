import type { DependencyType } from '#contract/task.ts';
import { listReached } from '#domain/bounded-walk.ts';
import { buildDependencyTree, type BoundedTree, type TreeTask } from '#domain/dependency-tree.ts';
import { isReady } from '#domain/readiness.ts';
import { listDependencies } from '#domain/record-codec.ts';
import { TASK_ORDERS } from '#domain/task-order.ts';
import { toTask } from '#domain/to-task.ts';
import { compareText } from '#kernel/text.ts';
import type { GraphQuery, ReadGraph, TreeQuery } from '../graph-query.ts';
import { resolveTaskId } from './memory-ids.ts';
import { listChildren, listInbound, readReadiness, showSummary, showTask } from './memory-rows.ts';
import type { MemoryTables, TaskRow } from './memory-tables.ts';

export function readTree(tables: MemoryTables, query: TreeQuery): BoundedTree {
  const id = resolveTaskId(tables, query.id);
  return buildDependencyTree(toTreeTask(tables, id), {
    depth: query.depth,
    most: query.most,
    blockersOf: (at) => listTreeBlockers(tables, at),
    hasBlockers: (at) => listTreeBlockers(tables, at).length > 0,
  });
}

/** By priority and age; what is not in this project comes last. */
function listTreeBlockers(tables: MemoryTables, id: string): TreeTask[] {
  const record = tables.tasks.get(id)?.record;
  const ids = record === undefined ? [] : listBlocking(listDependencies(record));
  const known = ids.flatMap((one) => tables.tasks.get(one) ?? []).map(({ record: one }) => toTask(one, 0));
  const foreign = ids.filter((one) => !tables.tasks.has(one)).sort(compareText);
  return [...known.sort(TASK_ORDERS.priority).map((one) => one.id), ...foreign].map((one) =>
    toTreeTask(tables, one),
  );
}

function listBlocking(edges: readonly { readonly id: string; readonly type: string }[]): string[] {
  return edges.filter(({ type }) => type === 'blocks').map(({ id }) => id);
}

function toTreeTask(tables: MemoryTables, id: string): TreeTask {
  const row = tables.tasks.get(id);
  if (row === undefined) return { id, title: null, status: null };
  const { title, status } = showSummary(tables, row);
  return { id, title, status };
}

/** The picture's nodes and edges: around one task, or everything that is not closed and what it waits for. */
export function readGraph(tables: MemoryTables, query: GraphQuery): ReadGraph {
  const most = query.most ?? { nodes: Infinity, edges: Infinity };
  const rows = listNodes(tables, query);
  if (rows.length > most.nodes) return { nodes: [], edges: [], too_many: 'nodes' };
  const edges = listGraphEdges(tables, rows);
  if (edges.length > most.edges) return { nodes: [], edges: [], too_many: 'edges' };
  const nodes = rows
    .map((row) => ({ row, task: showTask(tables, row) }))
    .sort((a, b) => TASK_ORDERS.created(a.task, b.task))
    .map(({ row, task: { parent_id } }) => ({
      ...showSummary(tables, row),
      parent_id,
      ready: isReady(readReadiness(tables, row)),
    }));
  return { nodes, edges };
}

function listNodes(tables: MemoryTables, { id, all }: GraphQuery): TaskRow[] {
  const rows = tables.tasks.list();
  if (id !== undefined) {
    const around = listAround(tables, resolveTaskId(tables, id));
    return rows.filter(({ record }) => around.has(record.id));
  }
  if (all) return rows;
  const open = rows.filter(({ record }) => record.life.status !== 'closed');
  const waited = new Set(open.flatMap(({ record }) => listDependencies(record).map((edge) => edge.id)));
  return rows.filter((row) => open.includes(row) || waited.has(row.record.id));
}

/** Both directions and the children, each by itself. */
function listAround(tables: MemoryTables, id: string): ReadonlySet<string> {
  const walk = (next: (at: string) => string[]): ReadonlySet<string> =>
    listReached(id, { next, most: Infinity }) ?? new Set(); // there is no bound
  const ahead = (at: string): string[] => {
    const record = tables.tasks.get(at)?.record;
    const edges = record === undefined ? [] : listDependencies(record);
    return edges.map((edge) => edge.id).filter((one) => tables.tasks.has(one));
  };
  const back = (at: string): string[] => listInbound(tables, at).map(({ from }) => from.record.id);
  const inside = (at: string): string[] => listChildren(tables, at).map(({ record }) => record.id);
  return new Set([...walk(ahead), ...walk(back), ...walk(inside)]);
}

/** Known edges first, each kind in order. What is not in this project is drawn by its id alone. */
function listGraphEdges(tables: MemoryTables, rows: readonly TaskRow[]): ReadGraph['edges'] {
  const ids = new Set(rows.map(({ record }) => record.id));
  const edges = rows
    .flatMap(({ record }) =>
      listDependencies(record).map(({ id, type }) => ({
        from_id: record.id,
        to_id: id,
        type: type as DependencyType, // decoded as such
      })),
    )
    .sort(
      (a, b) =>
        compareText(a.from_id, b.from_id) || compareText(a.to_id, b.to_id) || compareText(a.type, b.type),
    );
  const known = edges.filter(({ to_id }) => ids.has(to_id));
  return [...known, ...edges.filter(({ to_id }) => !tables.tasks.has(to_id))];
}

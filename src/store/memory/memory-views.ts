import type { ResolvedDependency, TaskCounters, TaskView } from '#contract/task.ts';
import { listComments } from '#domain/record-codec.ts';
import { toTaskView } from '#domain/task-view.ts';
import { TASK_ORDERS } from '#domain/task-order.ts';
import { NEIGHBOUR_LIMITS } from '#kernel/neighbour-limits.ts';
import { compareText } from '#kernel/text.ts';
import { resolveTaskId } from './memory-ids.ts';
import { listMoves } from './memory-moves.ts';
import { listChildren, listInbound, readReadiness, showSummary, showTask } from './memory-rows.ts';
import type { MemoryTables, TaskRow } from './memory-tables.ts';

const { shown: MOST } = NEIGHBOUR_LIMITS;

/** One task with everything around it. */
export function getTask(tables: MemoryTables, ref: string): TaskView {
  const id = resolveTaskId(tables, ref);
  const row = tables.tasks.get(id) as TaskRow; // it was found
  const task = showTask(tables, row);
  const children = listChildren(tables, id).sort(byRow);
  const inbound = listInbound(tables, id);
  const { open_blockers, parked } = readReadiness(tables, row);
  return toTaskView(task, {
    dependencies: task.dependencies.map((edge) => toEdge(tables, edge, tables.tasks.get(edge.id))),
    dependents: inbound
      .slice(0, MOST)
      .toSorted((a, b) => inOrder(tables, a.from, b.from) || compareText(a.type, b.type))
      .map(({ from, type }) => toEdge(tables, { id: from.record.id, type }, from)),
    dependent_count: inbound.length,
    subtasks: children
      .slice(0, MOST)
      .toSorted((a, b) => inOrder(tables, a, b))
      .map((child) => showSummary(tables, child)),
    child_count: children.length,
    closed_child_count: children.filter(({ record }) => record.life.status === 'closed').length,
    comments: listComments(row.record),
    open_blockers,
    parked,
    counters: countMoves(tables, id),
  });
}

function byRow(a: TaskRow, b: TaskRow): number {
  return a.row - b.row;
}

function inOrder(tables: MemoryTables, a: TaskRow, b: TaskRow): number {
  return TASK_ORDERS.priority(showTask(tables, a), showTask(tables, b));
}

function toEdge(
  tables: MemoryTables,
  { id, type }: Pick<ResolvedDependency, 'id' | 'type'>,
  other: TaskRow | undefined,
): ResolvedDependency {
  if (other === undefined) return { id, type, resolved: null };
  const { title, status, state, priority, assignee } = showSummary(tables, other);
  return { id, type, resolved: { title, status, state, priority, assignee } };
}

function countMoves(tables: MemoryTables, id: string): TaskCounters {
  const ofTask = (rows: readonly { readonly task_id: string }[]): number =>
    rows.filter(({ task_id }) => task_id === id).length;
  return {
    attempts: ofTask(tables.attempts.list()),
    reviews: ofTask(tables.reviews.list().map(({ review }) => review)),
    rejections: listMoves(tables, id).filter(({ rejection }) => rejection).length,
  };
}

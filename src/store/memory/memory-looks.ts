import type { Comment } from '#contract/task.ts';
import { listComments, listLabels, unknownKeys } from '#domain/record-codec.ts';
import { isArchived } from '#domain/workflow-fields.ts';
import { utf8Length } from '#kernel/text.ts';
import type {
  TaskBrief,
  TaskHead,
  TaskLooks,
  TaskPlace,
  TaskWalk,
  WalkedTask,
  WalkEnd,
} from '../task-looks.ts';
import { resolveTaskId } from './memory-ids.ts';
import { readReadiness, showSummary, showTask } from './memory-rows.ts';
import type { MemoryTables, TaskRow } from './memory-tables.ts';

export function readPlace(tables: MemoryTables, ref: string): TaskPlace {
  const row = tables.tasks.get(resolveTaskId(tables, ref)) as TaskRow; // it was found
  const { id, status, state, assignee, version } = showTask(tables, row);
  return { id, status, state, assignee, close_reason: row.record.life.close_reason, version };
}

export function walkTasks(
  tables: MemoryTables,
  walk: TaskWalk,
): { tasks: WalkedTask[]; after?: WalkEnd | undefined } {
  const { status, max_rows, max_bytes, after } = walk;
  const rows = tables.tasks
    .list()
    .filter(({ record }) => record.life.status === status)
    .map((row) => ({ row, end: { priority: showTask(tables, row).priority, row: row.row } }))
    .sort((a, b) => compareEnds(a.end, b.end))
    .filter(({ end }) => after === undefined || compareEnds(end, after) > 0);
  const tasks: WalkedTask[] = [];
  let bytes = 0;
  for (const [looked, { row }] of rows.entries()) {
    bytes += sizeOf(tables, row);
    const isFull = looked === max_rows || (looked > 0 && bytes > max_bytes);
    if (isFull) return { tasks, after: rows[looked - 1]?.end };
    if (walk.parked_only !== true || readReadiness(tables, row).parked)
      tasks.push(toWalked(tables, row, walk.label));
  }
  return { tasks };
}

function compareEnds(a: WalkEnd, b: WalkEnd): number {
  return a.priority - b.priority || a.row - b.row;
}

function toWalked(tables: MemoryTables, row: TaskRow, label: string): WalkedTask {
  const { record } = row;
  const { parked } = readReadiness(tables, row);
  const { id, assignee, created_at, updated_at } = showTask(tables, row);
  return {
    id,
    state: record.life.state,
    assignee,
    created_at,
    updated_at,
    parked: parked && !isArchived(record),
    noted: unknownKeys(record).length > 0,
    labelled: parked && listLabels(record).includes(label),
  };
}

function sizeOf(tables: MemoryTables, row: TaskRow): number {
  return utf8Length(JSON.stringify(showTask(tables, row)));
}

export function listBriefs(
  tables: MemoryTables,
  { ids, max_bytes }: Parameters<TaskLooks['listBriefs']>[0],
): { tasks: TaskBrief[]; looked: number } {
  const tasks: TaskBrief[] = [];
  let bytes = 0;
  for (const [looked, id] of ids.entries()) {
    const row = tables.tasks.get(id);
    if (row === undefined) continue;
    const {
      description: _description,
      metadata: _metadata,
      dependencies: _dependencies,
      ...brief
    } = showTask(tables, row);
    bytes += utf8Length(JSON.stringify(brief));
    if (looked > 0 && bytes > max_bytes) return { tasks, looked };
    tasks.push(brief);
  }
  return { tasks, looked: ids.length };
}

/** Of a deleted task nothing but its id is told. */
export function listHeads(tables: MemoryTables, ids: readonly string[]): TaskHead[] {
  return [...new Set(ids)].flatMap((id): TaskHead[] => {
    const row = tables.tasks.get(id);
    if (row === undefined)
      return tables.deleted.has(id)
        ? [{ id, title: '', status: 'closed', assignee: null, deleted: true }]
        : [];
    const { title, status, assignee } = showSummary(tables, row);
    return [{ id, title, status, assignee, deleted: false }];
  });
}

export function listNewestComments(
  tables: MemoryTables,
  { id, limit }: Parameters<TaskLooks['listNewestComments']>[0],
): Comment[] {
  const record = tables.tasks.get(id)?.record;
  const comments = record === undefined ? [] : listComments(record);
  return limit === 0 ? [] : comments.slice(-limit);
}

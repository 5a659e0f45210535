import type { DependencyType, Task, TaskSummary } from '#contract/task.ts';
import { decodeRecord, encodeRecord, listDependencies } from '#domain/record-codec.ts';
import type { ReadinessFacts } from '#domain/readiness.ts';
import type { LocalNumbers } from '#domain/plan-write.ts';
import { dependencyKey, fieldValue, splitDependencyKey, type TaskRecord } from '#domain/task-record.ts';
import { toTask } from '#domain/to-task.ts';
import { isParked } from '#domain/workflow.ts';
import { isArchived } from '#domain/workflow-fields.ts';
import { parseJson, type JsonObject } from '#kernel/json.ts';
import { compareText } from '#kernel/text.ts';
import type { Blocker } from '../store.ts';
import { toKey, type MemoryTables, type TaskRow } from './memory-tables.ts';
import { workflowOf } from './memory-workflow.ts';

/** A row as every surface shows it. A parent that is not here is not shown, as an edge without a task is. */
export function showTask(tables: MemoryTables, { record, version }: TaskRow): Task {
  return { ...toTask(record, version, workflowOf(tables)), parent_id: parentOf(tables, record) };
}

export function showSummary(tables: MemoryTables, row: TaskRow): TaskSummary {
  const { id, title, status, state, priority, type, assignee } = showTask(tables, row);
  return { id, title, status, state, priority, type, assignee };
}

/** A parent that is here. */
export function parentOf(tables: MemoryTables, record: TaskRecord): string | null {
  const parent = fieldValue(record, 'parent_id');
  return typeof parent === 'string' && tables.tasks.has(parent) ? parent : null;
}

export function listChildren(tables: MemoryTables, id: string): TaskRow[] {
  return tables.tasks.list().filter(({ record }) => parentOf(tables, record) === id);
}

/** What says whether a task can be started. */
export function readReadiness(
  tables: MemoryTables,
  { record }: TaskRow,
): ReadinessFacts & { readonly id: string } {
  const { life } = record;
  const { id, type } = toTask(record, 0);
  const parked = isParked(workflowOf(tables), life.state) || isArchived(record);
  return { id, ...life, type, parked, open_blockers: listBlockers(tables, record).length };
}

/** Everything that keeps a task from being ready, other projects' tasks included; in the order of their ids. */
export function listBlockers(tables: MemoryTables, record: TaskRecord): Blocker[] {
  return listDependencies(record).flatMap(({ id, type }): Blocker[] => {
    if (type !== 'blocks') return [];
    const blocker = tables.tasks.get(id);
    if (blocker === undefined) {
      const isClosed = tables.waiting.get(toKey(record.id, id, type))?.closed === true;
      return isClosed ? [] : [{ id, title: null, status: null, assignee: null }];
    }
    const { title, status, assignee } = toTask(blocker.record, 0);
    return status === 'closed' ? [] : [{ id, title, status, assignee }];
  });
}

/** An edge that leads to a task, by the row that it comes from. */
export interface InboundEdge {
  readonly from: TaskRow;
  readonly type: DependencyType;
}

/** In the order of the ids that they come from, then of their types. */
export function listInbound({ tasks }: MemoryTables, id: string): InboundEdge[] {
  return tasks
    .list()
    .filter(({ record }) => record.dependencies.elements.size > 0)
    .flatMap(
      (from) =>
        listDependencies(from.record)
          .filter((edge) => edge.id === id)
          .map(({ type }) => ({ from, type: type as DependencyType })), // decoded as such
    )
    .sort((a, b) => compareText(a.from.record.id, b.from.record.id));
}

/** Puts a record in the place of what is known of its task. */
export function writeRow(tables: MemoryTables, record: TaskRecord, numbers: LocalNumbers): void {
  const { tasks, waiting } = tables;
  const before = tasks.get(record.id);
  const { version, fence } = numbers;
  // As the next reader has it, who knows nothing but the line.
  const read = readLine(encodeRecord(record));
  tasks.set(record.id, { row: before?.row ?? nextRow(tables), record: read, version, fence });
  const [old, now] = [listEdgeKeys(before?.record), listEdgeKeys(record)];
  for (const key of old) if (!now.has(key)) waiting.delete(toWaitingKey(record.id, key));
  for (const key of now) {
    const { id: to, type } = splitDependencyKey(key);
    if (old.has(key) || tasks.has(to)) continue;
    const closed = tables.deleted.has(to);
    waiting.set(toWaitingKey(record.id, key), { from: record.id, to, type, closed });
  }
}

/** Edges that waited for this task are real ones now. */
export function adoptWaiting({ waiting }: MemoryTables, id: string): void {
  for (const edge of waiting.list()) if (edge.to === id) waiting.delete(toKey(edge.from, edge.to, edge.type));
}

/** Takes a row away; edges to the task wait for it, and block no other task: it was deleted. */
export function removeRow(tables: MemoryTables, id: string): void {
  const { tasks, waiting } = tables;
  for (const { from, type } of listInbound(tables, id)) {
    const { id: other } = from.record;
    waiting.set(toKey(other, id, type), { from: other, to: id, type, closed: true });
  }
  for (const edge of waiting.list())
    if (edge.from === id) waiting.delete(toKey(edge.from, edge.to, edge.type));
  tables.leases.delete(id);
  tasks.delete(id);
}

export function readLine(line: string): TaskRecord {
  return decodeRecord(parseJson(line, 'The record of a task') as JsonObject); // a line of encodeRecord
}

function listEdgeKeys(record: TaskRecord | undefined): ReadonlySet<string> {
  if (record === undefined) return new Set();
  return new Set(listDependencies(record).map(({ id, type }) => dependencyKey(id, type)));
}

function toWaitingKey(from: string, edgeKey: string): string {
  const { id, type } = splitDependencyKey(edgeKey);
  return toKey(from, id, type);
}

function nextRow({ facts }: MemoryTables): number {
  const next = (facts.get(NEWEST_ROW) ?? 0) + 1;
  facts.set(NEWEST_ROW, next);
  return next;
}

const NEWEST_ROW = 'newest_row';

import type { Task } from '#contract/task.ts';
import { criticalPaths } from '#domain/graph-paths.ts';
import { explainReadiness, isAskedFor, isReady } from '#domain/readiness.ts';
import { listDependencies, listLabels } from '#domain/record-codec.ts';
import { TASK_ORDERS, type OrderedTask } from '#domain/task-order.ts';
import { holdsText } from '#domain/text-search.ts';
import { kindOf } from '#domain/workflow.ts';
import { isArchived } from '#domain/workflow-fields.ts';
import { NEIGHBOUR_LIMITS } from '#kernel/neighbour-limits.ts';
import { utf8Length } from '#kernel/text.ts';
import type { ByteBound, ListPage } from '../list-pages.ts';
import type { BlockedTask, Blocker, ExplainedTask, ReadyQuery, ReadyTask, TaskQuery } from '../store.ts';
import { formerIds, resolveTaskId } from './memory-ids.ts';
import {
  listBlockers,
  listChildren,
  listInbound,
  readReadiness,
  showSummary,
  showTask,
} from './memory-rows.ts';
import type { MemoryTables, TaskRow } from './memory-tables.ts';
import { workflowOf } from './memory-workflow.ts';

/** A task with its place in every order. */
interface Listed {
  readonly row: TaskRow;
  readonly task: Task;
  readonly at: OrderedTask;
}

function toListed(tables: MemoryTables, row: TaskRow): Listed {
  const task = showTask(tables, row);
  return { row, task, at: { ...task, critical_path: 0, unblocks: 0 } };
}

type OrderName = keyof typeof TASK_ORDERS;

/** In order, those that come behind a place. */
function inOrder(listed: readonly Listed[], order: OrderName, after: OrderedTask | undefined): Listed[] {
  const compare = TASK_ORDERS[order];
  const behind = after === undefined ? listed : listed.filter(({ at }) => compare(at, after) > 0);
  return behind.toSorted((a, b) => compare(a.at, b.at));
}

export function listTasks(tables: MemoryTables, query: TaskQuery): Task[] {
  return findTasks(tables, query)
    .filter(({ row }) => holdsWanted(row, query.text))
    .slice(0, query.limit)
    .map(({ task }) => task);
}

/** Those that fit every condition but the text. */
function findTasks(tables: MemoryTables, query: TaskQuery): Listed[] {
  const { parent_id } = query;
  const parent = typeof parent_id === 'string' ? resolveTaskId(tables, parent_id) : parent_id;
  const all = tables.tasks.list().map((row) => toListed(tables, row));
  const found = all.filter(({ row, task }) => fits(tables, { ...query, parent_id: parent }, { row, task }));
  return inOrder(found, query.sort ?? 'priority', query.after);
}

function fits(tables: MemoryTables, query: TaskQuery, { row, task }: Pick<Listed, 'row' | 'task'>): boolean {
  const same = <T>(wanted: T | undefined, is: T): boolean => wanted === undefined || wanted === is;
  const isOpenOnly = query.status === undefined && query.open_only === true;
  return (
    same(query.status, task.status) &&
    same(query.type, task.type) &&
    same(query.priority, task.priority) &&
    same(query.assignee, task.assignee) &&
    same(query.github_issue, task.github_issue) &&
    same(query.parent_id, task.parent_id) &&
    (query.state === undefined || standsIn(tables, { row, task }, query.state)) &&
    !(isOpenOnly && task.status === 'closed') &&
    (query.include_archived === true || !isArchived(row.record)) &&
    (query.label === undefined || task.labels.includes(query.label))
  );
}

/** A state that the workflow does not have is looked for by the word in the record. */
function standsIn(tables: MemoryTables, { row, task }: Pick<Listed, 'row' | 'task'>, state: string): boolean {
  const isKnown = kindOf(workflowOf(tables), state) !== undefined;
  return (isKnown ? task.state : row.record.life.state) === state;
}

function holdsWanted({ record }: TaskRow, text: string | undefined): boolean {
  if (text === undefined) return true;
  const texts = [
    record.fields.get('title')?.value,
    record.fields.get('description')?.value,
    formerIds(record),
  ];
  return texts.some((one) => typeof one === 'string' && holdsText(one, text));
}

export function pageTasks(tables: MemoryTables, query: TaskQuery & ByteBound): ListPage<Task> {
  return takePage(findTasks(tables, query), query, ({ row, task }) =>
    holdsWanted(row, query.text) ? task : undefined,
  );
}

export function pageReady(tables: MemoryTables, query: ReadyQuery & ByteBound): ListPage<ReadyTask> {
  return takePage(findReady(tables, query), query, (listed) => showReady(listed, query));
}

/** One after the other until the next one would be too much. */
function takePage<T>(
  listed: readonly Listed[],
  { limit = Infinity, max_bytes }: ByteBound & { readonly limit?: number | undefined },
  show: (listed: Listed) => T | undefined,
): ListPage<T> {
  const tasks: T[] = [];
  let bytes = 0;
  for (const [looked, one] of listed.entries()) {
    bytes += sizeOf(one.task);
    if (looked > 0 && bytes > max_bytes) return { tasks, after: listed[looked - 1]?.at };
    const shown = show(one);
    if (shown !== undefined) tasks.push(shown);
    if (tasks.length === limit) return { tasks };
  }
  return { tasks };
}

function sizeOf(task: Task): number {
  return utf8Length(JSON.stringify(task));
}

export function listReady(tables: MemoryTables, query: ReadyQuery): ReadyTask[] {
  return findReady(tables, query)
    .slice(0, query.limit)
    .map((listed) => showReady(listed, query));
}

function showReady({ task, at: { critical_path, unblocks } }: Listed, { sort }: ReadyQuery): ReadyTask {
  return sort === 'impact' ? { ...task, impact: { critical_path, unblocks } } : task;
}

/** Tasks that can be started, in order. */
export function listReadyRows(tables: MemoryTables, query: ReadyQuery): TaskRow[] {
  return findReady(tables, query).map(({ row }) => row);
}

function findReady(tables: MemoryTables, query: ReadyQuery): Listed[] {
  const ready = tables.tasks.list().filter((row) => isReady(readReadiness(tables, row), query.assignee));
  const asked = ready
    .map((row) => toListed(tables, row))
    .filter(({ row, task }) => {
      const open_children = (): boolean =>
        listChildren(tables, row.record.id).some(({ record }) => record.life.status !== 'closed');
      return isAskedFor({ ...task, open_children }, query);
    });
  if (query.sort !== 'impact') return inOrder(asked, 'priority', query.after);
  const dependents = readDependents(tables);
  const chains = criticalPaths(dependents);
  const ranked = asked.map(({ at, ...listed }) => {
    const impact = { critical_path: chains.get(at.id) ?? 0, unblocks: dependents.get(at.id)?.length ?? 0 };
    return { ...listed, at: { ...at, ...impact } };
  });
  return inOrder(ranked, 'impact', query.after);
}

/** What waits for each task, of tasks that are not closed and wait for something. */
function readDependents(tables: MemoryTables): Map<string, string[]> {
  const dependents = new Map<string, string[]>();
  for (const { record } of tables.tasks.list()) {
    if (record.life.status === 'closed' || listBlockers(tables, record).length === 0) continue;
    for (const { id, type } of listDependencies(record)) {
      if (type !== 'blocks' || !tables.tasks.has(id)) continue;
      dependents.set(id, [...(dependents.get(id) ?? []), record.id]);
    }
  }
  return dependents;
}

/** Open tasks that waited for this one, now closed, and for nothing else; of very many some, in their order. */
export function listFreed(
  tables: MemoryTables,
  id: string,
): { unblocked: string[]; unblocked_more?: number } {
  const freed = listInbound(tables, id).filter(({ from, type }) => {
    const { status, open_blockers } = readReadiness(tables, from);
    return type === 'blocks' && status === 'open' && open_blockers === 0;
  });
  const shown = freed.slice(0, NEIGHBOUR_LIMITS.shown).map(({ from }) => toListed(tables, from));
  const unblocked = inOrder(shown, 'priority', undefined).map(({ task }) => task.id);
  const more = freed.length - unblocked.length;
  return { unblocked, ...(more > 0 && { unblocked_more: more }) };
}

/** Of very many those that come first. */
function showBlockers(blockers: readonly Blocker[]): {
  readonly blockers: Blocker[];
  readonly blockers_more?: number;
} {
  const shown = blockers.slice(0, NEIGHBOUR_LIMITS.blockers_shown);
  const more = blockers.length - shown.length;
  return { blockers: shown, ...(more > 0 && { blockers_more: more }) };
}

export function listBlocked(tables: MemoryTables, { limit }: { limit: number | undefined }): BlockedTask[] {
  const waiting = tables.tasks
    .list()
    .filter(({ record }) => record.life.status === 'open' && listBlockers(tables, record).length > 0)
    .map((row) => toListed(tables, row));
  return inOrder(waiting, 'priority', undefined)
    .slice(0, limit ?? NEIGHBOUR_LIMITS.blocked_tasks)
    .map(({ row }) => ({ ...showSummary(tables, row), ...showBlockers(listBlockers(tables, row.record)) }));
}

/** Every task that is not closed, with the reason why it is ready or not. */
export function explainReady(tables: MemoryTables, query: ReadyQuery): ExplainedTask[] {
  const { type, label, limit } = query;
  const asked = tables.tasks
    .list()
    .filter(({ record }) => record.life.status !== 'closed')
    .filter(({ record }) => label === undefined || listLabels(record).includes(label))
    .map((row) => toListed(tables, row))
    .filter(({ task }) => type === undefined || task.type === type);
  return inOrder(asked, 'priority', undefined)
    .slice(0, limit)
    .map(({ row }) => {
      const shown = showBlockers(listBlockers(tables, row.record));
      const listed = { blockers: shown.blockers, more: shown.blockers_more ?? 0 };
      const explained = explainReadiness(readReadiness(tables, row), query, listed);
      return { ...showSummary(tables, row), ...explained, ...shown };
    });
}

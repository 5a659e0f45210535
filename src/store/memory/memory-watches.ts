import { mayTakeWatch, writeMark } from '#domain/process-mark.ts';
import { compareText } from '#kernel/text.ts';
import type { OpenWork, ProcessMark, TaskWatch, WatchedTask } from '../attempt-store.ts';
import type { TaskStore } from '../store.ts';
import { findTask } from './memory-ids.ts';
import { listOpenMerges } from './memory-merges.ts';
import { listOpenReviews } from './memory-reviews.ts';
import { listOpenRuns } from './memory-runs.ts';
import type { MemoryTables } from './memory-tables.ts';
import type { MemoryTransaction } from './memory-transaction.ts';

/** Who is at work on what. */

export function takeWatch({ tables, by }: MemoryTransaction, { task_id, watcher, from }: TaskWatch): boolean {
  const { id } = findTask(tables, task_id);
  if (!mayTakeWatch(tables.watches.get(id)?.watcher ?? null, from)) return false;
  tables.watches.set(id, { task_id: id, watcher, since: by.now });
  return true;
}

export function noteUnwatched(
  { tables }: MemoryTransaction,
  { task_id, watcher }: { task_id: string; watcher: ProcessMark },
): void {
  const has = tables.watches.get(task_id)?.watcher;
  if (has !== undefined && writeMark(has) === writeMark(watcher)) tables.watches.delete(task_id);
}

export function listWatchedTasks({ watches }: MemoryTables): WatchedTask[] {
  return watches.list().sort((a, b) => a.since - b.since || compareText(a.task_id, b.task_id));
}

/** What a store of tasks says of it. */
export function memoryWatches(
  tables: MemoryTables,
): Pick<TaskStore, 'listOpenWork' | 'isWorkedOn' | 'forgetWatch'> {
  return {
    listOpenWork: async () => structuredClone(listOpenWork(tables)),
    isWorkedOn: async (id) => isWorkedOn(tables, id),
    forgetWatch: async (id) => tables.journal.keep(() => tables.watches.delete(id)),
  };
}

function listOpenWork(tables: MemoryTables): OpenWork[] {
  const runs = listOpenRuns(tables).flatMap(({ run: { id, task_id, agent }, watcher }): OpenWork[] =>
    watcher === null ? [] : [{ kind: 'run', id, task_id, agent, watcher }],
  );
  const reviews = listOpenReviews(tables).map(({ review: { id, task_id }, watcher }): OpenWork => {
    return { kind: 'review', id, task_id, agent: null, watcher };
  });
  const merges = listOpenMerges(tables).map(({ merge: { id, task_id }, watcher }): OpenWork => {
    return { kind: 'merge', id, task_id, agent: null, watcher };
  });
  return [...runs, ...reviews, ...merges, ...listStarts(tables)];
}

/** Agents that were to be started: the task is at work, and has no run yet. */
function listStarts(tables: MemoryTables): OpenWork[] {
  return listWatchedTasks(tables).flatMap(({ task_id, watcher }): OpenWork[] => {
    const life = tables.tasks.get(task_id)?.record.life;
    const hasRun = tables.runs.list().some((run) => run.task_id === task_id);
    if (life?.status !== 'in_progress' || hasRun) return [];
    return [{ kind: 'start', id: task_id, task_id, agent: life.assignee, watcher }];
  });
}

export function isWorkedOn(tables: MemoryTables, taskId: string): boolean {
  return (
    listOpenRuns(tables).some(({ run }) => run.task_id === taskId) ||
    listOpenReviews(tables).some(({ review }) => review.task_id === taskId) ||
    listOpenMerges(tables).some(({ merge }) => merge.task_id === taskId)
  );
}

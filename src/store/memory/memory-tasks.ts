import { awaitLanding } from '../await-landing.ts';
import type { TaskStore, Writer } from '../store.ts';
import * as claims from './memory-claims.ts';
import * as deletions from './memory-deletions.ts';
import * as edges from './memory-edges.ts';
import * as graphs from './memory-graphs.ts';
import { findTask } from './memory-ids.ts';
import * as leases from './memory-leases.ts';
import * as lists from './memory-lists.ts';
import * as looks from './memory-looks.ts';
import * as moves from './memory-moves.ts';
import * as reports from './memory-reports.ts';
import * as tasks from './memory-task-writes.ts';
import { writeMemory, type MemoryParts, type MemoryTransaction } from './memory-transaction.ts';
import { getTask } from './memory-views.ts';
import { readKeptWorkflow, setWorkflow } from './memory-workflow.ts';
import { memoryWatches } from './memory-watches.ts';

/** The part of the port that is about tasks. What it gives is the caller's own: it may be changed and is not written. */
export function memoryTasks(parts: MemoryParts): Omit<TaskStore, keyof AsyncDisposable> {
  const { tables } = parts;
  const change = <T>(by: Writer, work: (tx: MemoryTransaction) => T): Promise<T> =>
    awaitLanding(async () => structuredClone(writeMemory(parts, by, work)));
  const read = async <T>(work: () => T): Promise<T> => structuredClone(work());
  const note = async (work: () => void): Promise<void> => tables.journal.keep(work);
  return {
    ...memoryWatches(tables),

    createTask: (task, by) => change(by, (tx) => tasks.createTask(tx, task)),
    updateTask: (update, by) => change(by, (tx) => tasks.updateTask(tx, update)),
    addComment: (comment, by) => change(by, (tx) => tasks.addComment(tx, comment)),
    claimTask: (claim, by) => change(by, (tx) => claims.claimTask(tx, claim)),
    claimNext: (claim, by) => change(by, (tx) => claims.claimNext(tx, claim)),
    releaseTask: (release, by) => change(by, (tx) => claims.releaseTask(tx, release)),
    pauseProject: (paused, by) => change(by, (tx) => claims.pauseProject(tx, paused)),
    readPause: () => read(() => claims.readPausedAt(tables)),
    renewLease: (renewal, by) => change(by, (tx) => leases.renewLease(tx, renewal)),

    closeTask: (close, by) => change(by, (tx) => moves.closeTask(tx, close)),
    reopenTask: (reopen, by) => change(by, (tx) => moves.reopenTask(tx, reopen)),
    moveTask: (move, by) => change(by, (tx) => moves.moveTask(tx, move)),
    mapStates: (map, by) => change(by, (tx) => moves.mapStates(tx, map)),
    recordHookResults: (results) => note(() => moves.recordHookResults(tables, results)),
    noteEvent: ({ type, data }, by) => change(by, (tx) => void tx.tell({ type, task_id: null, data })),
    readKeptWorkflow: () => read(() => readKeptWorkflow(tables)),
    setWorkflow: (told, by) => change(by, (tx) => setWorkflow(tx, told)),

    deleteTask: (remove, by) => change(by, (tx) => deletions.deleteTask(tx, remove)),
    readDeleted: (ref) => read(() => deletions.readDeleted(tables, ref)),
    restoreTask: (restore, by) => change(by, (tx) => deletions.restoreTask(tx, restore)),
    addDependency: (edge, by) => change(by, (tx) => edges.addDependency(tx, edge)),
    removeDependency: (edge, by) => change(by, (tx) => edges.removeDependency(tx, edge)),
    listForeign: () => read(() => edges.listForeign(tables)),
    markForeign: (closed) => note(() => edges.markForeign(tables, closed)),

    holdsTask: async (id) => tables.tasks.has(id) || tables.deleted.has(id),
    findTask: (ref) => read(() => findTask(tables, ref)),
    readStamp: async () => String(tables.journal.writes),
    readStanding: (id) => read(() => moves.readStanding(tables, id)),
    listTransitions: (query) => read(() => moves.listTransitions(tables, query)),
    findMove: (query) => read(() => moves.findMove(tables, query)),
    findGrant: (query) => read(() => moves.findGrant(tables, query)),

    getTask: (id) => read(() => getTask(tables, id)),
    listTasks: (query) => read(() => lists.listTasks(tables, query)),
    listReady: (query) => read(() => lists.listReady(tables, query)),
    pageTasks: (query) => read(() => lists.pageTasks(tables, query)),
    pageReady: (query) => read(() => lists.pageReady(tables, query)),
    listBlocked: (query) => read(() => lists.listBlocked(tables, query)),
    explainReady: (query) => read(() => lists.explainReady(tables, query)),

    readPlace: (id) => read(() => looks.readPlace(tables, id)),
    walkTasks: (walk) => read(() => looks.walkTasks(tables, walk)),
    listBriefs: (query) => read(() => looks.listBriefs(tables, query)),
    listHeads: (ids) => read(() => looks.listHeads(tables, ids)),
    listNewestComments: (query) => read(() => looks.listNewestComments(tables, query)),

    hasNewsOf: (id, after) => read(() => reports.hasNewsOf(tables, id, after)),
    newestEntryOf: (id) => read(() => reports.newestEntryOf(tables, id)),
    findEntry: (query) => read(() => reports.findEntry(tables, query)),
    readHistory: (query) => read(() => reports.readHistory(tables, query)),
    readStats: (query) => read(() => reports.readStats(tables, query)),
    readTree: (query) => read(() => graphs.readTree(tables, query)),
    readGraph: (query) => read(() => graphs.readGraph(tables, query)),
  };
}

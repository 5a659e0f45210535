import { systemActor } from '#domain/actor.ts';
import type { Clock } from '#kernel/clock.ts';
import type { AttemptStore } from '../attempt-store.ts';
import type { Writer } from '../store.ts';
import * as attempts from './memory-attempts.ts';
import * as daemons from './memory-daemons.ts';
import * as merges from './memory-merges.ts';
import * as reviews from './memory-reviews.ts';
import * as runs from './memory-runs.ts';
import * as talks from './memory-talks.ts';
import type { MemoryTables } from './memory-tables.ts';
import { writeMemory, type MemoryParts, type MemoryTransaction } from './memory-transaction.ts';
import * as watches from './memory-watches.ts';

export function memoryAttempts(parts: MemoryParts, clock: Clock): AttemptStore {
  const { tables } = parts;
  // A row is never the caller's own: what the caller makes of its copy is not written.
  const read = async <T>(look: (rows: MemoryTables) => T): Promise<T> => structuredClone(look(tables));
  const change = async <T>(by: Writer, work: (tx: MemoryTransaction) => T): Promise<T> =>
    structuredClone(writeMemory(parts, by, work));
  /** Where nothing is told of it, the writer does not matter. */
  const system = (now = clock.now()): Writer => ({ actor: systemActor('store'), now });
  return {
    startAttempt: (attempt, by) => change(by, (tx) => attempts.startAttempt(tx, attempt)),
    changeAttempt: (wish, by) => change(by, (tx) => attempts.changeAttempt(tx, wish)),
    getAttempt: (ref) => read((rows) => attempts.getAttempt(rows, ref)),
    listAttempts: (query) => read((rows) => attempts.listAttempts(rows, query)),

    createRun: (run, by) => change(by, (tx) => runs.createRun(tx, run)),
    moveRun: (move, by) => change(by, (tx) => runs.moveRun(tx, move)),
    noteRun: (note) => change(system(), (tx) => runs.noteRun(tx, note)),
    getRun: (ref) => read((rows) => runs.getRun(rows, ref)),
    listRuns: (query) => read((rows) => runs.listRuns(rows, query)),
    listLostRuns: (query) => read((rows) => runs.listLostRuns(rows, query)),
    askStop: (stop, by) => change(by, (tx) => runs.askStop(tx, stop)),
    readWishes: (ref) => read((rows) => runs.readWishes(rows, ref)),
    listOpenRuns: () => read(runs.listOpenRuns),

    takeWatch: (watch, now) => change(system(now), (tx) => watches.takeWatch(tx, watch)),
    noteUnwatched: (watch) => change(system(), (tx) => watches.noteUnwatched(tx, watch)),
    listWatchedTasks: () => read(watches.listWatchedTasks),

    beatDaemon: (beat, now) => change(system(now), (tx) => daemons.beatDaemon(tx, beat)),
    endDaemon: (mark, now) => change(system(now), (tx) => daemons.endDaemon(tx, mark)),
    isDaemonOver: (mark) => change(system(), (tx) => daemons.isDaemonOver(tx, mark)),
    listDaemons: () => read(daemons.listDaemons),

    startReview: (review, by) => change(by, (tx) => reviews.startReview(tx, review)),
    addStepResult: (step, by) => change(by, (tx) => reviews.addStepResult(tx, step)),
    askVerdict: (review, by) => change(by, (tx) => reviews.askVerdict(tx, review)),
    clearReviews: (task, by) => change(by, (tx) => reviews.clearReviews(tx, task)),
    finishReview: (end, by) => change(by, (tx) => reviews.finishReview(tx, end)),
    listReviews: (query) => read((rows) => reviews.listReviews(rows, query)),
    listOpenReviews: () => read(reviews.listOpenReviews),

    queueMerge: (merge, by) => change(by, (tx) => merges.queueMerge(tx, merge)),
    async takeMerge(take, by) {
      // A merge that has to wait is no write.
      if (merges.findTurn(tables, take.id) === undefined) return undefined;
      return change(by, (tx) => merges.takeMerge(tx, take));
    },
    takeLanding: (landing, by) => change(by, (tx) => merges.takeLanding(tx, landing)),
    clearLanding: (landing, by) => change(by, (tx) => merges.clearLanding(tx, landing)),
    finishMerge: (end, by) => change(by, (tx) => merges.finishMerge(tx, end)),
    listOpenMerges: () => read(merges.listOpenMerges),
    listMerges: (query) => read((rows) => merges.listMerges(rows, query)),

    askApproval: (approval, by) => change(by, (tx) => talks.askApproval(tx, approval)),
    answerApproval: (answer, by) => change(by, (tx) => talks.answerApproval(tx, answer)),
    listApprovals: (query) => read((rows) => talks.listApprovals(rows, query)),
    forgetApprovals: (query, by) => change(by, (tx) => talks.forgetApprovals(tx, query)),
    addMessage: (message, by) => change(by, (tx) => talks.addMessage(tx, message)),
    listMessages: (query) => read((rows) => talks.listMessages(rows, query)),
    noteDelivered: (message) => change(system(message.now), (tx) => talks.noteDelivered(tx, message)),
    takeMessages: (query) => change(system(query.now), (tx) => talks.takeMessages(tx, query)),

    findStep: (query) => read((rows) => reviews.findStep(rows, query)),
    keepStep: (step) => change(system(step.now), (tx) => reviews.keepStep(tx, step)),
  };
}

import { systemActor } from '#domain/actor.ts';
import type { Clock } from '#kernel/clock.ts';
import type { ReadSteady } from '../steady-time.ts';
import type { Writer } from '../store.ts';
import * as talks from './approval-rows.ts';
import { readRecordFiles, recordsFolder, writeRecordFile } from './attempt-record-files.ts';
import * as attempts from './attempt-rows.ts';
import * as daemons from './daemon-rows.ts';
import type { Database } from './database.ts';
import { WALL } from './lease-lines.ts';
import * as merges from './merge-rows.ts';
import type { AttemptMethods } from './method-kinds.ts';
import { restoreRead } from './restore-attempts.ts';
import * as reviews from './review-rows.ts';
import * as runs from './run-rows.ts';
import * as watchers from './watcher-rows.ts';
import { openWork, type WorkTransaction } from './work-transaction.ts';
import type { WriteTransaction } from './write-transaction.ts';

export interface AttemptParts {
  /** Sees what was committed, and nothing of a write that is at work. */
  readonly reader: Database;
  readonly write: <T>(by: Writer, work: (tx: WriteTransaction) => T) => Promise<T>;
  readonly clock: Clock;
  readonly steady?: ReadSteady | undefined;
  readonly notice?: ((line: string) => void) | undefined;
}

export function bindAttempts({ reader, write, clock, steady, notice }: AttemptParts): AttemptMethods {
  const folder = recordsFolder(reader.path);
  const read = async <T>(work: () => T): Promise<T> => reader.read(work);
  const change = async <T>(by: Writer, work: (tx: WorkTransaction) => T): Promise<T> => {
    const touched = new Set<string>();
    const result = await write(by, (tx) => work(openWork(tx, touched)));
    for (const id of touched) await keepRecord(id);
    return result;
  };
  /** What was committed has happened, whether its record can be written or not. */
  const keepRecord = (id: string): Promise<void> =>
    writeRecordFile(reader, folder, id).catch((error: unknown) => {
      const why = error instanceof Error ? error.message : String(error);
      notice?.(`The record of attempt ${id} could not be written: ${why}`);
    });
  /** Where nobody is told of it, nobody is asked who it was. */
  const system = (now = clock.now()): Writer => ({ actor: systemActor('store'), now });
  return {
    startAttempt: (attempt, by) => change(by, (tx) => attempts.startAttempt(tx, attempt)),
    changeAttempt: (wish, by) => change(by, (tx) => attempts.changeAttempt(tx, wish)),
    getAttempt: (ref) => read(() => attempts.getAttempt(reader, ref)),
    listAttempts: (query) => read(() => attempts.listAttempts(reader, query)),

    createRun: (run, by) => change(by, (tx) => runs.createRun(tx, run)),
    moveRun: (move, by) => change(by, (tx) => runs.moveRun(tx, move)),
    noteRun: (note) => change(system(), (tx) => runs.noteRun(tx, note)),
    getRun: (ref) => read(() => runs.getRun(reader, ref)),
    listRuns: (query) => read(() => runs.listRuns(reader, query)),
    listLostRuns: (query) => read(() => runs.listLostRuns(reader, query)),
    askStop: (stop, by) => change(by, (tx) => runs.askStop(tx, stop)),
    readWishes: (ref) => read(() => runs.readWishes(reader, ref)),
    listOpenRuns: () => read(() => runs.listOpenRuns(reader)),

    takeWatch: (watch, now) => change(system(now), (tx) => watchers.takeWatch(tx, watch)),
    noteUnwatched: (watch) => change(system(), (tx) => watchers.noteUnwatched(tx.db, watch)),
    listWatchedTasks: () => read(() => watchers.listWatchedTasks(reader)),

    beatDaemon: (beat, now) => change(system(now), (tx) => daemons.beatDaemon(tx, beat)),
    endDaemon: (mark, now) => change(system(now), (tx) => daemons.endDaemon(tx, mark)),
    async isDaemonOver(mark) {
      const time = steady?.() ?? { clock: WALL, at: clock.now() };
      const judged = await read(() => daemons.judgeBeat(reader, mark, time));
      if (judged !== 'unseen') return judged;
      await change(system(), (tx) => daemons.noteSeen(tx, mark));
      return false;
    },
    listDaemons: () => read(() => daemons.listDaemons(reader)),

    startReview: (review, by) => change(by, (tx) => reviews.startReview(tx, review)),
    addStepResult: (step, by) => change(by, (tx) => reviews.addStepResult(tx, step)),
    askVerdict: (review, by) => change(by, (tx) => reviews.askVerdict(tx, review)),
    clearReviews: (task, by) => change(by, (tx) => reviews.clearReviews(tx, task)),
    finishReview: (end, by) => change(by, (tx) => reviews.finishReview(tx, end)),
    listReviews: (query) => read(() => reviews.listReviews(reader, query)),
    listOpenReviews: () => read(() => reviews.listOpenReviews(reader)),

    queueMerge: (merge, by) => change(by, (tx) => merges.queueMerge(tx, merge)),
    async takeMerge(take, by) {
      // Whoever waits looks often; the writer's lock is for those whose turn it is.
      if ((await read(() => merges.findTurn(reader, take.id))) === undefined) return undefined;
      return change(by, (tx) => merges.takeMerge(tx, take));
    },
    takeLanding: (landing, by) => change(by, (tx) => merges.takeLanding(tx, landing)),
    clearLanding: (landing, by) => change(by, (tx) => merges.clearLanding(tx, landing)),
    finishMerge: (end, by) => change(by, (tx) => merges.finishMerge(tx, end)),
    listOpenMerges: () => read(() => merges.listOpenMerges(reader)),
    listMerges: (query) => read(() => merges.listMerges(reader, query)),

    askApproval: (approval, by) => change(by, (tx) => talks.askApproval(tx, approval)),
    answerApproval: (answer, by) => change(by, (tx) => talks.answerApproval(tx, answer)),
    listApprovals: (query) => read(() => talks.listApprovals(reader, query)),
    forgetApprovals: (query, by) => change(by, (tx) => talks.forgetApprovals(tx, query)),
    addMessage: (message, by) => change(by, (tx) => talks.addMessage(tx, message)),
    listMessages: (query) => read(() => talks.listMessages(reader, query)),
    noteDelivered: (message) => change(system(message.now), (tx) => talks.noteDelivered(tx, message)),
    async takeMessages(query) {
      // Asked again and again while an agent works, and most often there is none.
      if ((await read(() => talks.listMessages(reader, query))).length === 0) return [];
      return change(system(query.now), (tx) => talks.takeMessages(tx, query));
    },

    findStep: (query) => read(() => reviews.findStep(reader, query)),
    keepStep: (step) => change(system(step.now), (tx) => reviews.keepStep(tx.db, step)),

    async restoreAttempts(by) {
      const found = await readRecordFiles(folder);
      return change(by, (tx) => restoreRead(tx.db, found, by.now));
    },
  };
}

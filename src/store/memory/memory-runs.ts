import type { Run } from '#contract/attempt.ts';
import {
  beginsAnew,
  decideRunStart,
  decideRunStep,
  decideStop,
  noteOfRun,
  showRun,
  type KeptRun,
} from '#domain/decide-run.ts';
import { findLoss } from '#domain/run-hold.ts';
import { explainWorkRefusal } from '#domain/work-refusal.ts';
import type { NewRun, RunMove, RunNote, RunQuery, RunWishes, WatchedRun } from '../attempt-store.ts';
import { getAttempt } from './memory-attempts.ts';
import { findTask } from './memory-ids.ts';
import { expireApprovals, listMessages } from './memory-talks.ts';
import type { MemoryTables } from './memory-tables.ts';
import type { MemoryTransaction } from './memory-transaction.ts';
import { readHeld, resolveWorkId, sortByTime, tellAll } from './memory-work.ts';

export function createRun(tx: MemoryTransaction, { attempt_id, ...wish }: NewRun): Run {
  const { tables, by } = tx;
  const attempt = getAttempt(tables, attempt_id);
  const task = readHeld(tables, attempt.task_id);
  const facts = { attempt, task, other: findOpenRun(tables, attempt.id) };
  const decision = decideRunStart(facts, wish, by.now);
  if (decision.outcome !== 'save') throw explainWorkRefusal(decision);
  tables.runs.set(decision.run.id, decision.run);
  tellAll(tx, decision.events);
  return showRun(decision.run);
}

function findOpenRun({ runs }: MemoryTables, attemptId: string): KeptRun | undefined {
  return runs.list().find((one) => one.attempt_id === attemptId && isOpen(one));
}

export function moveRun(tx: MemoryTransaction, move: RunMove): Run {
  const { tables, by } = tx;
  const before = getKeptRun(tables, move.id);
  const { attempt_id } = before;
  const beside = beginsAnew(before, move)
    ? { attempt: getAttempt(tables, attempt_id), other: findOpenRun(tables, attempt_id) }
    : undefined;
  const decision = decideRunStep(before, move, { now: by.now, beside });
  if (decision.outcome !== 'save') throw explainWorkRefusal(decision);
  const { run, events, ended } = decision;
  tables.runs.set(run.id, run);
  tellAll(tx, events);
  if (ended) expireApprovals(tx, run);
  return showRun(run);
}

export function noteRun({ tables }: MemoryTransaction, { id, ...known }: RunNote): void {
  const { run } = noteOfRun(getKeptRun(tables, id), known);
  tables.runs.set(run.id, run);
}

export function askStop(tx: MemoryTransaction, { id }: { id: string }): Run {
  const { tables, by } = tx;
  const before = getKeptRun(tables, id);
  const decision = decideStop(before, by.now);
  if (decision.outcome === 'unchanged') return showRun(before);
  if (decision.outcome !== 'save') throw explainWorkRefusal(decision);
  tables.runs.set(decision.run.id, decision.run);
  tellAll(tx, decision.events);
  return showRun(decision.run);
}

export function readWishes(tables: MemoryTables, ref: string): RunWishes {
  const run = getKeptRun(tables, ref);
  return {
    stop: run.stop_asked_at !== null,
    loss: findLoss(run, readHeld(tables, run.task_id)),
    messages: listMessages(tables, run).length > 0,
  };
}

export function getRun(tables: MemoryTables, ref: string): Run {
  return showRun(getKeptRun(tables, ref));
}

export function listRuns(tables: MemoryTables, query: RunQuery): Run[] {
  const { agent, open, since, limit } = query;
  const task_id = query.task_id === undefined ? undefined : findTask(tables, query.task_id).id;
  const attempt_id = query.attempt_id === undefined ? undefined : getAttempt(tables, query.attempt_id).id;
  const found = inOrder(tables).filter(
    (run) =>
      (task_id === undefined || run.task_id === task_id) &&
      (attempt_id === undefined || run.attempt_id === attempt_id) &&
      (agent === undefined || run.agent === agent) &&
      (open !== true || isOpen(run)) &&
      (since === undefined || run.created_at >= since),
  );
  return found.slice(limit === undefined ? 0 : Math.max(0, found.length - limit)).map(showRun);
}

export function listLostRuns(tables: MemoryTables, { task_id }: { task_id: string }): Run[] {
  const task = readHeld(tables, task_id);
  return inOrder(tables)
    .filter((run) => run.task_id === task_id && isOpen(run) && findLoss(run, task) !== undefined)
    .map(showRun);
}

export function listOpenRuns(tables: MemoryTables): WatchedRun[] {
  return inOrder(tables)
    .filter(isOpen)
    .map((kept) => {
      const { watcher, process, beat_at } = kept;
      return { run: showRun(kept), watcher, process, beat_at };
    });
}

export function getKeptRun(tables: MemoryTables, ref: string): KeptRun {
  return tables.runs.get(resolveWorkId(tables, 'runs', ref)) as KeptRun; // it was found
}

export function isOpen({ ended_at }: Pick<KeptRun, 'ended_at'>): boolean {
  return ended_at === null;
}

function inOrder({ runs }: MemoryTables): KeptRun[] {
  return sortByTime(runs.list(), ({ created_at }) => created_at);
}

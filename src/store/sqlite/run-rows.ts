import type { Run, RunState, RunUsage } from '#contract/attempt.ts';
import { NO_USAGE } from '#domain/count-usage.ts';
import {
  beginsAnew,
  decideRunStart,
  decideRunStep,
  decideStop,
  noteOfRun,
  showRun,
  type KeptRun,
  type RunStartFacts,
} from '#domain/decide-run.ts';
import { findLoss, type HeldTask } from '#domain/run-hold.ts';
import { explainWorkRefusal } from '#domain/work-refusal.ts';
import type { NewRun, RunMove, RunNote, RunQuery, RunWishes, WatchedRun } from '../attempt-store.ts';
import { expireApprovals, hasWaiting } from './approval-rows.ts';
import { getAttempt } from './attempt-rows.ts';
import type { Database, Row } from './database.ts';
import { findTask } from './report-queries.ts';
import { ARCHIVED } from './task-rows.ts';
import {
  fromMark,
  getRow,
  insertRow,
  toMark,
  toWhere,
  updateRow,
  type WorkTransaction,
} from './work-transaction.ts';

export function createRun(tx: WorkTransaction, { attempt_id, ...wish }: NewRun): Run {
  const { db, by } = tx;
  const attempt = getAttempt(db, attempt_id);
  const facts = { attempt, task: readHeld(db, attempt.task_id), other: findOpenRun(db, attempt.id) };
  const decision = decideRunStart(facts, wish, by.now);
  if (decision.outcome !== 'save') throw explainWorkRefusal(decision);
  const { run, events } = decision;
  insertRun(db, run);
  tx.touch(run.attempt_id);
  tx.tell(events);
  return showRun(run);
}

/** By idx_runs_attempt. */
function findOpenRun(db: Database, attemptId: string): RunStartFacts['other'] {
  const row = db.get('SELECT id, agent FROM runs WHERE attempt_id = ? AND ended_at IS NULL', attemptId);
  return row === undefined ? undefined : { id: row.id as string, agent: row.agent as string };
}

/** By the primary key; undefined for a task that is not there any more. Asked again and again, so it reads no more. */
export function readHeld(db: Database, id: string): HeldTask | undefined {
  const row = db.get(
    `SELECT t.state, t.assignee, t.fence, ${ARCHIVED} AS archived FROM tasks t WHERE t.id = ?`,
    id,
  );
  if (row === undefined) return undefined;
  return {
    id,
    state: row.state as string,
    assignee: row.assignee as string | null,
    fence: row.fence as number,
    archived: row.archived === 1,
  };
}

export function moveRun(tx: WorkTransaction, move: RunMove): Run {
  const { db, by } = tx;
  const before = toKeptRun(getRow(db, 'runs', move.id));
  const beside = beginsAnew(before, move)
    ? { attempt: getAttempt(db, before.attempt_id), other: findOpenRun(db, before.attempt_id) }
    : undefined;
  const decision = decideRunStep(before, move, { now: by.now, beside });
  if (decision.outcome !== 'save') throw explainWorkRefusal(decision);
  const { id, state, outcome, message, retry_after, started_at, ended_at, stop_asked_at } = decision.run;
  const usage = JSON.stringify(decision.run.usage);
  const columns = { state, outcome, message, retry_after, started_at, ended_at, stop_asked_at };
  updateRow(db, 'runs', id, { ...columns, usage });
  tx.touch(decision.run.attempt_id);
  tx.tell(decision.events);
  if (decision.ended) expireApprovals(tx, decision.run);
  return showRun(decision.run);
}

export function noteRun(tx: WorkTransaction, { id: ref, ...known }: RunNote): void {
  const before = toKeptRun(getRow(tx.db, 'runs', ref));
  const { run, is_kept } = noteOfRun(before, known);
  const { id, process, watcher, session_id, beat_at } = run;
  const marks = { process: fromMark(process), watcher: fromMark(watcher) };
  const usage = JSON.stringify(run.usage);
  updateRow(tx.db, 'runs', id, { ...marks, session_id, beat_at, usage });
  if (is_kept) tx.touch(run.attempt_id);
}

export function askStop(tx: WorkTransaction, { id: ref }: { id: string }): Run {
  const before = toKeptRun(getRow(tx.db, 'runs', ref));
  const decision = decideStop(before, tx.by.now);
  if (decision.outcome === 'unchanged') return showRun(before);
  if (decision.outcome !== 'save') throw explainWorkRefusal(decision);
  const { run } = decision;
  updateRow(tx.db, 'runs', run.id, { stop_asked_at: run.stop_asked_at });
  tx.touch(run.attempt_id);
  tx.tell(decision.events);
  return showRun(run);
}

export function readWishes(db: Database, ref: string): RunWishes {
  const run = toKeptRun(getRow(db, 'runs', ref));
  return {
    stop: run.stop_asked_at !== null,
    loss: findLoss(run, readHeld(db, run.task_id)),
    messages: hasWaiting(db, run.attempt_id),
  };
}

export function getRun(db: Database, ref: string): Run {
  return toRun(getRow(db, 'runs', ref));
}

/** By task: idx_runs_task; by attempt: idx_runs_attempt; open ones: idx_runs_open. */
export function listRuns(db: Database, query: RunQuery): Run[] {
  const { task_id, attempt_id, agent, open, since, limit } = query;
  const { where, values } = toWhere([
    task_id === undefined ? undefined : ['task_id = ?', findTask(db, task_id).id],
    attempt_id === undefined ? undefined : ['attempt_id = ?', getAttempt(db, attempt_id).id],
    agent === undefined ? undefined : ['agent = ?', agent],
    open === true ? ['ended_at IS NULL'] : undefined,
    since === undefined ? undefined : ['created_at >= ?', since],
  ]);
  const sql = `SELECT * FROM runs ${where} ORDER BY created_at DESC, rowid DESC LIMIT ?`;
  return db
    .all(sql, ...values, limit ?? -1)
    .reverse()
    .map(toRun);
}

/** By idx_runs_task. */
export function listLostRuns(db: Database, { task_id }: { task_id: string }): Run[] {
  const task = readHeld(db, task_id);
  return db
    .all('SELECT * FROM runs WHERE task_id = ? AND ended_at IS NULL ORDER BY created_at, rowid', task_id)
    .map(toRun)
    .filter((run) => findLoss(run, task) !== undefined);
}

export function listOpenRuns(db: Database): WatchedRun[] {
  // Uses idx_runs_open.
  const rows = db.all('SELECT * FROM runs WHERE ended_at IS NULL ORDER BY created_at, rowid');
  return rows.map((row) => {
    const kept = toKeptRun(row);
    const { watcher, process, beat_at } = kept;
    return { run: showRun(kept), watcher, process, beat_at };
  });
}

export function insertRun(db: Database, kept: KeptRun): void {
  const { process, watcher, usage, ...columns } = kept;
  const marks = { process: fromMark(process), watcher: fromMark(watcher) };
  insertRow(db, 'runs', { ...columns, ...marks, usage: JSON.stringify(usage) });
}

export function toKeptRun(row: Row): KeptRun {
  return {
    id: row.id as string,
    task_id: row.task_id as string,
    attempt_id: row.attempt_id as string,
    role: row.role as string,
    agent: row.agent as string,
    executor: row.executor as string,
    fence: row.fence as number | null,
    in_state: row.in_state as string | null,
    state: row.state as RunState,
    outcome: row.outcome as Run['outcome'],
    message: row.message as string | null,
    session_id: row.session_id as string | null,
    process: toMark(row.process),
    watcher: toMark(row.watcher),
    beat_at: row.beat_at as number | null,
    stop_asked_at: row.stop_asked_at as string | null,
    usage: { ...NO_USAGE, ...(JSON.parse(row.usage as string) as Partial<RunUsage>) }, // written above
    retry_after: row.retry_after as string | null,
    created_at: row.created_at as string,
    started_at: row.started_at as string | null,
    ended_at: row.ended_at as string | null,
  };
}

function toRun(row: Row): Run {
  return showRun(toKeptRun(row));
}

import type { Run, RunState, RunUsage } from '#contract/attempt.ts';
import { NO_USAGE } from '#domain/count-usage.ts';
import {
  decideRunOpen,
  decideRunStart,
  decideRunStep,
  type KeptRun,
  type RunStartFacts,
} from '#domain/decide-run.ts';
import { findLoss, type HeldTask } from '#domain/run-hold.ts';
import { isEnded } from '#domain/run-states.ts';
import { explainWorkRefusal } from '#domain/work-refusal.ts';
import { toIso } from '#kernel/clock.ts';
import type { NewRun, RunMove, RunNote, RunQuery, RunWishes, WatchedRun } from '../attempt-store.ts';
import { expireApprovals, hasWaiting } from './approval-rows.ts';
import { getAttempt } from './attempt-rows.ts';
import type { Database, Row } from './database.ts';
import { findTask } from './report-queries.ts';
import {
  fromMark,
  getRow,
  insertRow,
  refuse,
  toMark,
  toWhere,
  updateRow,
  type WorkTransaction,
} from './work-transaction.ts';

export function createRun(tx: WorkTransaction, wanted: NewRun): Run {
  const { db, by } = tx;
  const attempt = getAttempt(db, wanted.attempt_id);
  const { id, role, agent, executor, fence, in_state, state, session_id, watcher } = wanted;
  const now = toIso(by.now);
  const facts = { attempt, task: readHeld(db, attempt.task_id), other: findOpenRun(db, attempt.id) };
  refuse(decideRunStart(facts, { fence, in_state }));
  const kept: KeptRun = {
    id,
    task_id: attempt.task_id,
    attempt_id: attempt.id,
    role,
    agent,
    executor,
    fence,
    in_state,
    state,
    outcome: null,
    message: null,
    session_id,
    process: null,
    watcher,
    beat_at: null,
    stop_asked_at: null,
    usage: NO_USAGE,
    retry_after: null,
    created_at: now,
    started_at: state === 'running' ? now : null,
    ended_at: isEnded(state) ? now : null,
  };
  insertRun(db, kept);
  const run = showRun(kept);
  tx.touch(run.attempt_id);
  tx.tell('run.state_changed', run.task_id, { run, from: null });
  return run;
}

/** By idx_runs_attempt. */
function findOpenRun(db: Database, attemptId: string): RunStartFacts['other'] {
  const row = db.get('SELECT id, agent FROM runs WHERE attempt_id = ? AND ended_at IS NULL', attemptId);
  return row === undefined ? undefined : { id: row.id as string, agent: row.agent as string };
}

/** By the primary key; undefined for a task that is not there any more. Asked again and again, so it reads no more. */
export function readHeld(db: Database, id: string): HeldTask | undefined {
  const row = db.get('SELECT state, assignee, fence, archived_at FROM tasks WHERE id = ?', id);
  if (row === undefined) return undefined;
  return {
    id,
    state: row.state as string,
    assignee: row.assignee as string | null,
    fence: row.fence as number,
    archived: row.archived_at !== null,
  };
}

export function moveRun(tx: WorkTransaction, move: RunMove): Run {
  const { db, by } = tx;
  const before = toKeptRun(getRow(db, 'runs', move.id));
  const decision = decideRunStep(before, move, by.now);
  if (decision.outcome !== 'save') throw explainWorkRefusal(decision);
  const { id, state, outcome, message, retry_after, started_at, ended_at, stop_asked_at } = decision.run;
  const usage = JSON.stringify(decision.run.usage);
  const columns = { state, outcome, message, retry_after, started_at, ended_at, stop_asked_at };
  updateRow(db, 'runs', id, { ...columns, usage });
  const run = showRun(decision.run);
  tx.touch(run.attempt_id);
  tx.tell('run.state_changed', run.task_id, { run, from: before.state });
  if (decision.ended) expireApprovals(tx, run);
  return run;
}

/** A beat alone is not worth a new record on disk: after a rebuild whoever watches is asked anyway. */
export function noteRun(tx: WorkTransaction, note: RunNote): void {
  const { id, attempt_id } = toKeptRun(getRow(tx.db, 'runs', note.id));
  const { process, watcher, session_id, beat_at, usage } = note;
  const found = {
    ...(process !== undefined && { process: fromMark(process) }),
    ...(watcher !== undefined && { watcher: fromMark(watcher) }),
    ...(session_id !== undefined && { session_id }),
  };
  const passing = {
    ...(beat_at !== undefined && { beat_at }),
    ...(usage !== undefined && { usage: JSON.stringify(usage) }),
  };
  const changes = { ...found, ...passing };
  if (Object.keys(changes).length > 0) updateRow(tx.db, 'runs', id, changes);
  if (Object.keys(found).length > 0) tx.touch(attempt_id);
}

export function askStop(tx: WorkTransaction, stop: { id: string }): Run {
  const kept = toKeptRun(getRow(tx.db, 'runs', stop.id));
  const { id, attempt_id } = kept;
  refuse(decideRunOpen(kept, 'stop'));
  if (kept.stop_asked_at === null) {
    updateRow(tx.db, 'runs', id, { stop_asked_at: toIso(tx.by.now) });
    tx.touch(attempt_id);
  }
  return showRun(kept);
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

/** The number of a program that has ended may be somebody else's by now. */
function showRun({ process, watcher: _watcher, beat_at: _beat, stop_asked_at: _stop, ...run }: KeptRun): Run {
  return { ...run, pid: run.ended_at === null ? (process?.pid ?? null) : null };
}

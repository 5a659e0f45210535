import type { AttemptRecord } from '#contract/attempt-record.ts';
import type { Review, StepResult } from '#contract/attempt.ts';
import { toIso } from '#kernel/clock.ts';
import { ForgeError } from '#kernel/errors.ts';
import { LIMITS } from '#kernel/limits.ts';
import type { NewReview, ProcessMark, ReviewEnd, WatchedReview } from '../attempt-store.ts';
import { getAttempt } from './attempt-rows.ts';
import type { Database, Row } from './database.ts';
import { findTask } from './report-queries.ts';
import { fromMark, getRow, insertRow, toMark, updateRow, type WorkTransaction } from './work-transaction.ts';

export type KeptReview = AttemptRecord['reviews'][number];

export function startReview(tx: WorkTransaction, wanted: NewReview): Review {
  const { db, by } = tx;
  const { id: attempt_id, task_id } =
    wanted.attempt_id === null
      ? { id: null, task_id: findTask(db, wanted.task_id).id }
      : getAttempt(db, wanted.attempt_id);
  // By the index of the task's numbers.
  const running = db.get(
    "SELECT id FROM reviews WHERE task_id = ? AND status = 'running' AND attempt_id IS ?",
    task_id,
    attempt_id,
  );
  if (running !== undefined) {
    throw new ForgeError('state_invalid', `A review of ${task_id} is running: ${running.id as string}`, {
      hint: `forge task show ${task_id}`,
      details: { id: task_id, review: running.id },
    });
  }
  const newest = db.get('SELECT max(attempt_number) AS n FROM reviews WHERE task_id = ?', task_id);
  const review: Review = {
    id: wanted.id,
    task_id,
    attempt_id,
    attempt_number: Number(newest?.n ?? 0) + 1,
    status: 'running',
    head_commit: wanted.head_commit,
    step_results: [],
    verdict: null,
    run_id: null,
    started_at: toIso(by.now),
    finished_at: null,
  };
  insertReview(db, { ...review, watcher: wanted.watcher });
  if (attempt_id !== null) tx.touch(attempt_id);
  tx.tell('review.started', task_id, { review });
  return review;
}

export function addStepResult(tx: WorkTransaction, step: { id: string; result: StepResult }): Review {
  const before = getRunning(tx.db, step.id);
  const review: Review = { ...before, step_results: [...before.step_results, step.result] };
  updateRow(tx.db, 'reviews', review.id, { step_results: JSON.stringify(review.step_results) });
  if (review.attempt_id !== null) tx.touch(review.attempt_id);
  tx.tell('review.step_finished', review.task_id, { review, step: step.result });
  return review;
}

export function finishReview(tx: WorkTransaction, end: ReviewEnd): Review {
  const { db, by } = tx;
  const before = getRunning(db, end.id);
  const run_id = end.run_id === undefined ? before.run_id : (getRow(db, 'runs', end.run_id).id as string);
  const review: Review = {
    ...before,
    status: end.status,
    verdict: end.verdict === undefined ? before.verdict : end.verdict,
    run_id,
    finished_at: toIso(by.now),
  };
  const { id, status, finished_at } = review;
  const verdict = review.verdict === null ? null : JSON.stringify(review.verdict);
  updateRow(db, 'reviews', id, { status, run_id, finished_at, verdict });
  if (review.attempt_id !== null) tx.touch(review.attempt_id);
  tx.tell('review.finished', review.task_id, { review });
  return review;
}

export function listReviews(db: Database, { task_id }: { task_id: string }): Review[] {
  const sql = 'SELECT * FROM reviews WHERE task_id = ? ORDER BY attempt_number';
  return db.all(sql, findTask(db, task_id).id).map(toReview);
}

export function listOpenReviews(db: Database): WatchedReview[] {
  // Uses idx_reviews_running.
  return db
    .all("SELECT * FROM reviews WHERE status = 'running' ORDER BY started_at, rowid")
    .map((row) => ({ review: toReview(row), watcher: toMark(row.watcher) as ProcessMark })); // never null
}

/** By the primary key. */
export function findStep(db: Database, query: { tree: string; command: string }): StepResult | undefined {
  const sql = 'SELECT result FROM step_cache WHERE tree = ? AND command = ?';
  const row = db.get(sql, query.tree, query.command);
  return row === undefined ? undefined : (JSON.parse(row.result as string) as StepResult); // as keepStep wrote it
}

export function keepStep(
  db: Database,
  step: { tree: string; command: string; result: StepResult; now: number },
): void {
  // Uses idx_step_cache_created_at.
  db.run('DELETE FROM step_cache WHERE created_at <= ?', toIso(step.now - LIMITS.step_cache_ms));
  db.run(
    `INSERT INTO step_cache (tree, command, result, created_at) VALUES (?, ?, ?, ?)
      ON CONFLICT DO UPDATE SET result = excluded.result, created_at = excluded.created_at`,
    step.tree,
    step.command,
    JSON.stringify(step.result),
    toIso(step.now),
  );
}

export function insertReview(db: Database, review: KeptReview): void {
  const { step_results, verdict, watcher, ...columns } = review;
  insertRow(db, 'reviews', {
    ...columns,
    step_results: JSON.stringify(step_results),
    verdict: verdict === null ? null : JSON.stringify(verdict),
    watcher: fromMark(watcher),
  });
}

export function toKeptReview(row: Row): KeptReview {
  return { ...toReview(row), watcher: toMark(row.watcher) as ProcessMark }; // never null
}

function toReview(row: Row): Review {
  return {
    id: row.id as string,
    task_id: row.task_id as string,
    attempt_id: row.attempt_id as string,
    attempt_number: row.attempt_number as number,
    status: row.status as Review['status'],
    head_commit: row.head_commit as string,
    step_results: JSON.parse(row.step_results as string) as StepResult[], // written above
    verdict: row.verdict === null ? null : (JSON.parse(row.verdict as string) as Review['verdict']),
    run_id: row.run_id as string | null,
    started_at: row.started_at as string,
    finished_at: row.finished_at as string | null,
  };
}

/** Only what is running can change. */
function getRunning(db: Database, ref: string): Review {
  const review = toReview(getRow(db, 'reviews', ref));
  if (review.status === 'running') return review;
  throw new ForgeError('state_invalid', `Review ${review.id} is over: ${review.status}`, {
    hint: `forge task show ${review.task_id}`,
    details: { id: review.id, status: review.status },
  });
}

import type { AttemptRecord } from '#contract/attempt-record.ts';
import type { Review, StepResult } from '#contract/attempt.ts';
import {
  clearReview,
  decideReviewEnd,
  decideReviewOpen,
  decideReviewStart,
} from '#domain/decide-review-end.ts';
import { explainWorkRefusal } from '#domain/work-refusal.ts';
import { toIso } from '#kernel/clock.ts';
import { LIMITS } from '#kernel/limits.ts';
import type {
  KeptStep,
  NewReview,
  ProcessMark,
  ReviewEnd,
  StepQuery,
  WatchedReview,
} from '../attempt-store.ts';
import { getAttempt } from './attempt-rows.ts';
import type { Database, Row } from './database.ts';
import { findTask } from './report-queries.ts';
import { checkSeen } from './save-plan.ts';
import {
  fromMark,
  getRow,
  insertRow,
  refuse,
  toMark,
  updateRow,
  type WorkTransaction,
} from './work-transaction.ts';

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
  refuse(decideReviewStart(task_id, running?.id as string | undefined));
  voidWaiting(tx, task_id);
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
    verdict_by: null,
    run_id: null,
    cleared_at: null,
    started_at: toIso(by.now),
    finished_at: null,
  };
  insertReview(db, { ...review, watcher: wanted.watcher });
  if (attempt_id !== null) tx.touch(attempt_id);
  tx.tell('review.started', task_id, { review });
  return review;
}

export function addStepResult(tx: WorkTransaction, step: { id: string; result: StepResult }): Review {
  const before = getOpen(tx.db, step.id, ['running']);
  const review: Review = { ...before, step_results: [...before.step_results, step.result] };
  updateRow(tx.db, 'reviews', review.id, { step_results: JSON.stringify(review.step_results) });
  if (review.attempt_id !== null) tx.touch(review.attempt_id);
  tx.tell('review.step_finished', review.task_id, { review, step: step.result });
  return review;
}

export function askVerdict(tx: WorkTransaction, { id }: { id: string }): Review {
  const before = getOpen(tx.db, id, ['running']);
  // Nobody need say anything about work that was taken away meanwhile.
  if (before.cleared_at !== null) return finishReview(tx, { id, status: 'void' });
  const review: Review = { ...before, status: 'waiting' };
  updateRow(tx.db, 'reviews', review.id, { status: review.status });
  if (review.attempt_id !== null) tx.touch(review.attempt_id);
  tx.tell('review.verdict_asked', review.task_id, { review });
  return review;
}

export function finishReview(tx: WorkTransaction, end: ReviewEnd): Review {
  const { db, by } = tx;
  const before = getOpen(db, end.id, ['running', 'waiting']);
  if (end.fence !== undefined) checkSeen(tx, tx.read(before.task_id), { fence: end.fence });
  const run_id = end.run_id === undefined ? before.run_id : (getRow(db, 'runs', end.run_id).id as string);
  const decision = decideReviewEnd(before, { ...end, run_id: run_id ?? undefined }, by.now);
  if (decision.outcome !== 'save') throw explainWorkRefusal(decision);
  const { review } = decision;
  const { id, status, finished_at, verdict_by, cleared_at } = review;
  const verdict = review.verdict === null ? null : JSON.stringify(review.verdict);
  updateRow(db, 'reviews', id, { status, run_id, finished_at, verdict, verdict_by, cleared_at });
  if (review.attempt_id !== null) tx.touch(review.attempt_id);
  tx.tell('review.finished', review.task_id, { review, ...(end.forced === true && { forced: true }) });
  return review;
}

export function clearReviews(tx: WorkTransaction, { task_id }: { task_id: string }): void {
  for (const before of listReviews(tx.db, { task_id })) {
    const review = clearReview(before, tx.by.now);
    if (review === undefined) continue;
    const { id, status, cleared_at, finished_at } = review;
    updateRow(tx.db, 'reviews', id, { status, cleared_at, finished_at });
    if (review.attempt_id !== null) tx.touch(review.attempt_id);
    tx.tell('review.cleared', review.task_id, { review });
  }
}

/** A new review asks for a new word. */
function voidWaiting(tx: WorkTransaction, taskId: string): void {
  const finished_at = toIso(tx.by.now);
  const waiting = "SELECT * FROM reviews WHERE task_id = ? AND status = 'waiting'";
  for (const review of tx.db.all(waiting, taskId).map(toReview)) {
    updateRow(tx.db, 'reviews', review.id, { status: 'void', finished_at });
    if (review.attempt_id !== null) tx.touch(review.attempt_id);
    tx.tell('review.finished', taskId, { review: { ...review, status: 'void', finished_at } });
  }
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
export function findStep(db: Database, { tree, command, after = '' }: StepQuery): StepResult | undefined {
  const sql = 'SELECT * FROM step_cache WHERE tree = ? AND command = ? AND created_at > ?';
  const row = db.get(sql, tree, command, after);
  if (row === undefined) return undefined;
  const result = JSON.parse(row.result as string) as StepResult; // as keepStep wrote it
  const from = { review_id: row.review_id as string | null, at: row.created_at as string };
  return { ...result, reused_from: from };
}

export function keepStep(db: Database, step: KeptStep): void {
  // Uses idx_step_cache_created_at.
  db.run('DELETE FROM step_cache WHERE created_at <= ?', toIso(step.now - LIMITS.step_cache_ms));
  db.run(
    `INSERT INTO step_cache (tree, command, result, review_id, created_at) VALUES (?, ?, ?, ?, ?)
      ON CONFLICT DO UPDATE SET
        result = excluded.result, review_id = excluded.review_id, created_at = excluded.created_at`,
    step.tree,
    step.command,
    JSON.stringify(step.result),
    step.review_id,
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
    verdict_by: row.verdict_by as string | null,
    run_id: row.run_id as string | null,
    cleared_at: row.cleared_at as string | null,
    started_at: row.started_at as string,
    finished_at: row.finished_at as string | null,
  };
}

/** Only what is not over can change. */
function getOpen(db: Database, ref: string, open: readonly Review['status'][]): Review {
  const review = toReview(getRow(db, 'reviews', ref));
  refuse(decideReviewOpen(review, open));
  return review;
}

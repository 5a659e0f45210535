import type { AttemptRecord } from '#contract/attempt-record.ts';
import type { Review, StepResult } from '#contract/attempt.ts';
import {
  clearReview,
  decideReviewEnd,
  decideReviewOpen,
  decideReviewStart,
  decideStepResult,
  decideVerdictAsk,
  refuseGone,
  type ReviewStartFacts,
} from '#domain/decide-review-end.ts';
import { forgottenStepsUntil, reuseStep } from '#domain/kept-steps.ts';
import { explainWorkRefusal } from '#domain/work-refusal.ts';
import { toIso } from '#kernel/clock.ts';
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
import { readHeld } from './run-rows.ts';
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

export function startReview(tx: WorkTransaction, { watcher, ...wanted }: NewReview): Review {
  const { db, by } = tx;
  const { id: attempt_id, task_id } =
    wanted.attempt_id === null
      ? { id: null, task_id: findTask(db, wanted.task_id).id }
      : getAttempt(db, wanted.attempt_id);
  const decision = decideReviewStart(readStartFacts(db, { task_id, attempt_id }), wanted, by.now);
  if (decision.outcome !== 'save') throw explainWorkRefusal(decision);
  const { review, voided, events } = decision;
  for (const one of voided) writeReview(tx, one);
  insertReview(db, { ...review, watcher });
  if (attempt_id !== null) tx.touch(attempt_id);
  tx.tell(events);
  return review;
}

/** By the index of the task's numbers. */
function readStartFacts(
  db: Database,
  { task_id, attempt_id }: Pick<ReviewStartFacts, 'task_id' | 'attempt_id'>,
): ReviewStartFacts {
  const running = "SELECT id FROM reviews WHERE task_id = ? AND status = 'running' AND attempt_id IS ?";
  const waiting = "SELECT * FROM reviews WHERE task_id = ? AND status = 'waiting'";
  const newest = 'SELECT max(attempt_number) AS n FROM reviews WHERE task_id = ?';
  return {
    task_id,
    attempt_id,
    running: db.get(running, task_id, attempt_id)?.id as string | undefined,
    waiting: db.all(waiting, task_id).map(toReview),
    newest: Number(db.get(newest, task_id)?.n ?? 0),
  };
}

export function addStepResult(tx: WorkTransaction, step: { id: string; result: StepResult }): Review {
  return savePlan(tx, decideStepResult(readReview(tx.db, step.id), step.result));
}

export function askVerdict(tx: WorkTransaction, { id }: { id: string }): Review {
  return savePlan(tx, decideVerdictAsk(readReview(tx.db, id), tx.by.now));
}

export function finishReview(tx: WorkTransaction, { fence, ...end }: ReviewEnd): Review {
  const { db, by } = tx;
  const before = readReview(db, end.id);
  refuse(decideReviewOpen(before, ['running', 'waiting']));
  refuse(refuseGone(before, { fence, is_here: readHeld(db, before.task_id) !== undefined }));
  if (fence !== undefined) checkSeen(tx, tx.read(before.task_id), { fence });
  const run_id = end.run_id === undefined ? undefined : (getRow(db, 'runs', end.run_id).id as string);
  return savePlan(tx, decideReviewEnd(before, { ...end, run_id }, by.now));
}

export function clearReviews(tx: WorkTransaction, { task_id }: { task_id: string }): void {
  for (const before of listReviews(tx.db, { task_id })) {
    const cleared = clearReview(before, tx.by.now);
    if (cleared !== undefined) savePlan(tx, { outcome: 'save', ...cleared });
  }
}

/** Writes what was decided; throws where that is a refusal. */
function savePlan(tx: WorkTransaction, decision: ReturnType<typeof decideReviewEnd>): Review {
  if (decision.outcome !== 'save') throw explainWorkRefusal(decision);
  writeReview(tx, decision.review);
  tx.tell(decision.events);
  return decision.review;
}

function writeReview(tx: WorkTransaction, review: Review): void {
  const { id, status, run_id, finished_at, verdict_by, cleared_at } = review;
  const verdict = review.verdict === null ? null : JSON.stringify(review.verdict);
  const step_results = JSON.stringify(review.step_results);
  const columns = { status, step_results, run_id, finished_at, verdict, verdict_by, cleared_at };
  updateRow(tx.db, 'reviews', id, columns);
  if (review.attempt_id !== null) tx.touch(review.attempt_id);
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
  return reuseStep({
    result: JSON.parse(row.result as string) as StepResult, // as keepStep wrote it
    review_id: row.review_id as string | null,
    created_at: row.created_at as string,
  });
}

export function keepStep(db: Database, step: KeptStep): void {
  // Uses idx_step_cache_created_at.
  db.run('DELETE FROM step_cache WHERE created_at <= ?', forgottenStepsUntil(step.now));
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

function readReview(db: Database, ref: string): Review {
  return toReview(getRow(db, 'reviews', ref));
}

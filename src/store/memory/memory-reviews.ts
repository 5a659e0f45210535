import type { Review, StepResult } from '#contract/attempt.ts';
import {
  clearReview,
  decideReviewEnd,
  decideReviewOpen,
  decideReviewStart,
  decideStepResult,
  decideVerdictAsk,
  refuseGone,
} from '#domain/decide-review-end.ts';
import { forgottenStepsUntil, reuseStep } from '#domain/kept-steps.ts';
import { explainWorkRefusal } from '#domain/work-refusal.ts';
import { toIso } from '#kernel/clock.ts';
import type { KeptStep, NewReview, ReviewEnd, StepQuery, WatchedReview } from '../attempt-store.ts';
import { getAttempt } from './memory-attempts.ts';
import { findTask } from './memory-ids.ts';
import { toKey, type MemoryTables, type ReviewRow } from './memory-tables.ts';
import { checkSeen } from './memory-seen.ts';
import type { MemoryTransaction } from './memory-transaction.ts';
import { resolveWorkId, sortByTime, tellAll } from './memory-work.ts';

export function startReview(tx: MemoryTransaction, { watcher, ...wanted }: NewReview): Review {
  const { tables, by } = tx;
  const { id: attempt_id, task_id } =
    wanted.attempt_id === null
      ? { id: null, task_id: findTask(tables, wanted.task_id).id }
      : getAttempt(tables, wanted.attempt_id);
  const others = listOfTask(tables, task_id);
  const facts = {
    task_id,
    attempt_id,
    running: others.find((one) => one.status === 'running' && one.attempt_id === attempt_id)?.id,
    waiting: others.filter(({ status }) => status === 'waiting'),
    newest: others.at(-1)?.attempt_number ?? 0,
  };
  const decision = decideReviewStart(facts, wanted, by.now);
  if (decision.outcome !== 'save') throw explainWorkRefusal(decision);
  for (const one of decision.voided) writeReview(tx, one);
  tables.reviews.set(decision.review.id, { review: decision.review, watcher });
  tellAll(tx, decision.events);
  return decision.review;
}

export function addStepResult(tx: MemoryTransaction, step: { id: string; result: StepResult }): Review {
  return savePlan(tx, decideStepResult(getReview(tx.tables, step.id), step.result));
}

export function askVerdict(tx: MemoryTransaction, { id }: { id: string }): Review {
  return savePlan(tx, decideVerdictAsk(getReview(tx.tables, id), tx.by.now));
}

export function finishReview(tx: MemoryTransaction, { fence, ...end }: ReviewEnd): Review {
  const { tables, by } = tx;
  const before = getReview(tables, end.id);
  const refusal =
    decideReviewOpen(before, ['running', 'waiting']) ??
    refuseGone(before, { fence, is_here: tables.tasks.has(before.task_id) });
  if (refusal !== undefined) throw explainWorkRefusal(refusal);
  if (fence !== undefined) checkSeen(tables, tx.read(before.task_id), { fence });
  const run_id = end.run_id === undefined ? undefined : resolveWorkId(tables, 'runs', end.run_id);
  return savePlan(tx, decideReviewEnd(before, { ...end, run_id }, by.now));
}

export function clearReviews(tx: MemoryTransaction, { task_id }: { task_id: string }): void {
  for (const before of listReviews(tx.tables, { task_id })) {
    const cleared = clearReview(before, tx.by.now);
    if (cleared !== undefined) savePlan(tx, { outcome: 'save', ...cleared });
  }
}

export function listReviews(tables: MemoryTables, { task_id }: { task_id: string }): Review[] {
  return listOfTask(tables, findTask(tables, task_id).id);
}

export function listOpenReviews({ reviews }: MemoryTables): WatchedReview[] {
  const running = reviews.list().filter(({ review }) => review.status === 'running');
  return sortByTime(running, ({ review }) => review.started_at);
}

export function findStep({ steps }: MemoryTables, query: StepQuery): StepResult | undefined {
  const { tree, command, after = '' } = query;
  const step = steps.get(toKey(tree, command));
  if (step === undefined) return undefined;
  const created_at = toIso(step.now);
  return created_at > after ? reuseStep({ ...step, created_at }) : undefined;
}

export function keepStep({ tables }: MemoryTransaction, step: KeptStep): void {
  const { steps } = tables;
  for (const { tree, command, now } of steps.list())
    if (toIso(now) <= forgottenStepsUntil(step.now)) steps.delete(toKey(tree, command));
  steps.set(toKey(step.tree, step.command), step);
}

function getReview(tables: MemoryTables, ref: string): Review {
  return getRow(tables, resolveWorkId(tables, 'reviews', ref)).review;
}

/** In the order of their numbers. */
function listOfTask({ reviews }: MemoryTables, task_id: string): Review[] {
  const found = reviews.list().map(({ review }) => review);
  return found.filter((one) => one.task_id === task_id).sort((a, b) => a.attempt_number - b.attempt_number);
}

/** Writes what was decided; throws where that is a refusal. */
function savePlan(tx: MemoryTransaction, decision: ReturnType<typeof decideReviewEnd>): Review {
  if (decision.outcome !== 'save') throw explainWorkRefusal(decision);
  writeReview(tx, decision.review);
  tellAll(tx, decision.events);
  return decision.review;
}

function writeReview({ tables }: MemoryTransaction, review: Review): void {
  const { watcher } = getRow(tables, review.id);
  tables.reviews.set(review.id, { review, watcher });
}

function getRow({ reviews }: MemoryTables, id: string): ReviewRow {
  return reviews.get(id) as ReviewRow; // it was found
}

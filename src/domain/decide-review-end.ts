import type { Review } from '#contract/attempt.ts';
import { toIso } from '#kernel/clock.ts';
import type { WorkRefusal } from './work-refusal.ts';

/** `running`: a review of the same attempt that is not over. Undefined where another may begin. */
export function decideReviewStart(
  task_id: string,
  running: string | undefined,
): Extract<WorkRefusal, { outcome: 'review_running' }> | undefined {
  return running === undefined ? undefined : { outcome: 'review_running', task_id, review: running };
}

/** Only what is not over can change; undefined where it may. */
export function decideReviewOpen(
  review: Pick<Review, 'id' | 'task_id' | 'status'>,
  open: readonly Review['status'][],
): Extract<WorkRefusal, { outcome: 'review_over' }> | undefined {
  return open.includes(review.status) ? undefined : { outcome: 'review_over', review };
}

export interface ReviewEnding {
  readonly status: 'passed' | 'failed' | 'void';
  readonly verdict?: Review['verdict'] | undefined;
  readonly verdict_by?: string | undefined;
  readonly run_id?: string | undefined;
}

/** The review after its end. One that was cleared meanwhile has passed nothing. */
export function decideReviewEnd(
  before: Review,
  end: ReviewEnding,
  now: number,
): { readonly outcome: 'save'; readonly review: Review } | Extract<WorkRefusal, { outcome: 'review_over' }> {
  const over = decideReviewOpen(before, ['running', 'waiting']);
  if (over !== undefined) return over;
  const review: Review = {
    ...before,
    status: end.status === 'passed' && before.cleared_at !== null ? 'void' : end.status,
    // What its checks said after it was cleared counts as little.
    cleared_at: before.cleared_at === null ? null : toIso(now),
    verdict: end.verdict === undefined ? before.verdict : end.verdict,
    verdict_by: end.verdict_by ?? before.verdict_by,
    run_id: end.run_id ?? before.run_id,
    finished_at: toIso(now),
  };
  return { outcome: 'save', review };
}

/** What becomes of a review whose work is taken away; undefined where that changes nothing. */
export function clearReview(review: Review, now: number): Review | undefined {
  if (review.cleared_at !== null || review.status === 'failed' || review.status === 'void') return undefined;
  const at = toIso(now);
  // What its checks said has to be older than this, also where a clock was set back.
  const ended = review.finished_at ?? review.started_at;
  const cleared_at = ended > at ? ended : at;
  // Its process goes on; what it finds is void when it ends.
  if (review.status === 'running') return { ...review, cleared_at };
  return { ...review, status: 'void', cleared_at, finished_at: review.finished_at ?? cleared_at };
}

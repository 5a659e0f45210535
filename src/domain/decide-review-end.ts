import type { Review, StepResult } from '#contract/attempt.ts';
import { toIso } from '#kernel/clock.ts';
import type { WorkData, WorkEvent, WorkEventType } from './work-event.ts';
import type { WorkRefusal } from './work-refusal.ts';

type ReviewPlan = { readonly review: Review; readonly events: readonly WorkEvent[] };

/** What says whether a review may begin, and as which one of its task. */
export interface ReviewStartFacts {
  readonly task_id: string;
  readonly attempt_id: string | null;
  /** The id of a review of the same attempt that is running. */
  readonly running: string | undefined;
  /** Those of the task that wait for a word. */
  readonly waiting: readonly Review[];
  /** The number of the task's newest review; 0 where there is none. */
  readonly newest: number;
}

/** One at a time of an attempt. A new review asks for a new word: `voided` are those that waited for one. */
export function decideReviewStart(
  { task_id, attempt_id, running, waiting, newest }: ReviewStartFacts,
  { id, head_commit }: Pick<Review, 'id' | 'head_commit'>,
  now: number,
):
  | ({ readonly outcome: 'save'; readonly voided: readonly Review[] } & ReviewPlan)
  | Extract<WorkRefusal, { outcome: 'review_running' }> {
  if (running !== undefined) return { outcome: 'review_running', task_id, review: running };
  const at = toIso(now);
  const voided = waiting.map((one): Review => ({ ...one, status: 'void', finished_at: at }));
  const review: Review = {
    id,
    task_id,
    attempt_id,
    attempt_number: newest + 1,
    status: 'running',
    head_commit,
    step_results: [],
    verdict: null,
    verdict_by: null,
    run_id: null,
    cleared_at: null,
    started_at: at,
    finished_at: null,
  };
  const events = [...voided.map((one) => tell('review.finished', one)), tell('review.started', review)];
  return { outcome: 'save', review, voided, events };
}

/** The review with what one of its checks said. */
export function decideStepResult(
  before: Review,
  step: StepResult,
): ({ readonly outcome: 'save' } & ReviewPlan) | Extract<WorkRefusal, { outcome: 'review_over' }> {
  const over = decideReviewOpen(before, ['running']);
  if (over !== undefined) return over;
  const review: Review = { ...before, step_results: [...before.step_results, step] };
  return { outcome: 'save', review, events: [tell('review.step_finished', review, { step })] };
}

/** The review once its checks have passed: it waits for a word. Work that was taken away meanwhile waits for none. */
export function decideVerdictAsk(
  before: Review,
  now: number,
): ({ readonly outcome: 'save' } & ReviewPlan) | Extract<WorkRefusal, { outcome: 'review_over' }> {
  const over = decideReviewOpen(before, ['running']);
  if (over !== undefined) return over;
  if (before.cleared_at !== null) return decideReviewEnd(before, { status: 'void' }, now);
  const review: Review = { ...before, status: 'waiting' };
  return { outcome: 'save', review, events: [tell('review.verdict_asked', review)] };
}

/** Only what is not over can change; undefined where it may. */
export function decideReviewOpen(
  review: Pick<Review, 'id' | 'task_id' | 'status'>,
  open: readonly Review['status'][],
): Extract<WorkRefusal, { outcome: 'review_over' }> | undefined {
  return open.includes(review.status) ? undefined : { outcome: 'review_over', review };
}

/** Undefined where nothing is said of the task's claim, or the task is there: then `decideSeen` says whose it is. */
export function refuseGone(
  review: Pick<Review, 'id' | 'task_id'>,
  { fence, is_here }: { readonly fence: number | undefined; readonly is_here: boolean },
): Extract<WorkRefusal, { outcome: 'review_gone' }> | undefined {
  return fence === undefined || is_here ? undefined : { outcome: 'review_gone', review, fence };
}

export interface ReviewEnding {
  readonly status: 'passed' | 'failed' | 'void';
  readonly verdict?: Review['verdict'] | undefined;
  readonly verdict_by?: string | undefined;
  readonly run_id?: string | undefined;
  /** A person gave the verdict in place of the holder of the gate; the event tells of it. */
  readonly forced?: boolean | undefined;
}

/** The review after its end. One that was cleared meanwhile has passed nothing. */
export function decideReviewEnd(
  before: Review,
  end: ReviewEnding,
  now: number,
): ({ readonly outcome: 'save' } & ReviewPlan) | Extract<WorkRefusal, { outcome: 'review_over' }> {
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
  const forced = end.forced === true ? { forced: true as const } : {};
  return { outcome: 'save', review, events: [tell('review.finished', review, forced)] };
}

/** What becomes of a review whose work is taken away; undefined where that changes nothing. */
export function clearReview(before: Review, now: number): ReviewPlan | undefined {
  const review = toCleared(before, now);
  return review === undefined ? undefined : { review, events: [tell('review.cleared', review)] };
}

function toCleared(review: Review, now: number): Review | undefined {
  if (review.cleared_at !== null || review.status === 'failed' || review.status === 'void') return undefined;
  const at = toIso(now);
  // What its checks said has to be older than this, also where a clock was set back.
  const ended = review.finished_at ?? review.started_at;
  const cleared_at = ended > at ? ended : at;
  // Its process goes on; what it finds is void when it ends.
  if (review.status === 'running') return { ...review, cleared_at };
  return { ...review, status: 'void', cleared_at, finished_at: review.finished_at ?? cleared_at };
}

function tell(type: WorkEventType, review: Review, more: WorkData = {}): WorkEvent {
  return { type, task_id: review.task_id, data: { review, ...more } };
}

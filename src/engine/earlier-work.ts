import type { Attempt, Run } from '#contract/attempt.ts';
import type { EarlierWork } from '#domain/compose-prompt.ts';
import type { WorkPlace } from './work.ts';

const CUT_OFF: readonly Run['outcome'][] = ['crashed', 'stopped', 'usage_limit', 'auth'];

/** What earlier runs, reviews, merges and people left for whoever works on the attempt next. */
export async function readEarlierWork({ store, clock }: WorkPlace, attempt: Attempt): Promise<EarlierWork> {
  const [runs, reviews, merges, messages] = await Promise.all([
    store.listRuns({ attempt_id: attempt.id }),
    store.listReviews({ task_id: attempt.task_id }),
    store.listMerges({ task_id: attempt.task_id }),
    store.takeMessages({ attempt_id: attempt.id, now: clock.now() }),
  ]);
  const run = runs.findLast(({ ended_at }) => ended_at !== null);
  const review = reviews.findLast(({ attempt_id }) => attempt_id === attempt.id);
  const merge = merges.findLast(({ attempt_id }) => attempt_id === attempt.id);
  // One that was cut off has done nothing about it.
  const answer = runs.findLast(({ ended_at, outcome }) => ended_at !== null && !CUT_OFF.includes(outcome));
  const isOfNow = (at: string | null): boolean => at !== null && (answer?.started_at ?? '') <= at;
  const failed = review?.status === 'failed' && isOfNow(review.finished_at) ? review : undefined;
  const refused = merge !== undefined && isOfNow(merge.finished_at) ? merge : undefined;
  return {
    last_error: findError(run),
    failed_step: failed?.step_results.find(({ outcome }) => outcome !== 'passed'),
    verdict: failed?.verdict ?? undefined,
    conflicts: refused?.state === 'conflict' ? refused.conflicts : undefined,
    ...(refused?.state === 'ci_failed' && refused.message !== null && { last_error: refused.message }),
    target: attempt.target,
    messages,
  };
}

function findError(run: Run | undefined): string | undefined {
  if (run === undefined || run.outcome === 'completed') return undefined;
  return run.message ?? run.outcome ?? undefined;
}

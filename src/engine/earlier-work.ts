import type { Attempt, Run } from '#contract/attempt.ts';
import type { EarlierWork } from '#domain/compose-prompt.ts';
import { isAgentFault } from '#domain/decide-suspension.ts';
import { LIMITS } from '#kernel/limits.ts';
import type { WorkPlace } from './work.ts';

const CUT_OFF: readonly Run['outcome'][] = ['crashed', 'stopped', 'cap_reached'];

/** What earlier runs, reviews, merges and people left for whoever works on the attempt next. */
export async function readEarlierWork({ store, clock }: WorkPlace, attempt: Attempt): Promise<EarlierWork> {
  const [runs, reviews, merges, messages] = await Promise.all([
    store.listRuns({ attempt_id: attempt.id }),
    store.listReviews({ task_id: attempt.task_id }),
    store.listMerges({ task_id: attempt.task_id }),
    store.takeMessages({ attempt_id: attempt.id, now: clock.now() }),
  ]);
  // Why its agent could not work is no news for an agent that can.
  const run = runs.findLast(({ ended_at, outcome }) => ended_at !== null && !isAgentFault(outcome));
  const review = reviews.findLast(({ attempt_id }) => attempt_id === attempt.id);
  const merge = merges.findLast(({ attempt_id }) => attempt_id === attempt.id);
  // One that was cut off has done nothing about it.
  const answer = runs.findLast(
    ({ ended_at, outcome }) => ended_at !== null && !CUT_OFF.includes(outcome) && !isAgentFault(outcome),
  );
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
    ...(await readChanges({ store }, runs)),
  };
}

/** What others wrote on the task since the last run began: that run was told what stood there before. */
async function readChanges(
  { store }: Pick<WorkPlace, 'store'>,
  runs: readonly Run[],
): Promise<Pick<EarlierWork, 'edited' | 'comments'>> {
  const last = runs.findLast(({ started_at }) => started_at !== null);
  const since = last?.started_at ?? null;
  if (last === undefined || since === null) return {};
  const [task, history] = await Promise.all([
    store.getTask(last.task_id),
    store.readHistory({ id: last.task_id, limit: LIMITS.prompt_history }),
  ]);
  const isText = (name: string): boolean => name === 'title' || name === 'description';
  const edited = history.some(({ at, changed }) => at > since && changed.some(isText));
  const comments = task.comments.filter(
    ({ created_at, author }) => created_at > since && author !== last.agent,
  );
  return { ...(edited && { edited: task }), comments };
}

function findError(run: Run | undefined): string | undefined {
  if (run === undefined || run.outcome === 'completed') return undefined;
  return run.message ?? run.outcome ?? undefined;
}

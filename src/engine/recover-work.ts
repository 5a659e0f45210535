import type { Attempt, Run } from '#contract/attempt.ts';
import { readRef } from '#git/read-ref.ts';
import { getFromGit } from '#git/ask-git.ts';
import { showCommit } from '#git/show-commit.ts';
import { isForgeError } from '#kernel/errors.ts';
import { isAlive } from '#process/process-identity.ts';
import { endMarked } from '#process/sweep-marked.ts';
import type { ProcessMark, WatchedMerge, WatchedReview, WatchedRun } from '#store/attempt-store.ts';
import { openControl, toCheckout } from './attempt-workspace.ts';
import { MARKER_NAME } from './run-steps.ts';
import { harvestAttempt } from './settle-run.ts';
import { systemWriter, type WorkPlace } from './work.ts';

/**
 * Settles what a process left that was killed: ends what it had started, keeps what the agents had done, and closes
 * the rows. Safe to call at any time and by several at once: only what nobody watches any more is touched.
 */
export async function settleLost(place: WorkPlace): Promise<{ readonly runs: readonly Run[] }> {
  const { store } = place;
  const [runs, reviews, merges] = await Promise.all([
    store.listOpenRuns(),
    store.listOpenReviews(),
    store.listOpenMerges(),
  ]);
  const isLost = ({ watcher }: { readonly watcher: ProcessMark | null }): boolean =>
    watcher !== null && !isAlive(watcher);
  const settled: Run[] = [];
  for (const lost of runs.filter(isLost)) settled.push(...(await settleRun(place, lost)));
  for (const lost of reviews.filter(isLost)) await settleReview(place, lost);
  for (const lost of merges.filter(isLost)) await settleMerge(place, lost);
  return { runs: settled };
}

async function settleRun(place: WorkPlace, { run }: WatchedRun): Promise<Run[]> {
  const { store } = place;
  await endMarked({ name: MARKER_NAME, value: run.id }, { host: await place.processes() });
  try {
    const [attempt, task] = await Promise.all([store.getAttempt(run.attempt_id), store.getTask(run.task_id)]);
    if (attempt.removed_at === null && run.state === 'running')
      await harvestAttempt(place, { task, attempt, agent: run.agent });
  } catch (error) {
    // The folder may be gone, or the task; its row has to end all the same.
    if (!isForgeError(error)) throw error;
  }
  const message = 'Whoever watched it is gone';
  try {
    const to = run.state === 'scheduled' ? 'cancelled' : 'failed';
    return [
      await store.moveRun(
        { id: run.id, from: run.state, to, outcome: 'crashed', message },
        systemWriter(place),
      ),
    ];
  } catch (error) {
    // Somebody else was faster.
    if (isForgeError(error) && error.code === 'state_invalid') return [];
    throw error;
  }
}

async function settleReview(place: WorkPlace, { review }: WatchedReview): Promise<void> {
  // An auditor's run has been settled before.
  await endMarked(
    { name: MARKER_NAME, value: `${review.attempt_id}-check` },
    { host: await place.processes() },
  );
  await place.store.finishReview({ id: review.id, status: 'void' }, systemWriter(place)).catch(ignoreFaster);
}

/** The target says whether it had landed. */
async function settleMerge(place: WorkPlace, { merge }: WatchedMerge): Promise<void> {
  const { store } = place;
  const tip = await readRef(place.repo, `refs/heads/${merge.target}`);
  const attempt = await store.getAttempt(merge.attempt_id);
  const landed = tip === undefined ? '' : await findLanded(place, attempt, tip);
  await endMarked(
    { name: MARKER_NAME, value: `${merge.attempt_id}-check` },
    { host: await place.processes() },
  );
  const end =
    landed === ''
      ? { state: 'dropped' as const, message: 'Whoever watched it is gone' }
      : { state: 'landed' as const, candidate: landed };
  await store.finishMerge({ id: merge.id, ...end }, systemWriter(place)).catch(ignoreFaster);
  if (landed !== '') {
    await store.changeAttempt({ id: attempt.id, state: 'merged', merge_commit: landed }, systemWriter(place));
  } else if (attempt.removed_at === null) {
    const control = await openControl(place);
    await showCommit(control, toCheckout(place, control, attempt), merge.head_commit).catch(ignoreForge);
  }
}

/** Every commit that an attempt brings to its target names it. Empty where there is none. */
function findLanded({ repo }: WorkPlace, attempt: Attempt, tip: string): Promise<string> {
  const grep = ['--fixed-strings', `--grep=Forge-Attempt: ${attempt.id}`];
  return getFromGit(repo, ['log', '-1', '--format=%H', ...grep, `${attempt.base_commit}..${tip}`, '--']);
}

function ignoreFaster(error: unknown): void {
  if (!isForgeError(error) || error.code !== 'state_invalid') throw error;
}

function ignoreForge(error: unknown): void {
  if (!isForgeError(error)) throw error;
}

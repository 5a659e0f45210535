import type { Attempt, Merge, Run } from '#contract/attempt.ts';
import { roleOf } from '#domain/workflow.ts';
import { healLandings } from '#git/heal-landings.ts';
import { findLandedCommit } from '#git/landed-work.ts';
import { readRef } from '#git/read-ref.ts';
import { showCommit } from '#git/show-commit.ts';
import { RUN_MARKER } from '#executors/executor.ts';
import { isForgeError } from '#kernel/errors.ts';
import { LIMITS } from '#kernel/limits.ts';
import { isAlive, isSameProcess } from '#process/process-identity.ts';
import { processWitness } from '#process/process-witness.ts';
import { endMarked } from '#process/sweep-marked.ts';
import type { ProcessMark, WatchedMerge, WatchedReview, WatchedRun } from '#store/attempt-store.ts';
import { openControl, toCheckout } from './attempt-workspace.ts';
import { inTurns } from './in-turns.ts';
import { isThere, listUnwatched } from './is-there.ts';
import { setPlantedAside } from './protect-cli.ts';
import { harvestAttempt } from './settle-run.ts';
import { retry } from './transition-task.ts';
import { systemWriter, type WorkPlace } from './work.ts';

/**
 * Settles what a process left that was killed: ends what it had started, keeps what the agents had done, and closes
 * the rows. Safe to call at any time and by several at once: only what nobody watches any more is touched, and each
 * task by one of them. What cannot be settled keeps nobody else from it; the first trouble is thrown at the end.
 */
export async function settleLost(place: WorkPlace): Promise<{ readonly runs: readonly Run[] }> {
  const { store } = place;
  const [runs, reviews, merges] = await Promise.all([
    store.listOpenRuns(),
    store.listOpenReviews(),
    store.listOpenMerges(),
  ]);
  const listLost = async <T extends { readonly watcher: ProcessMark | null }>(all: readonly T[]) =>
    listUnwatched(
      store,
      all.filter((one) => !isOwn(place, one)),
    );
  const lost = [
    ...(await listLost(runs)).map((one) => ({ id: one.run.task_id, settle: () => settleRun(place, one) })),
    ...(await listLost(reviews)).map((one) => ({
      id: one.review.task_id,
      settle: () => settleReview(place, one),
    })),
    ...(await listLost(merges)).map((one) => ({
      id: one.merge.task_id,
      settle: () => settleMerge(place, one),
    })),
  ];
  return { runs: await settleAll(place, lost) };
}

/**
 * Runs that somebody says to watch and that have not been heard of for long, and whose program is gone. `isMine` says
 * which of those of this process are at work.
 */
export async function settleSilent(
  place: WorkPlace,
  isAtWork: (taskId: string) => boolean,
  silence_ms: number = LIMITS.run_silence_ms,
): Promise<{ readonly runs: readonly Run[] }> {
  const since = place.clock.now() - silence_ms;
  const silent = (await place.store.listOpenRuns()).filter((one) => {
    const heard = one.beat_at ?? Date.parse(one.run.started_at ?? one.run.created_at);
    const isOver = one.process === null ? isOwn(place, one) : !isAlive(one.process);
    return heard < since && isOver && !(isOwn(place, one) && isAtWork(one.run.task_id));
  });
  const unwatched = new Set(await listUnwatched(place.store, silent));
  const watched = silent.filter((one) => !unwatched.has(one));
  const settled = await inTurns(watched, AT_ONCE, (one) => settleRun(place, one, { isSilent: true }));
  return { runs: settled.flat() };
}

/** So many are ended at once: each may take its time to end, and looks through the processes of the machine. */
const AT_ONCE = 16;

interface Lost {
  /** Of the task. */
  readonly id: string;
  readonly settle: () => Promise<Run[]>;
}

async function settleAll(place: WorkPlace, lost: readonly Lost[]): Promise<Run[]> {
  const failed: unknown[] = [];
  const tasks = Map.groupBy(lost, ({ id }) => id);
  const settled = await inTurns([...tasks], AT_ONCE, async ([id, rows]) => {
    const runs: Run[] = [];
    try {
      if (!(await takeLost(place, id))) return runs;
      for (const { settle } of rows) runs.push(...(await settle()));
    } catch (error) {
      failed.push(error);
    }
    return runs;
  });
  if (failed.length > 0) throw failed[0];
  return settled.flat();
}

/** False where somebody who is alive has the task: they are about to do the same. */
async function takeLost({ store, watcher, clock }: WorkPlace, taskId: string): Promise<boolean> {
  const watch = (await store.listWatchedTasks()).find(({ task_id }) => task_id === taskId);
  if (watch !== undefined && isSameProcess(watch.watcher, watcher)) return true;
  if (watch !== undefined && (await isThere(store, watch.watcher))) return false;
  return store.takeWatch({ task_id: taskId, watcher, from: watch?.watcher ?? null }, clock.now());
}

function isOwn({ watcher }: WorkPlace, one: { readonly watcher: ProcessMark | null }): boolean {
  return one.watcher !== null && isSameProcess(one.watcher, watcher);
}

async function settleRun(
  place: WorkPlace,
  { run, watcher }: WatchedRun,
  { isSilent = false }: { readonly isSilent?: boolean } = {},
): Promise<Run[]> {
  const { store } = place;
  const left = await endMarked({ name: RUN_MARKER, value: run.id }, { host: await place.processes() });
  try {
    const [attempt, task] = await Promise.all([store.getAttempt(run.attempt_id), store.getTask(run.task_id)]);
    if (attempt.removed_at === null && run.state === 'running' && worksThere(place, run))
      // Where another Forge harvests at the same time, one of them looks again.
      await retry(true, () => harvestAttempt(place, { task, attempt, agent: run.agent }));
  } catch (error) {
    // The folder may be gone, or the task; its row has to end all the same.
    if (!isForgeError(error)) throw error;
  }
  const planted = setPlantedAside(place, run);
  const message = [`${describeLoss(watcher, { isSilent })}${describeLeft(left)}`, planted]
    .filter(Boolean)
    .join('. ');
  const to = run.state === 'scheduled' ? 'cancelled' : 'failed';
  const move = { id: run.id, from: run.state, to, outcome: 'crashed', message } as const;
  const ended = await store.moveRun(move, systemWriter(place)).catch(ignoreFaster);
  if (ended === undefined) return [];
  place.watch({ kind: 'run', run: ended });
  return [ended];
}

/** A run that is silent may have a watcher that is alive. */
function describeLoss(watcher: ProcessMark | null, { isSilent }: { readonly isSilent: boolean }): string {
  if (watcher === null) return 'It lost its watcher';
  const { pid, host } = watcher;
  return isSilent
    ? `Its program is gone, and its watcher (process ${pid} on ${host}) says nothing of it`
    : `It lost its watcher: process ${pid} on ${host} is gone`;
}

function describeLeft({ ended, survivors }: Awaited<ReturnType<typeof endMarked>>): string {
  const done = ended === 0 ? '' : `; ${ended} of its processes that were left were ended`;
  return survivors === 0 ? done : `${done}; ${survivors} of its processes could not be ended`;
}

/** Those who audit have a folder of their own: what checks left in the attempt's is not theirs. */
function worksThere(place: WorkPlace, { role }: Run): boolean {
  const workflow = place.workflow();
  return ![...workflow.states.values()].some(
    ({ name, kind }) => kind === 'gate' && roleOf(workflow, name) === role,
  );
}

async function settleReview(place: WorkPlace, { review }: WatchedReview): Promise<Run[]> {
  // An auditor's run has been settled before.
  if (review.attempt_id !== null) await endChecks(place, review.attempt_id);
  await place.store.finishReview({ id: review.id, status: 'void' }, systemWriter(place)).catch(ignoreFaster);
  return [];
}

/** The target says whether it had landed; what nobody had begun has not. */
async function settleMerge(place: WorkPlace, { merge, watcher }: WatchedMerge): Promise<Run[]> {
  const { store } = place;
  const attempt = await store.getAttempt(merge.attempt_id);
  await endChecks(place, attempt.id);
  // Its git may be about to move the target; and what it left in a checkout is put right now.
  await healLandings(place.repo, processWitness, LIMITS.index_lock_ms);
  const landed = await findLanded(place, attempt, merge);
  const end =
    landed === undefined
      ? { state: 'dropped' as const, message: describeLoss(watcher, { isSilent: false }) }
      : { state: 'landed' as const, candidate: landed };
  await store.finishMerge({ id: merge.id, ...end }, systemWriter(place)).catch(ignoreFaster);
  if (landed !== undefined) {
    await store.changeAttempt({ id: attempt.id, state: 'merged', merge_commit: landed }, systemWriter(place));
  } else if (attempt.removed_at === null) {
    const control = await openControl(place);
    await place.folders
      .hold(attempt, 'recovery', () =>
        showCommit(control, toCheckout(place, control, attempt), merge.head_commit),
      )
      .catch(ignoreForge);
  }
  return [];
}

async function endChecks(place: WorkPlace, attemptId: string): Promise<void> {
  const marker = { name: RUN_MARKER, value: `${attemptId}-check` };
  await endMarked(marker, { host: await place.processes() });
}

/**
 * The commit of the target that has the merge: the one that was about to land, or what a person has made of it since.
 * Undefined where the target does not have it, and where it was never about to.
 */
async function findLanded(
  { repo }: WorkPlace,
  attempt: Attempt,
  { candidate }: Merge,
): Promise<string | undefined> {
  if (candidate === null) return undefined;
  const tip = await readRef(repo, `refs/heads/${attempt.target}`);
  if (tip === undefined) return undefined;
  return findLandedCommit(repo, { attempt_id: attempt.id, candidate, tip, since: attempt.base_commit });
}

function ignoreFaster(error: unknown): undefined {
  if (!isForgeError(error) || error.code !== 'state_invalid') throw error;
  return undefined;
}

function ignoreForge(error: unknown): void {
  if (!isForgeError(error)) throw error;
}

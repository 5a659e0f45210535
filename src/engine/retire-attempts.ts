import type { Attempt, Run } from '#contract/attempt.ts';
import { RUN_MARKER } from '#executors/executor.ts';
import { dropAttemptRefs } from '#git/attempt-refs.ts';
import { removeCheckout, resetCheckout, type Removed } from '#git/rescue-checkout.ts';
import { toIso } from '#kernel/clock.ts';
import { isForgeError } from '#kernel/errors.ts';
import { LIMITS } from '#kernel/limits.ts';
import { isAlive, isSameProcess } from '#process/process-identity.ts';
import { endMarked } from '#process/sweep-marked.ts';
import type { WatchedRun } from '#store/attempt-store.ts';
import { WATCH_LIMITS } from '#kernel/watch-limits.ts';
import { followEvents } from '#store/follow-events.ts';
import { isThere } from './is-there.ts';
import { openControl, toCheckout } from './attempt-workspace.ts';
import { awaitGates } from './await-gates.ts';
import { runIn } from './set-up-folder.ts';
import { systemWriter, type WorkPlace } from './work.ts';

/** The task is over: what is at work on it ends, and its folders go, at once or when the project says. */
export async function retireAttempts(place: WorkPlace, taskId: string, when: 'now' | 'later'): Promise<void> {
  const { store, clock } = place;
  await stopRuns(place, { task_id: taskId });
  const hours = place.settings().workspace.cleanup_hours;
  for (const attempt of await store.listAttempts({ task_id: taskId, there: true })) {
    const state = attempt.state === 'active' ? 'archived' : attempt.state;
    const cleanup_at = toIso(clock.now() + (when === 'now' ? 0 : hours * 3_600_000));
    const retired = await store.changeAttempt({ id: attempt.id, state, cleanup_at }, systemWriter(place));
    if (when === 'now') await removeWorkspace(place, retired);
  }
}

/** Whoever works on it is sent away; what they leave is what the next one begins with, unless it is reset. */
export async function recallWork(
  place: WorkPlace,
  taskId: string,
  reset: 'worktree' | 'workspace' | undefined,
): Promise<void> {
  await stopRuns(place, { task_id: taskId });
  if (reset === 'workspace') await retireAttempts(place, taskId, 'now');
  if (reset !== 'worktree') return;
  const control = await openControl(place);
  for (const attempt of await place.store.listAttempts({ task_id: taskId, there: true, state: 'active' }))
    await place.folders.hold(attempt, 'reset', () =>
      resetCheckout(control, toCheckout(place, control, attempt)),
    );
}

/** Nothing uncommitted is lost by it: that goes to a rescue ref first. */
export async function removeWorkspace(place: WorkPlace, attempt: Attempt): Promise<Removed> {
  return place.folders.hold(attempt, 'removal', () => removeHeld(place, attempt));
}

async function removeHeld(place: WorkPlace, attempt: Attempt): Promise<Removed> {
  const { store, clock } = place;
  const { teardown } = place.settings().workspace;
  const control = await openControl(place);
  const checkout = toCheckout(place, control, attempt);
  // What it tears down may be gone already; that must not keep the folder.
  if (teardown.length > 0) await runIn(place, attempt, teardown).catch(isForgeErrorOrThrow);
  const removed = await removeCheckout(control, checkout);
  for (const why of removed.left_out ?? [])
    place.watch({
      kind: 'note',
      task_id: attempt.task_id,
      attempt_id: attempt.id,
      text: `Commits of its worktree that ${attempt.branch} does not lead to are gone with it (${why})`,
    });
  // Written last: as long as it is not, all of this is done again.
  if (attempt.state === 'merged' || isEmpty(attempt))
    await dropAttemptRefs(control, { ...checkout, target: attempt.target });
  await store.changeAttempt(
    { id: attempt.id, removed_at: toIso(clock.now()), port: null },
    systemWriter(place),
  );
  return removed;
}

/**
 * Those whose time has come, unless somebody is at work on their task: they may be at this very thing. Gives what was
 * removed; what cannot be is told, and keeps nothing else.
 */
export async function removeOverdue(
  place: WorkPlace,
  isAtWork: (taskId: string) => boolean = () => false,
): Promise<Attempt[]> {
  const now = toIso(place.clock.now());
  const watches = new Map((await place.store.listWatchedTasks()).map((one) => [one.task_id, one.watcher]));
  const isFree = async ({ task_id }: Attempt): Promise<boolean> => {
    const watcher = watches.get(task_id);
    if (isAtWork(task_id)) return false;
    if (watcher === undefined || isSameProcess(watcher, place.watcher)) return true;
    return !(await isThere(place.store, watcher));
  };
  const overdue = (await place.store.listAttempts({ there: true })).filter(
    ({ cleanup_at }) => cleanup_at !== null && cleanup_at <= now,
  );
  const removed: Attempt[] = [];
  for (const attempt of overdue) {
    if (!(await isFree(attempt))) continue;
    try {
      await removeWorkspace(place, attempt);
      removed.push(attempt);
    } catch (error) {
      if (!isForgeError(error)) throw error;
      place.watch({ kind: 'note', task_id: attempt.task_id, text: error.message });
    }
  }
  return removed;
}

/** Whoever watches them ends them; it may be another process. */
export async function stopRuns(
  place: WorkPlace,
  of: { readonly task_id: string } | { readonly attempt_id: string },
): Promise<void> {
  await endRuns(place, () => place.store.listRuns({ ...of, open: true }));
}

/** Its branch has nothing but what it began with, as after a plan. */
function isEmpty({ head_commit, base_commit }: Attempt): boolean {
  return head_commit === null || head_commit === base_commit;
}

/** Those whose task is not theirs any more, and the checks and merges of a task that has left their gate. */
export async function endLostRuns(place: WorkPlace, task_id: string): Promise<void> {
  await endRuns(place, () => place.store.listLostRuns({ task_id }));
  await awaitGates(place, task_id);
}

/** How long a watcher may take to write down that its run has ended. */
const END_MS = 2_000;

async function endRuns(place: WorkPlace, list: () => Promise<Run[]>): Promise<void> {
  const { store } = place;
  for (const { id } of await list())
    await store.askStop({ id }, systemWriter(place)).catch(isForgeErrorOrThrow);
  const until = performance.now() + LIMITS.run_grace_ms + LIMITS.run_kill_ms + END_MS;
  const events = await followEvents(store);
  while (performance.now() < until) {
    if ((await list()).length === 0) return;
    await place.settleLost();
    await events.next({ timeout_ms: WATCH_LIMITS.process_look_ms });
  }
  const left = new Set((await list()).map(({ id }) => id));
  for (const one of await store.listOpenRuns()) if (left.has(one.run.id)) await endByForce(place, one);
}

/** Its watcher is there and does nothing: stopped, or stuck. Its processes are ended from here, if they are here. */
async function endByForce(place: WorkPlace, { run, process }: WatchedRun): Promise<void> {
  const { store, watcher } = place;
  if (process === null || process.host !== watcher.host || process.boot_id !== watcher.boot_id) return;
  const marker = { name: RUN_MARKER, value: run.id };
  const { survivors } = await endMarked(marker, { host: await place.processes() });
  // Of another user it can neither be found nor ended from here: then it is not said to be over.
  if (survivors > 0 || isAlive(process)) return;
  const message = 'Stopped by another process: its watcher did not answer';
  const end = { outcome: 'stopped', message } as const;
  await store
    .moveRun({ id: run.id, from: run.state, to: 'cancelled', ...end }, systemWriter(place))
    .catch(isForgeErrorOrThrow);
}

function isForgeErrorOrThrow(error: unknown): undefined {
  if (!isForgeError(error)) throw error;
  return undefined;
}

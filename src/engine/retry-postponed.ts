import type { Attempt, Merge } from '#contract/attempt.ts';
import type { Task } from '#contract/task.ts';
import { isMerging, kindOf, standingState, type ResolvedWorkflow } from '#domain/workflow.ts';
import { findObstacle } from '#git/land-target.ts';
import { isForgeError } from '#kernel/errors.ts';
import { LIMITS } from '#kernel/limits.ts';
import { findStanding } from './find-standing.ts';
import { findWatch } from './find-watch.ts';
import { transitionTask } from './transition-task.ts';
import type { WorkPlace } from './work.ts';
import type { Workshop } from './workshop.ts';

/** A task whose merge waits for the user's checkout, and the gate that it is merged in. */
export interface PostponedTask {
  readonly task: Task;
  readonly attempt: Attempt;
  readonly gate: string;
}

/** How the task says that its merge was postponed. */
const POSTPONED = 'merge_postponed';

/** Where the task goes to be merged again; undefined where that is not what it waits for. */
export function findPostponedGate(workflow: ResolvedWorkflow, task: Task): string | undefined {
  return task.error_annotation?.code === POSTPONED ? findGateAgain(workflow, task) : undefined;
}

/** The same of one that a person lets try again: also where the merge was refused. */
export function findRefusedGate(workflow: ResolvedWorkflow, task: Task): string | undefined {
  const code = task.error_annotation?.code ?? '';
  return [POSTPONED, 'merge_refused'].includes(code) ? findGateAgain(workflow, task) : undefined;
}

function findGateAgain(workflow: ResolvedWorkflow, task: Task): string | undefined {
  const state = standingState(workflow, task);
  if (kindOf(workflow, state) !== 'custom') return undefined;
  return workflow.states.get(state)?.next?.find((name) => isMerging(workflow, name));
}

export async function listPostponed({ store, workflow }: WorkPlace): Promise<PostponedTask[]> {
  const found: PostponedTask[] = [];
  for (const attempt of await store.listAttempts({ there: true, state: 'active' })) {
    const task = (await findStanding(store, attempt.task_id))?.task;
    const gate = task && findPostponedGate(workflow(), task);
    if (task !== undefined && gate !== undefined) found.push({ task, attempt, gate });
  }
  return found;
}

/**
 * Merges again what could not land because something of the user's was in the way, as soon as nothing is. What only
 * met a busy checkout is tried later each time. Answers at once: what was begun is the workshop's to finish.
 */
export async function retryPostponed(
  workshop: Workshop,
  { at_once = false }: { readonly at_once?: boolean } = {},
): Promise<void> {
  const { place } = workshop;
  for (const postponed of await listPostponed(place)) {
    const { id, version } = postponed.task;
    // Another process that is alive may be at the same thing.
    if (workshop.isAtWork(id) || (await findWatch(place, id))?.is_others === true) continue;
    const isTime = at_once || (await isDue(place, postponed));
    if (!isTime || !(await isFree(place, postponed))) continue;
    const reason = 'nothing is in the way of its merge any more';
    workshop.follow(id, () =>
      transitionTask(workshop.engine(), { id, to: postponed.gate, reason, version }).catch(ignoreFaster),
    );
  }
}

async function isDue({ store, clock }: WorkPlace, { task, attempt }: PostponedTask): Promise<boolean> {
  const merges = (await store.listMerges({ task_id: task.id })).filter(isOf(attempt));
  const others = merges.findLastIndex(({ state }) => state !== 'postponed');
  const times = merges.length - 1 - others;
  const rest = Math.min(
    LIMITS.merge_again_first_ms * 2 ** Math.max(0, times - 1),
    LIMITS.merge_again_last_ms,
  );
  return clock.now() - Date.parse(merges.at(-1)?.finished_at ?? task.created_at) >= rest;
}

/** By what the attempt itself changes: what else the target has got meanwhile is the target's. */
async function isFree({ repo }: WorkPlace, { attempt }: PostponedTask): Promise<boolean> {
  const { target, base_commit, head_commit } = attempt;
  try {
    const land = { branch: target, old: base_commit, commit: head_commit ?? base_commit };
    return (await findObstacle(repo, land)) === undefined;
  } catch (error) {
    // A checkout that git cannot look at now is looked at again.
    if (!isForgeError(error)) throw error;
    return false;
  }
}

function isOf({ id }: Attempt): (merge: Merge) => boolean {
  return ({ attempt_id }) => attempt_id === id;
}

/** Somebody has moved it since it was looked at: what they decided stands. */
function ignoreFaster(error: unknown): undefined {
  if (!isForgeError(error) || error.code !== 'version_conflict') throw error;
  return undefined;
}

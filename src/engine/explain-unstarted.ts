import { isForgeError, type ForgeError } from '#kernel/errors.ts';
import type { ActionOutcome } from './actions.ts';
import type { Engine } from './engine.ts';
import { tellFailure } from './tell-failure.ts';
import { findHoldLoss, type Assignment, type WorkPlace } from './work.ts';

/** What becomes of a task whose agent could not be started. */
export async function explainUnstarted(
  place: WorkPlace,
  engine: Engine,
  assignment: Assignment,
  error: ForgeError,
): Promise<ActionOutcome> {
  const message = tellFailure(error);
  // The task was taken from this start: the decision that took it stands.
  if (error.code === 'fence_conflict' || (await isLost(place, assignment)))
    return { outcome: 'failed', message };
  // A signal to all processes of a terminal ends the git that makes the folder too: nothing is wrong with the task.
  if (place.signal.aborted) return giveBack(engine);
  // It can be begun as soon as there is room; nothing is wrong with the task.
  const isFull = error.code === 'disk_full';
  const to = isFull ? engine.workflow.initial : engine.workflow.blocked;
  if (to === undefined) return { outcome: 'failed', message };
  const annotation = { code: isFull ? 'disk_full' : 'workspace', message };
  return { outcome: 'cascaded', to, reason: message, annotation };
}

/** A process that is about to end starts nothing more. */
export function giveBack(
  { workflow }: Engine,
  message = 'Forge was stopped before its agent was started',
): ActionOutcome {
  const annotation = { code: 'run_failed', message };
  return { outcome: 'cascaded', to: workflow.initial, reason: message, annotation };
}

async function isLost({ store }: WorkPlace, { task, hold }: Assignment): Promise<boolean> {
  try {
    return findHoldLoss(hold, await store.readStanding(task.id)) !== undefined;
  } catch (error) {
    if (!isForgeError(error) || error.code !== 'not_found') throw error;
    return true;
  }
}

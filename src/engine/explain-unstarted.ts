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
  const code = findPassing(error);
  const to = code === undefined ? engine.workflow.blocked : engine.workflow.initial;
  if (to === undefined) return { outcome: 'failed', message };
  // Set-up commands need the same leave as checks.
  const lasting = error.code === 'untrusted' ? error.code : 'workspace';
  const annotation = { code: code ?? lasting, message };
  return { outcome: 'cascaded', to, reason: message, annotation };
}

/** What passes by itself, so that nothing is wrong with the task: no disk space, or a process that still has the folder. */
function findPassing({ code, details }: ForgeError): string | undefined {
  if (code === 'disk_full') return code;
  return details['busy'] === 'folder' ? 'folder_busy' : undefined;
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

import type { Run } from '#contract/attempt.ts';
import { findLoss, type Loss } from '#domain/run-hold.ts';
import { isForgeError } from '#kernel/errors.ts';
import type { Standing, TaskStore } from '#store/store.ts';
import { findHoldLoss } from './work.ts';

/** Undefined for a task that was deleted: what is left of one must not stop work on the others. */
export async function findStanding(
  store: Pick<TaskStore, 'readStanding'>,
  id: string,
): Promise<Standing | undefined> {
  return store.readStanding(id).catch(ignoreGone);
}

/** For a call that fails only because its task was deleted meanwhile. */
export function ignoreGone(error: unknown): undefined {
  if (!isForgeError(error) || error.code !== 'not_found') throw error;
  return undefined;
}

/** Why a run does not have its task any more; undefined while it has it. What acts at the end of a run asks this first. */
export async function findRunLoss(
  store: Pick<TaskStore, 'readStanding'>,
  run: Pick<Run, 'task_id' | 'fence' | 'in_state'>,
): Promise<Loss | undefined> {
  const standing = await findStanding(store, run.task_id);
  return standing === undefined ? findLoss(run, undefined) : findHoldLoss(run, standing);
}

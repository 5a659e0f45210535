import { ForgeError, isForgeError } from '#kernel/errors.ts';
import { LIMITS } from '#kernel/limits.ts';
import { followEvents } from '#store/follow-events.ts';
import { findHoldLoss, type WorkPlace } from './work.ts';

/**
 * Checks and merges are for a task that stands in their gate, a set-up is for the claim that it was begun under. The
 * place that the work gets has a signal that is aborted as soon as the task was moved on, given to another owner,
 * archived or deleted, so that its processes end with it.
 */
export async function whileStanding<T>(
  place: WorkPlace,
  task: StandingTask,
  work: (place: WorkPlace) => Promise<T>,
): Promise<T> {
  const moved = new AbortController();
  const over = new AbortController();
  const watching = watchTask(place, task, { moved, over });
  // It is told when the work has ended: a rejection that nobody waits for yet would end the whole process.
  watching.catch(() => undefined);
  try {
    return await work({ ...place, signal: AbortSignal.any([place.signal, moved.signal]) });
  } finally {
    over.abort();
    await watching;
  }
}

export interface StandingTask {
  readonly id: string;
  readonly state: string;
  /** Left out where the owner does not matter. */
  readonly fence?: number | null | undefined;
}

async function watchTask(
  { store }: WorkPlace,
  { id, state, fence = null }: StandingTask,
  { moved, over }: { readonly moved: AbortController; readonly over: AbortController },
): Promise<void> {
  const events = await followEvents(store);
  // It may have been moved before that; and what cannot be read now is read a moment later.
  for (let isKnown = false; !over.signal.aborted && !moved.signal.aborted;) {
    const timeout_ms = isKnown ? LIMITS.run_beat_ms : LIMITS.wish_poll_ms;
    const isNews = await events.next({ signal: over.signal, timeout_ms });
    if (over.signal.aborted) return;
    if (isKnown && !isNews) continue;
    try {
      isKnown = false;
      const loss = findHoldLoss({ fence, in_state: state }, await store.readStanding(id));
      isKnown = true;
      if (loss !== undefined) moved.abort(toReason(id, loss.message));
    } catch (error) {
      if (!isForgeError(error)) throw error;
      // What only keeps the store from answering for a moment says nothing about the task.
      if (error.code === 'not_found') moved.abort(toReason(id, `${id} was deleted`));
    }
  }
}

function toReason(id: string, message: string): ForgeError {
  return new ForgeError('state_invalid', message, {
    hint: `forge task show ${id}`,
    details: { id },
  });
}

/** Why work that was cut off ended: its task was moved, or Forge itself ends. */
export function explainCut({ signal }: Pick<WorkPlace, 'signal'>): string {
  return isForgeError(signal.reason) ? signal.reason.message : 'Forge was stopped';
}

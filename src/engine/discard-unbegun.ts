import { rmdirSync } from 'node:fs';
import type { Attempt } from '#contract/attempt.ts';
import type { LostTask } from '#domain/decide-resume.ts';
import { RUN_MARKER } from '#executors/executor.ts';
import { dropAttemptRefs } from '#git/attempt-refs.ts';
import { removeCheckout } from '#git/rescue-checkout.ts';
import { toIso } from '#kernel/clock.ts';
import { isForgeError } from '#kernel/errors.ts';
import { endMarked } from '#process/sweep-marked.ts';
import { openControl, toCheckout } from './attempt-workspace.ts';
import { systemWriter, type WorkPlace } from './work.ts';

/**
 * Attempts that were cut off while they were made: nobody has worked there, and nobody knows how far the set-up came.
 * The next claim makes another one. Those that people made for themselves stay.
 */
export async function discardUnbegun(place: WorkPlace, { attempts, runs }: LostTask): Promise<void> {
  const unbegun = attempts.filter(
    ({ id, state, agent }) =>
      state === 'active' && agent !== null && !runs.some(({ attempt_id }) => attempt_id === id),
  );
  for (const attempt of unbegun) await discard(place, attempt);
}

async function discard(place: WorkPlace, attempt: Attempt): Promise<void> {
  // What the set-up had started.
  await endMarked({ name: RUN_MARKER, value: attempt.id }, { host: await place.processes() });
  const control = await openControl(place);
  const checkout = toCheckout(place, control, attempt);
  try {
    await place.folders.hold(attempt, 'removal', () => removeCheckout(control, checkout));
    await dropAttemptRefs(control, { ...checkout, target: attempt.target });
  } catch (error) {
    if (!isForgeError(error)) throw error;
    removeIfEmpty(checkout.path);
  }
  const removed_at = toIso(place.clock.now());
  await place.store.changeAttempt(
    { id: attempt.id, state: 'archived', removed_at, port: null },
    systemWriter(place),
  );
}

/** A folder that was made and not written down yet has nothing in it; anything else there is not ours. */
function removeIfEmpty(path: string): void {
  try {
    rmdirSync(path);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (!['ENOENT', 'ENOTEMPTY', 'EEXIST', 'ENOTDIR'].includes(code ?? '')) throw error;
  }
}

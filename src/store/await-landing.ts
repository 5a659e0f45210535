import { isForgeError } from '#kernel/errors.ts';
import { LIMITS } from '#kernel/limits.ts';

/**
 * A write that would take a task away while its merge moves the target waits for that moment to pass. It is one
 * transaction, so what was refused has changed nothing and can be tried again. Rejects with the refusal at the deadline.
 */
export async function awaitLanding<T>(write: () => Promise<T>): Promise<T> {
  let waited = 0;
  for (;;) {
    try {
      return await write();
    } catch (error) {
      const isLanding = isForgeError(error) && error.details['landing'] !== undefined;
      if (!isLanding || waited >= LIMITS.landing_wait_ms) throw error;
    }
    // Nearly no command comes here, and every one that reads would load it.
    const { setTimeout } = await import('node:timers/promises');
    await setTimeout(PAUSE_MS);
    waited += PAUSE_MS;
  }
}

const PAUSE_MS = 20;

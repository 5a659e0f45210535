import { setImmediate } from 'node:timers/promises';
import { monotonicNow } from '../monotonic-time.ts';

/** So long may one piece of work follow another before the event loop gets its turn. */
const SLICE_MS = 5;

/** Counts how long the event loop was held by work that comes in pieces. */
export class LoopTurn {
  #began = monotonicNow();

  /** Between two pieces: lets others be served where these have taken long. */
  async pass(): Promise<void> {
    if (monotonicNow() - this.#began < SLICE_MS) return;
    await setImmediate();
    this.#began = monotonicNow();
  }
}

import { setMaxListeners } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { WATCH_LIMITS } from '#kernel/watch-limits.ts';
import type { EventStore, EventWait } from './event-store.ts';

/** A loop that looks, and looks again when something has happened. */
export interface EventFollower {
  /**
   * Until there is an event that came after the last look, or the time is up, or the signal is aborted; true where there
   * is one. Events that follow one another quickly are met together.
   */
  next(wait: EventWait & { readonly timeout_ms: number }): Promise<boolean>;
}

/** Everything that happens from now on is news: make it before the first look. */
export async function followEvents(
  store: Pick<EventStore, 'newestEvent' | 'waitFor'>,
): Promise<EventFollower> {
  let seen = await store.newestEvent();
  let looked = performance.now();
  const rest = (ms: number, signal?: AbortSignal): Promise<void> =>
    sleep(Math.max(0, ms), undefined, { signal }).catch(() => undefined);
  return {
    async next({ signal, timeout_ms }) {
      if (signal !== undefined) setMaxListeners(0, signal);
      const before = seen;
      try {
        await rest(Math.min(looked + WATCH_LIMITS.event_pause_ms - performance.now(), timeout_ms), signal);
        seen = await store.waitFor(before, { signal, timeout_ms });
      } catch {
        // What is wrong with the store is said by the next look.
        await rest(timeout_ms, signal);
      }
      looked = performance.now();
      return seen !== before;
    },
  };
}

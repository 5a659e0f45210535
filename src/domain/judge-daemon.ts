import { isExpired, type SteadyTime } from './leases.ts';

/** What the system of this machine says of a process; `unknown`: it is on another machine, or cannot be seen from here. */
export type Seen = 'alive' | 'gone' | 'unknown';

/**
 * Whether the process that a row names may still be at work. What the system says of its own processes counts, also
 * where one has been silent: it may have been stopped for a while. Of others it is known by what they say to the store.
 * `is_over`: undefined for a process of an older Forge, which says nothing; no work is taken on a guess.
 */
export function mayBeAtWork(seen: Seen, is_over: boolean | undefined): boolean {
  if (seen !== 'unknown') return seen === 'alive';
  return is_over !== true;
}

/** Whether the last word of a daemon holds no more. A process that was stopped itself judges no other before that time has passed. */
export function isBeatOver(
  beat: { readonly expires_at: number; readonly ttl_ms: number },
  { at, awake }: Pick<SteadyTime, 'at' | 'awake'>,
): boolean {
  if (awake !== undefined && at - awake < beat.ttl_ms) return false;
  return isExpired(beat, at);
}

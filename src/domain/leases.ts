/**
 * A moment on a clock that nobody sets: it only goes on, and says nothing about the time of day. Two moments can be
 * compared only where they are of the same clock.
 */
export interface SteadyTime {
  /** Another number on another machine, and after each start of this one. */
  readonly clock: number;
  /** ms. */
  readonly at: number;
  /**
   * Since when the process that reads it has run without being stopped; left out by one that was only just started and
   * knows nothing of what was before.
   */
  readonly awake?: number | undefined;
}

/** How leases have been looked after so far; ms of one steady clock. */
export interface LeaseWatch {
  /** Since when this has been going on without a gap. */
  readonly since: number;
  /** When somebody was last there: a holder, or one who wanted to know whether a holder is gone. */
  readonly seen: number;
  /** When one who wanted to know found a gap, and no holder has been heard of since; 0: never. */
  readonly asked: number;
}

/** `hold`: a holder says that it is there. `judge`: somebody wants to know whether one is gone. */
export type Look = 'hold' | 'judge';

/** How long after somebody asked a lease counts as over, in lease times, also where nobody looked in between. */
const OPEN_FOR = 11;

/**
 * A lease that is over says that its holder is gone, unless nobody could have renewed it: the machine slept, the server
 * was stopped, none ran. So a lease is judged only where leases have been looked after for one lease time without a
 * gap; after a gap all holders have that time to say that they are there. Only who asked, and finds that no holder was
 * heard of since, need not have looked all the while: that a holder was there once says nothing about a gap after it.
 *
 * A process that has run all the time since somebody was last there has missed nothing, so that for it there is no gap;
 * one that was stopped judges nobody before it has run for one lease time again.
 *
 * Whoever sees the time ahead of the others would find every lease over, and the gap long past. That cannot be told
 * from a holder that is gone by looking at times, so these are times of a clock that all have in common; see
 * SteadyTime. What the wall clock says counts nowhere.
 */
export function watchLeases(
  watch: LeaseWatch,
  { at: now, awake }: Pick<SteadyTime, 'at' | 'awake'>,
  { ttl, look }: { readonly ttl: number; readonly look: Look },
): LeaseWatch & { readonly may_judge: boolean } {
  // A time that was read before the lock was waited for comes a little out of order. To take that for a clock that went
  // back would begin a new grace time again and again, and nobody would ever be judged.
  const at = now < watch.seen && now >= watch.seen - ttl ? watch.seen : now;
  const hasMissedNothing = awake !== undefined && awake <= watch.seen;
  const isGap = at < watch.seen || (at - watch.seen > ttl && !hasMissedNothing);
  const waited = at - watch.asked;
  const hadTime = look === 'judge' && watch.asked > 0 && waited >= ttl && waited < OPEN_FOR * ttl;
  const begins = isGap && !hadTime;
  const since = begins ? at : watch.since;
  const asked = look === 'hold' ? 0 : begins ? at : watch.asked;
  return { since, seen: at, asked, may_judge: at - Math.max(since, awake ?? since) >= ttl };
}

/** A lease from a time when the clock was ahead is as long as any other. */
export function isExpired(
  lease: { readonly expires_at: number; readonly ttl_ms: number },
  now: number,
): boolean {
  return now >= lease.expires_at || lease.expires_at > now + lease.ttl_ms;
}

/** No holder is judged before every holder has had one lease time from this moment. */
export function beginWatch(at: number): LeaseWatch {
  return { since: at, seen: at, asked: at };
}

/**
 * How a clock goes on that leases are counted by from now on: one that has counted them before, `known`, goes on where it
 * was, and may have been away for longer than a holder may be silent. `ttl`: the shortest lease time.
 */
export function adoptWatch(known: LeaseWatch | undefined, time: SteadyTime, ttl: number): LeaseWatch {
  if (known === undefined) return beginWatch(time.at);
  const { since, seen, asked } = watchLeases(known, time, { ttl, look: 'judge' });
  return { since, seen, asked };
}

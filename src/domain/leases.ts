/**
 * A moment on a clock that nobody sets: it only goes on, and says nothing about the time of day. Two moments can be
 * compared only where they are of the same clock.
 */
export interface SteadyTime {
  /** Another number on another machine, and after each start of this one. */
  readonly clock: number;
  /** ms. */
  readonly at: number;
}

/** How leases have been looked after so far; ms of one steady clock. */
export interface LeaseWatch {
  /** Since when this has been going on without a gap. */
  readonly since: number;
  /** When somebody was last there: a holder, or one who wanted to know whether a holder is gone. */
  readonly seen: number;
}

/** How long after the beginning of a watch a lease counts as over, in lease times, also where nobody looked in between. */
const OPEN_FOR = 11;

/**
 * A lease that is over says that its holder is gone, unless nobody could have renewed it: the machine slept, no server
 * ran. So a lease is judged only where leases have been looked after for one lease time without a gap; after a gap all
 * holders have that time to say that they are there.
 *
 * Whoever sees the time ahead of the others would find every lease over, and the gap long past. That cannot be told
 * from a holder that is gone by looking at times, so these are times of a clock that all have in common; see
 * SteadyTime. What the wall clock says counts nowhere.
 */
export function watchLeases(
  watch: LeaseWatch,
  now: number,
  ttl: number,
): LeaseWatch & { readonly may_judge: boolean } {
  // A time that was read before the lock was waited for comes a little out of order. To take that for a clock that went
  // back would begin a new grace time again and again, and nobody would ever be judged.
  const at = now < watch.seen && now >= watch.seen - ttl ? watch.seen : now;
  const isGap = at - watch.seen > ttl || at < watch.seen;
  const watched = at - watch.since;
  const isOpen = watched >= ttl && watched < OPEN_FOR * ttl;
  const since = isGap && !isOpen ? at : watch.since;
  return { since, seen: at, may_judge: at - since >= ttl };
}

/** A lease from a time when the clock was ahead is as long as any other. */
export function isExpired(
  lease: { readonly expires_at: number; readonly ttl_ms: number },
  now: number,
): boolean {
  return now >= lease.expires_at || lease.expires_at > now + lease.ttl_ms;
}

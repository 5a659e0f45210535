/** When leases were last looked after, and until when nobody is judged; ms. */
export interface LeaseWatch {
  readonly seen: number;
  readonly grace: number;
}

/** How long after a grace time a lease counts as over, in lease times, also where nobody looked in between. */
const OPEN_FOR = 10;

/**
 * A lease that is over says that its holder is gone, unless nobody could have renewed it: the machine slept, no server
 * ran, the clock jumped. So after every gap longer than a lease all holders get one lease time to say that they are
 * there before any of them is judged.
 */
export function watchLeases(
  watch: LeaseWatch,
  now: number,
  ttl: number,
): LeaseWatch & { readonly may_judge: boolean } {
  const gap = now - watch.seen > ttl || now < watch.seen;
  const graced = now >= watch.grace && now < watch.grace + OPEN_FOR * ttl;
  // A clock that went back must not leave a grace time that lasts for years.
  const stale = watch.grace > now + ttl;
  const grace = (gap && !graced) || stale ? now + ttl : watch.grace;
  return { seen: now, grace, may_judge: now >= grace };
}

/** A lease from a time when the clock was ahead is as long as any other. */
export function isExpired(
  lease: { readonly expires_at: number; readonly ttl_ms: number },
  now: number,
): boolean {
  return now >= lease.expires_at || lease.expires_at > now + lease.ttl_ms;
}

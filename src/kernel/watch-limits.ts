/** How soon those who wait learn of what happened, and how soon it is known of a process that it has gone. */
export const WATCH_LIMITS = {
  /** How late, at most, a wait for events learns of one that another process wrote. */
  event_delay_ms: 50,
  /** The first look after an event; each look that finds none doubles the pause up to that delay. */
  event_look_first_ms: 5,
  /** So long passes at least between two looks of one that waits: the events of many agents are met together. */
  event_pause_ms: 50,
  /** The same between two looks for what may be started. */
  dispatch_pause_ms: 200,
  /** How often it is looked whether a process has ended that something waits for: that is no event. */
  process_look_ms: 200,
  /** How often a daemon says that it is there while something is watched, and for how long that holds. */
  daemon_beat_ms: 15_000,
  daemon_ttl_ms: 60_000,
  /** How long a wait stands on a database in whose place another one was put. */
  replaced_ms: 1_000,
} as const;

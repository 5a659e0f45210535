/** How much of what every write makes longer is kept on disk; each with a test. */
export const KEPT_LIMITS = {
  /** How long events are kept; `forge gc` may be told otherwise. */
  event_days: 90,
  /** How many events are kept at most, how many more may stand before some are forgotten, and how many go at once. */
  events: 100_000,
  events_over: 1_000,
  events_at_once: 5_000,
  /** How long the row of a daemon stays that says nothing any more. */
  daemon_days: 7,
  /** The local replica is written anew with one line a task where it is larger than this, and so many times as large as then. */
  replica_bytes: 33_554_432,
  replica_growth: 4,
  /** Where one line a task takes more, only `forge gc` does that: others cannot write meanwhile. */
  replica_whole_bytes: 33_554_432,
} as const;

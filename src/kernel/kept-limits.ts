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
  /** Logs of ended runs: how long they are kept, and how much of the disk all of a project may take. Settings may say otherwise. */
  run_log_days: 90,
  run_log_gb: 2,
  /** A log that takes less stays: the line in its place that says so would take nearly as much. */
  run_log_least_bytes: 1_024,
  /** Rescue refs: how long after a person was told of them, and how many. Settings may say otherwise. */
  rescue_days: 90,
  rescues: 500,
  /** However many there are, a person has so long to look at what was shown. */
  rescue_look_days: 7,
  /** So many go at once, each by a git of its own. */
  rescues_at_once: 100,
  /** Worktrees of attempts that are over; what all of them may take of the disk is a setting. */
  finished_worktrees: 100,
  /** How often a command, or a server, looks after logs, rescue refs and worktrees. */
  upkeep_ms: 3_600_000,
} as const;

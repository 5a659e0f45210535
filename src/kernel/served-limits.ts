/**
 * How much one request of a server looks at, because no other client is served meanwhile. A command in the repository
 * has none of these bounds.
 */
export const SERVED_LIMITS = {
  /** Tasks in progress that the inbox asks about what they wait for. */
  inbox_tasks: 1_000,
  /** Entries of a task's history, and moves, in one answer; bytes of the events that are read for them. */
  history_entries: 5_000,
  history_bytes: 16_777_216,
  /** Values that lost a merge in one answer, and bytes of the tasks that have them. */
  conflicts: 5_000,
  conflicts_bytes: 8_388_608,
  /** Edges that a check for cycles walks. */
  walked_edges: 20_000,
  /** Ready tasks that are sorted by their impact, and dependencies that decide it: about 0.1 s. */
  ranked_tasks: 50_000,
  ranked_edges: 100_000,
} as const;

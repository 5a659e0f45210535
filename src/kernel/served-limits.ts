/**
 * How much one request of a server looks at, because no other client is served meanwhile. A command in the repository
 * has none of these bounds.
 */
export const SERVED_LIMITS = {
  /** Tasks that the inbox asks about what they wait for; parked ones are bounded apart from those in progress. */
  inbox_tasks: 1_000,
} as const;

/** What is known of a run's log when room is wanted. */
export interface KeptLogFacts {
  readonly bytes: number;
  /** When its run ended, in ms; null while it has not. `unknown`: no row says anything of it. */
  readonly ended_at: number | null | 'unknown';
  readonly attempt: 'active' | 'over' | 'unknown';
  readonly task: 'closed' | 'deleted' | 'open' | 'unknown';
}

export interface LogBounds {
  /** Logs of runs that ended before have been kept long enough; in ms. */
  readonly until: number;
  /** How many bytes all logs together have more than they may. */
  readonly surplus: number;
  readonly least_bytes: number;
}

/** Why a log stays. */
export type LogHold = 'small' | 'at_work' | 'unfinished' | 'unknown' | 'allowed';

/**
 * A log goes where it is too old, or where all together take too much: asked about one after the other, the oldest first.
 * What may still be worked on, or waits for a person, stays however much it takes, and so does what no row explains.
 */
export function decideKeptLog(
  log: KeptLogFacts,
  { until, surplus, least_bytes }: LogBounds,
): 'goes' | LogHold {
  if (log.bytes < least_bytes) return 'small';
  if (log.ended_at === null) return 'at_work';
  if (log.ended_at === 'unknown' || log.attempt === 'unknown' || log.task === 'unknown') return 'unknown';
  // A task that waits for a person is open, or has an attempt that is neither merged nor given up.
  if (log.attempt === 'active' || log.task === 'open') return 'unfinished';
  return log.ended_at < until || surplus > 0 ? 'goes' : 'allowed';
}

import type { ProcessMark } from './attempt-store.ts';

/**
 * Processes that are at work on tasks, on whichever machine. Rows of runs, reviews, merges, watches and attempts name
 * them by their `daemon_id`. None of this is an event: what a daemon does is one.
 */
export interface DaemonStore {
  /**
   * The daemon is there, and its word holds for so long by the store's own time. A daemon says it before it is at work on
   * anything, and again while it is. Idempotent.
   */
  beatDaemon(beat: DaemonBeat, now: number): Promise<void>;
  /** It has nothing to do any more, or ends. It may begin again. Idempotent. */
  endDaemon(daemon: DaemonMark, now: number): Promise<void>;
  /**
   * Whether its last word holds no more. A machine whose clock sees that word for the first time gives it the whole time,
   * also where the row is lost: by no guess is a process taken for gone.
   */
  isDaemonOver(daemon: DaemonMark): Promise<boolean>;
  /** Those that have not ended, the oldest first; some of them may be over. */
  listDaemons(): Promise<StoredDaemon[]>;
}

/** A process that has a row of its own. */
export type DaemonMark = ProcessMark & { readonly daemon_id: string };

export interface DaemonBeat {
  readonly mark: DaemonMark;
  readonly ttl_ms: number;
}

export interface StoredDaemon {
  readonly mark: DaemonMark;
  /** Wall clock in ms. */
  readonly started_at: number;
  /** Null where only others have named it. */
  readonly beat_at: number | null;
}

export function isDaemonMark(mark: ProcessMark): mark is DaemonMark {
  return mark.daemon_id !== undefined;
}

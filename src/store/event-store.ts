/**
 * The durable change feed as a reader sees it: rows numbered in the order of their commits. Each method is one look
 * at the store and changes nothing. Throws the store's own troubles, as TaskStore does.
 */
export interface EventStore {
  /** The number of the newest event; 0 where there is none. The cheapest question there is, for whoever polls. */
  newestEvent(): Promise<number>;
  /**
   * Until the newest event is another one than `after`; gives its number. For a caller that waits until something is so: read
   * the newest number, look, and wait for another number before the next look. It is a hint, at once for what this
   * process writes, and at most WATCH_LIMITS.event_delay_ms late for others. Nothing may have happened where the signal
   * is aborted, the time is up, the store is closed, or its database is another one now: it never rejects for that.
   * All that a person or a process may wish of one that watches is an event, but not that it is alive.
   */
  waitFor(after: number, wait?: EventWait): Promise<number>;
  /** What a position in the feed has to name besides a number: numbers begin anew with a database made anew. */
  readFeed(): Promise<Feed>;
  /** At most `limit` events, and never more work than some thousand rows: call again until `upto` is the newest. */
  readEvents(query: EventQuery): Promise<EventPage>;
}

export interface EventWait {
  readonly signal?: AbortSignal | undefined;
  /** No longer than this, for what is no event: the end of a process, a file. */
  readonly timeout_ms?: number | undefined;
}

export interface Feed {
  /** Of this database; another one after it was rebuilt. */
  readonly epoch: string;
  /** The first event that is still kept. */
  readonly oldest: number;
  readonly newest: number;
}

export interface EventQuery {
  /** The number of the last event that is known already. */
  readonly after: number;
  readonly limit: number;
  /** Of their data together, in UTF-8; one event is given whatever its size. */
  readonly max_bytes?: number | undefined;
  /** Names such as `task.claimed`; all when left out. */
  readonly types?: readonly string[] | undefined;
  /** A whole id. */
  readonly task_id?: string | undefined;
}

export interface EventPage {
  readonly events: readonly StoredEvent[];
  /** Every event up to this one that fits the query has been given. */
  readonly upto: number;
  readonly newest: number;
}

export interface StoredEvent {
  readonly seq: number;
  readonly type: string;
  readonly task_id: string | null;
  readonly triggered_by: string;
  readonly created_at: string;
  /**
   * JSON as it was written, byte for byte: `{"task": the new row, "changed": [names], …}`, with names in the order in which
   * they were told. Most readers only pass it on; a database that reorders JSON has to keep it as text.
   */
  readonly data: string;
}

import type { Writer } from './store.ts';

/**
 * What only a store needs that lies in files of this machine: a replica beside its database, and the care of both. A
 * server that keeps the tasks of a team looks after itself. Methods may take several transactions; each can be called
 * again.
 */
export interface StoreCare {
  /** A database of another schema that was opened for reading: nothing of it is to be settled or mended now. */
  readonly changes_nothing?: true;
  /** Rejects with schema_newer where a newer program has changed the database so that this one cannot read it. */
  readFormat(): Promise<void>;
  /** Writes the local replica anew with one line a task; returns its sizes. */
  compactReplica(by: Writer): Promise<{ before: number; after: number }>;
  /** Forgets events from before a time, and gives what they took back to the disk. */
  pruneEvents(
    before: number,
  ): Promise<{ events: number; database: { readonly before: number; readonly after: number } }>;
  /**
   * Brings the feed of events and the local replica back within their bounds (KEPT_LIMITS). Each writer may call it: most calls
   * only look. It may take several transactions. Idempotent.
   */
  keepBounded(now: number): Promise<{ readonly events: number; readonly replica: boolean }>;
  /** What of that there is now, and how much there may be before some goes. */
  readKept(): Promise<StoreKept>;
  /** Looks whether everything is as it should be; changes nothing. */
  diagnose(now: number): Promise<StoreDiagnosis>;
  /** Counts blockers anew, and writes the replica where it does not hold everything. Never touches a task or an edge. */
  repair(by: Writer): Promise<void>;
  /**
   * Brings rows back from the records beside the logs where those are newer. Opening a database that was made anew, or
   * that lacks tasks of the replica, does it by itself; a power cut may take changes of attempts alone. Records that
   * cannot be used stay where they are. Idempotent.
   */
  restoreAttempts(by: Writer): Promise<RestoredAttempts>;
}

export interface StoreKept {
  readonly events: { readonly number: number; readonly allowed: number };
  readonly replica: { readonly bytes: number; readonly allowed: number };
}

export interface RestoredAttempts {
  readonly restored: number;
  readonly refused: readonly RefusedRecord[];
}

export interface RefusedRecord {
  readonly path: string;
  readonly problem: string;
}

/** What is not as Forge made it. */
export interface StoreWrongs {
  /** What differs in tables, columns and indexes, in words. Where something does, rows are not looked at. */
  readonly schema: readonly string[];
  /** What the replica has and the database has not: ids of tasks, and deletions and moves in words. */
  readonly missing: readonly string[];
  /** Tasks whose rows cannot be read. */
  readonly unreadable: readonly string[];
  /** Tasks whose rows say what the replica does not know. */
  readonly changed: readonly string[];
}

export interface StoreDiagnosis {
  /** Its number, and the one that the next write brings it to. */
  readonly schema: number;
  readonly newest_schema: number;
  /** The file system that it lies on, where that is none for the log that it has. */
  readonly unsafe_log: string | null;
  readonly wrong: StoreWrongs;
  /** What SQLite finds wrong with its file. */
  readonly integrity: readonly string[];
  readonly broken_references: number;
  /** Tasks whose number of open blockers is not what it should be. */
  readonly miscounted: number;
  readonly replica_complete: boolean;
  /** Changed later than now: a clock was wrong. */
  readonly from_the_future: readonly string[];
  /** Of tasks that wait for each other, and so for themselves. */
  readonly cycles: readonly (readonly string[])[];
  /** Of tasks that are each other's parents. */
  readonly parent_cycles: readonly (readonly string[])[];
  /** References to tasks that are not here. */
  readonly missing: readonly string[];
  readonly unreadable: number;
  readonly conflicts: number;
  readonly tasks: number;
}

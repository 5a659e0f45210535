import type { Approval, Attempt, Merge, Review } from '#contract/attempt.ts';
import type { DependencyType, Transition } from '#contract/task.ts';
import type { RememberedRequest } from '#domain/decide-request.ts';
import type { KeptRun } from '#domain/decide-run.ts';
import type { LeaseWatch } from '#domain/leases.ts';
import type { TaskRecord } from '#domain/task-record.ts';
import type { KeptStep, ProcessMark, WaitingMessage, WatchedTask } from '../attempt-store.ts';
import type { StoredDaemon } from '../daemon-store.ts';
import type { StoredEvent } from '../event-store.ts';
import type { ShownLine } from '../fold/fold-rows.ts';
import type { KeptAnswer } from '../idempotency-store.ts';
import type { KeptWorkflow } from '../kept-workflow.ts';
import type { FileMark } from '../replication.ts';
import { Journal, MemoryTable } from './memory-table.ts';

/** All that a project's store holds. Several stores may stand on the same tables, as several processes on one database. */
export interface MemoryTables {
  readonly journal: Journal;
  /** When they were made, in ms: tables made anew have another feed of events. */
  readonly made_at: number;

  readonly tasks: MemoryTable<string, TaskRow>;
  readonly deleted: MemoryTable<string, DeletedRow>;
  /** Dependencies on tasks that are not here, by `toKey(from, to, type)`; the others stand in the records alone. */
  readonly waiting: MemoryTable<string, WaitingEdge>;
  /** By `toKey(…)` of all that tells one move from another. */
  readonly transitions: MemoryTable<string, TransitionRow>;
  readonly events: MemoryTable<number, StoredEvent>;
  /** By `toKey(token, key)`. */
  readonly requests: MemoryTable<string, RequestRow>;
  readonly leases: MemoryTable<string, LeaseRow>;
  /** What clocks other than the last one have counted. */
  readonly clocks: MemoryTable<number, ClockRow>;
  /** Numbers about the store that belong to no task; 0 where none is known. */
  readonly facts: MemoryTable<string, number>;

  /** Files of tasks as they were when they were last read or written, by their paths. */
  readonly marks: MemoryTable<string, FileMark>;
  /** What of them could not be read. */
  readonly unreadable: MemoryTable<string, readonly Uint8Array[]>;
  /** By `toKey(path, task, seal)`. */
  readonly shown: MemoryTable<string, ShownLine>;

  readonly attempts: MemoryTable<string, Attempt>;
  readonly runs: MemoryTable<string, KeptRun>;
  readonly reviews: MemoryTable<string, ReviewRow>;
  readonly merges: MemoryTable<string, MergeRow>;
  readonly approvals: MemoryTable<string, Approval>;
  readonly messages: MemoryTable<number, MessageRow>;
  /** By `toKey(tree, command)`. */
  readonly steps: MemoryTable<string, KeptStep>;
  readonly watches: MemoryTable<string, WatchedTask>;
  readonly daemons: MemoryTable<string, DaemonRow>;
  /** The process that made the folder of an attempt. */
  readonly holders: MemoryTable<string, ProcessMark>;
  /** One row at most. */
  readonly workflow: MemoryTable<number, KeptWorkflow>;
}

export interface TaskRow {
  /** Of the order in which tasks came. */
  readonly row: number;
  /** As its line says it. */
  readonly record: TaskRecord;
  readonly version: number;
  readonly fence: number;
}

export interface DeletedRow {
  readonly id: string;
  readonly deleted_at: string;
  readonly line: string;
  /** What restoring the task puts back; undefined where the deletion came from another clone. */
  readonly undo: DeletedUndo | undefined;
}

export interface DeletedUndo {
  readonly before: string;
  readonly version: number;
  readonly fence: number;
  readonly children: readonly string[];
  readonly dependents: readonly (readonly [string, DependencyType])[];
  readonly elsewhere?: boolean;
}

export interface WaitingEdge {
  readonly from: string;
  readonly to: string;
  readonly type: string;
  /** What other projects, or a deletion here, say of the task that is not here. */
  readonly closed: boolean;
}

export interface TransitionRow extends Transition {
  readonly task_id: string;
  /** Null where the move was made elsewhere. */
  readonly event_seq: number | null;
}

export interface RequestRow extends RememberedRequest<KeptAnswer> {
  readonly token: string;
  readonly key: string;
}

export interface LeaseRow {
  readonly task_id: string;
  /** Of the claim. */
  readonly fence: number;
  readonly ttl_ms: number;
  /** Of the steady clock. */
  readonly expires_at: number;
}

export interface ClockRow {
  readonly watch: LeaseWatch;
  readonly expiries: ReadonlyMap<string, number>;
}

export interface DaemonRow extends StoredDaemon {
  readonly ttl_ms: number;
  readonly has_ended: boolean;
  /** By the clock of each machine that has looked. */
  readonly expiries: ReadonlyMap<number, number>;
}

export interface ReviewRow {
  readonly review: Review;
  readonly watcher: ProcessMark;
}

export interface MergeRow {
  readonly seq: number;
  readonly merge: Merge;
  readonly watcher: ProcessMark;
  /** Since when its target is about to move. */
  readonly landing_at: string | null;
}

export interface MessageRow extends WaitingMessage {
  readonly attempt_id: string;
  readonly delivered_at: string | null;
}

export function createMemoryTables(made_at: number): MemoryTables {
  const journal = new Journal();
  const table = <Key, Row>(): MemoryTable<Key, Row> => new MemoryTable<Key, Row>(journal);
  return {
    journal,
    made_at,
    tasks: table(),
    deleted: table(),
    waiting: table(),
    transitions: table(),
    events: table(),
    requests: table(),
    leases: table(),
    clocks: table(),
    facts: table(),
    marks: table(),
    unreadable: table(),
    shown: table(),
    attempts: table(),
    runs: table(),
    reviews: table(),
    merges: table(),
    approvals: table(),
    messages: table(),
    steps: table(),
    watches: table(),
    daemons: table(),
    holders: table(),
    workflow: table(),
  };
}

/** Of a row that is known by several words. */
export function toKey(...words: readonly (string | number)[]): string {
  return JSON.stringify(words);
}

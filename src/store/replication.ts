import type { ConflictEntry } from '#domain/decide-settlement.ts';
import type { OwnValue } from '#domain/judge-losses.ts';
import type { PutBackLine } from '#domain/taken-back.ts';
import type { ShownState } from '#domain/taken-in.ts';
import type { EventStore } from './event-store.ts';
import type { Writer } from './store.ts';

/**
 * What travels between stores: task files come in by `fold…` and go out by `export…`. Each method is one transaction,
 * but a fold that finds two tasks born with one id begins a second one after it took the first back. No code of a caller
 * runs inside of one but `progress`. Throws the store's own troubles, as TaskStore does.
 */
export interface Replication extends Pick<EventStore, 'newestEvent'> {
  /** What the store remembers of these files; a file it never saw is left out. */
  readMarks(paths: readonly string[]): Promise<FileMark[]>;
  /** The lines of a file that could not be read when it was last joined in, in their order. */
  readUnreadable(path: string): Promise<Uint8Array[]>;
  /** Remembers a file that says nothing new. Gives up when somebody else is writing, and where nobody may: it is only a short cut. */
  saveMark(mark: FileMark): Promise<void>;
  /** Joins a file of tasks into the store, all of it or nothing. */
  foldTasks(request: FoldRequest, by: Writer): Promise<FoldReport>;
  /** Joins a file of transitions; returns how many were new. */
  foldHistory(request: FoldRequest, by: Writer): Promise<FoldHistoryReport>;
  /**
   * Every task, deleted ones too, as canonical lines in the order of ids, and after them the lines of the file at `path`
   * that could not be read; one part at least. All of it is from one moment, however long the reader takes.
   */
  exportTasks(path: string): AsyncIterable<ExportPart>;
  exportHistory(path: string): AsyncIterable<ExportPart>;
  /**
   * What a file that holds everything up to an event lacks by now. Undefined where that cannot be told by the events:
   * then the whole export can. Hand-written SQL leaves no event, so only the whole export knows of it.
   */
  readChangedTasks(path: string, since: number): Promise<ChangedLines | undefined>;
  readChangedHistory(path: string, since: number): Promise<ChangedLines | undefined>;
  /** What lost a merge and nobody settled; of one task, or of all. */
  listConflicts(id: string | undefined): Promise<ConflictEntry[]>;
  /** A part of what listConflicts gives of all, in no order: `after` is undefined at the end. `bytes` of rows were read. */
  pageConflicts(query: ConflictQuery): Promise<ConflictPage>;
  /** Throws not_found where there is no such conflict. */
  settleConflicts(
    settle: ConflictSettlement,
    by: Writer,
  ): Promise<{ id: string; settled: string[]; left: number }>;
  /** Forgets removals and deleted tasks from before a time. */
  prune(before: number, by: Writer): Promise<{ removals: number; deleted_tasks: number }>;
  /** Says that files were written which hold everything up to this event. */
  markExported(marks: readonly FileMark[]): Promise<void>;
}

/** A file as it was when it was last read or written. */
export interface FileMark {
  readonly path: string;
  readonly size: number;
  /** Nanoseconds and inode as decimal text: they do not fit into a number. */
  readonly mtime: string;
  readonly ctime: string;
  readonly inode: string;
  readonly digest: string;
  readonly looked_at: number;
  /** The newest event that the file holds; null where it holds less than the store. */
  readonly event_seq: number | null;
}

/** What a file says, read before any lock is taken. */
export interface FoldRequest {
  /** Of the file, or what stands for it. */
  readonly path: string;
  /** In the order of the file. */
  readonly lines: readonly FileLine[];
  /** About how many tasks are to be written if all are new: a few with many dependencies count as many. */
  readonly expected: number;
  /** Of the bytes that were read. Where the store remembers the same digest there is nothing to do. */
  readonly mark: Omit<FileMark, 'event_seq'>;
  /**
   * What the store remembered of the file when it was read. Where that is another by now, another process has joined a
   * version in meanwhile, which may be a newer one: nothing is done then, and the report says `stale`.
   */
  readonly remembered?: { readonly mark: FileMark | undefined } | undefined;
  /** Joined in also where the store remembers the same digest. */
  readonly again?: boolean | undefined;
  /** Lines that are no text at all. */
  readonly damaged?: readonly Uint8Array[] | undefined;
  /** How many lines were left out that say nothing. */
  readonly more?: number | undefined;
  /**
   * The whole file was copied aside, or stands in none. Where that is not said and the fold would leave lines out that
   * are not written back, nothing is done, and the report says `copy_first`.
   */
  readonly is_copied?: boolean | undefined;
  /** Its bytes are not just those lines with a newline each. */
  readonly is_odd?: boolean | undefined;
  /**
   * The lines that a person, not git, left as they are, of those that show again what they once showed: they were
   * changed back. Undefined where that is asked when there is such a line; the answer then comes with a second fold.
   */
  readonly by_hand?: ReadonlySet<string> | undefined;
  /** With `by_hand`: what stood in the place of lines without stamps, by their text; null where nobody can tell. */
  readonly stood?: ReadonlyMap<string, ShownState | null> | undefined;
  /** Gives up with store_busy after so long, where the store itself would wait longer. */
  readonly lock_ms?: number | undefined;
  /**
   * Values of this store that the history of the file holds, as `toOwnKey` names them: the writer of the file had seen
   * them, so that replacing them was meant.
   */
  readonly seen?: ReadonlySet<string> | undefined;
  /** Where it would have to be known whether such a value was seen, nothing is done, and `unsure` names them. */
  readonly asks?: boolean | undefined;
  /** What is asked by `put_back` will be answered by a second fold: a task that is not known yet may wait for that. */
  readonly answers?: boolean | undefined;
  /** It is of another branch or another clone than the one that is checked out here. */
  readonly elsewhere?: boolean | undefined;
  /** Told from time to time of how many of the lines are through. It must not touch the store. */
  readonly progress?: ((done: number) => void) | undefined;
  /** Only tells what would happen. */
  readonly dry_run?: boolean | undefined;
}

export interface FileLine {
  readonly text: string;
  readonly number: number;
  /** Which side of a conflict it stands on; undefined outside of one. */
  readonly side?: 'ours' | 'theirs' | undefined;
}

/** Why a fold did nothing; see FoldRequest. */
interface FoldPutOff {
  stale?: true;
  copy_first?: true;
}

export interface FoldReport extends FoldPutOff {
  created: number;
  updated: number;
  deleted: number;
  unchanged: number;
  unreadable: { number: number; why: string }[];
  /** How many there are besides; left out where there are none. */
  unreadable_more?: number;
  /** Claims of two clones on one task: the first stands. */
  lost_claims: { id: string; was: string; now: string }[];
  /** Values that lost; see `forge conflicts`. */
  conflicts: { id: string; name: string }[];
  /** Tasks born with one id, told apart. */
  renamed: { from: string; to: string }[];
  /** Deleted in one place and edited in another. */
  edited_deleted: string[];
  /** Tasks whose author or time of creation was edited in their lines: the old ones stand. Left out where there are none. */
  kept_identities?: string[];
  /** Tasks whose checks, roles or status changed, with what did; at most so many as have an event. Left out where none did. */
  gates?: { id: string; what: string[] }[];
  /** Lines that show again what they once showed, where it is not known by whom; left out where there are none. */
  put_back?: PutBackLine[];
  /** Values that were written here and fell, of which it is not known whether that was meant; left out where there are none. */
  unsure?: OwnValue[];
}

export interface FoldHistoryReport extends FoldPutOff {
  added: number;
  unreadable: { number: number; why: string }[];
  unreadable_more?: number;
}

export interface ExportPart {
  readonly lines: readonly (string | Uint8Array)[];
  /** Of all parts: how many tasks, or moves, there are, and the newest event that they hold. */
  readonly total: number;
  readonly event_seq: number;
}

export interface ChangedLines {
  /** Whose lines changed, with all lines that they have now; none where they are gone. */
  readonly lines: ReadonlyMap<string, readonly string[]>;
  /** How many lines the file has then. */
  readonly total: number;
  readonly event_seq: number;
}

export interface ConflictQuery {
  readonly after?: ConflictPlace | undefined;
  /** Of tasks, with values that lost or without. */
  readonly max_rows: number;
  /** Of those that have some. One of any size is read. */
  readonly max_bytes: number;
}

export interface ConflictPage {
  readonly entries: ConflictEntry[];
  readonly bytes: number;
  readonly after?: ConflictPlace | undefined;
}

/** Deleted tasks come behind all others. */
export interface ConflictPlace {
  readonly deleted: boolean;
  readonly row: number;
}

export interface ConflictSettlement {
  readonly id: string;
  /** Undefined: all of the task. */
  readonly field: string | undefined;
  readonly take_lost: boolean;
  readonly fence?: number | undefined;
}

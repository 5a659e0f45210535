import type { EncodedRecord } from '#domain/encoded-record.ts';
import type { TravellingMove } from '#domain/history-line.ts';
import type { KnownTask } from '#domain/plan-application.ts';
import type { TaskRecord } from '#domain/task-record.ts';
import type { JsonObject } from '#kernel/json.ts';
import type { Writer } from '../store.ts';
import type { FileMark } from '../replication.ts';

/** A store that files are joined into. */
export interface FoldStore {
  /** One transaction: all that `work` writes is kept, or nothing where it throws. */
  write<T>(by: Writer, work: (rows: FoldRows) => T): T;
}

/**
 * What a fold reads and writes, inside its one transaction. What it makes of that stands in this folder, the same for
 * every store.
 */
export interface FoldRows extends ShownRows {
  readMark(path: string): FileMark | undefined;
  writeMark(mark: FileMark): void;
  /** In place of what could not be read of the file before. */
  writeUnreadable(path: string, lines: readonly (string | Uint8Array)[]): void;
  /** A number about the store that belongs to no task; undefined where none is known. */
  findFact(name: string): number | undefined;
  writeFact(name: string, value: number): void;

  newestEvent(): number;
  /** The first that was not forgotten; 1 where there is none yet. */
  oldestEvent(): number;
  newestEventOf(id: string): number;
  /** In their order. */
  listTaskEvents(id: string): readonly FoldEvent[];
  /** The numbers of events which say that tasks changed, and not which. */
  listManyChanged(): readonly number[];
  /** What is about no single task. */
  tellProject(data: Readonly<Record<string, unknown>>): void;

  /** How many tasks there are, deleted ones too. */
  countTasks(): number;
  /** The digest of every task's line, deleted ones too. */
  readDigests(): Map<string, number | null>;
  /** The births of tasks that were told apart. */
  readSharedBirths(): ReadonlySet<string>;
  /** Deleted ones too. */
  readKnown(id: string): FoldedTask | undefined;
  /**
   * Puts a record in the place of what was known of its task, and gives its line. `silent`: so many change at once that
   * one event tells it.
   */
  apply(
    before: FoldedTask | undefined,
    record: TaskRecord,
    how: { readonly silent: boolean; readonly encoded?: EncodedRecord | undefined },
  ): EncodedRecord;
  /** Of a task whose line is written otherwise by now: no change of it. */
  renewLine(encoded: EncodedRecord): void;
  /** Takes a task away under its old name, because it goes on under another; its moves and its work go with it. */
  rename(from: string, to: string): void;
  /** Many writes, after which it is settled who waits for whom. */
  inBulk<T>(work: () => T): T;
  /**
   * Left out where nothing is gained by it. Inside inBulk, for a line that may be a new row as it stands: writes it where
   * `isNew` says so, and gives its id and digest. Undefined for any other line. It is known to the other methods once
   * `settle` was called.
   */
  savePlain?(text: string, isNew: (task: PlainTask) => boolean): PlainTask | undefined;
  settle(): void;
  /** False where the log has it already. */
  addMove(move: TravellingMove): boolean;
}

/** What lines showed when their files were looked at last, and what was written here. */
export interface ShownRows {
  readShown(place: Omit<ShownLine, 'digests'>): string | undefined;
  /** One for each line of a task that was not the store's own. */
  listShown(path: string, task_id: string): readonly Pick<ShownLine, 'seal' | 'digests'>[];
  /** `outlives`: a store that is made anew must know it too. */
  writeShown(shown: ShownLine, how: { readonly outlives: boolean }): void;
  /** Of all lines of a file. */
  listShownOf(path: string): readonly Pick<ShownLine, 'task_id' | 'seal'>[];
  forgetShown(place: Omit<ShownLine, 'digests'>): void;
}

/** What an edited line of a task file showed when the file was last looked at; the id is the one in the line. */
export interface ShownLine {
  readonly path: string;
  readonly task_id: string;
  readonly seal: string;
  readonly digests: string;
}

/** A task as the store holds it, deleted or not. */
export interface FoldedTask extends KnownTask {
  /** What the adapter wants to know again when it writes over the row. */
  readonly stored: unknown;
}

export interface PlainTask {
  readonly id: string;
  readonly created: number;
  readonly created_by: string;
  readonly digest: number;
}

export interface FoldEvent {
  readonly seq: number;
  readonly triggered_by: string;
  readonly data: EventData;
}

export interface EventData {
  readonly task?: JsonObject;
  readonly changed?: readonly string[];
  readonly left_out?: readonly string[];
}

import type { LostValue } from './lost-values.ts';
import type { TaskRecord } from './task-record.ts';

/** A line that may have been edited: it does not fit its seal, has none, or an edit of it is known. */
export interface EditedLine {
  readonly record: TaskRecord;
  /** Names the line that was edited: its seal, or `~` and its `updated_at`. */
  readonly seal: string;
  /** The digests of what Forge wrote there; undefined for lines of other tools and of older versions. */
  readonly written: string | undefined;
  readonly updated: number;
  /** Of a line without stamps: the usual keys that it lacks. */
  readonly unstamped?: { readonly missing: ReadonlySet<string> } | undefined;
}

/** What a file showed of a task when it was last looked at, or written. */
export interface ShownState {
  readonly digests: string;
  readonly updated: number;
}

export interface EditedWhere {
  readonly known: TaskRecord | undefined;
  readonly now: number;
  /** The digests of the same line when the same file was last looked at. */
  readonly last?: string | undefined;
  /** A person, not git, left the file as it is: then all that is not as it was last is an edit. */
  readonly by_hand?: boolean | undefined;
  /** Of a line without stamps: what stood in its place. Undefined where that is not known. */
  readonly shown?: ShownState | undefined;
  /** Gives the digests of states that the task was once in, as far as they are known. */
  readonly past?: (() => readonly string[]) | undefined;
}

export interface TakenIn {
  /** The line, with a stamp of its own on every value that was edited. */
  readonly record: TaskRecord;
  /** Values that the person who edited the line had not seen, and that do not stand; or the edit, where they stand. */
  readonly lost: readonly LostValue[];
  /** It shows again what it once showed: changed back by hand, or an older file that git brought. */
  readonly is_back: boolean;
}

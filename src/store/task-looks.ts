import type { Task } from '#contract/task.ts';
import type { HistoryEntry } from './report.ts';

/** Where a task stands, without its texts and its comments. */
export interface TaskPlace extends Pick<Task, 'id' | 'status' | 'state' | 'assignee' | 'version'> {
  readonly close_reason: string | null;
}

/** What a list of tasks of several projects shows of each. */
export interface TaskHead extends Pick<Task, 'id' | 'title' | 'status' | 'assignee'> {
  readonly deleted: boolean;
}

/** An entry of a task's history that was made here. */
export type NumberedEntry = HistoryEntry & { readonly seq: number };

/**
 * Looks at tasks that read no more than is asked for, however large a task is and however long its history. Each is one
 * look at the store, and throws what the other reads throw.
 */
export interface TaskLooks {
  readPlace(id: string): Promise<TaskPlace>;
  /** By whole ids, deleted tasks too; in no order, and without those that are not here. One query: give few ids. */
  listHeads(ids: readonly string[]): Promise<TaskHead[]>;
  /**
   * Whether an event behind this number is about exactly this task, or about no single one: a fold of many changes tells
   * of the last of them in one event.
   */
  hasNewsOf(id: string, after: number): Promise<boolean>;
  /** The number of the newest entry of a task's history that was made here; 0 where there is none. By a whole id. */
  newestEntryOf(id: string): Promise<number>;
  /** The first entry of a task's history behind this number, of any type where none is given. By a whole id. */
  findEntry(query: {
    readonly id: string;
    readonly type?: string | undefined;
    readonly after: number;
  }): Promise<NumberedEntry | undefined>;
}

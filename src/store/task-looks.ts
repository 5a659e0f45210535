import type { Comment, Status, Task, Transition } from '#contract/task.ts';
import type { HistoryEntry } from './report.ts';

/** Where a task stands, without its texts and its comments. */
export interface TaskPlace extends Pick<Task, 'id' | 'status' | 'state' | 'assignee' | 'version'> {
  readonly close_reason: string | null;
}

/** A task without its long texts and its edges. */
export type TaskBrief = Omit<Task, 'description' | 'metadata' | 'dependencies'>;

/** What a walk tells of a task: enough to see whether more of it has to be read. */
export interface WalkedTask extends Pick<Task, 'id' | 'state' | 'assignee' | 'created_at' | 'updated_at'> {
  /** It is in a state that parks it, and is not archived. */
  readonly parked: boolean;
  /** The workflow keeps something on it, such as why it stands still. */
  readonly noted: boolean;
  /** It is parked or archived, and bears the label that the walk looks for. */
  readonly labelled: boolean;
}

export interface TaskWalk {
  readonly status: Status;
  readonly label: string;
  /** Without tasks that are neither parked nor archived. */
  readonly parked_only?: boolean | undefined;
  /** Where the last part of the walk ended. */
  readonly after?: WalkEnd | undefined;
  readonly max_rows: number;
  /** Of whole rows, which is what a look at one may cost. One row of any size is looked at. */
  readonly max_bytes: number;
}

export interface WalkEnd {
  readonly priority: number;
  readonly row: number;
}

export interface MoveQuery {
  readonly id: string;
  readonly from_status?: Status | undefined;
  readonly to_status?: Status | undefined;
  readonly to_state?: string | undefined;
  readonly triggered_by?: string | undefined;
  /** A change of the owner is logged as well, and leads to no other state. */
  readonly changes_state?: true | undefined;
}

/** What a list of tasks of several projects shows of each. */
export interface TaskHead extends Pick<Task, 'id' | 'title' | 'status' | 'assignee'> {
  readonly deleted: boolean;
}

/** `changes_state`: without changes of the owner. */
export interface MoveListQuery extends Pick<MoveQuery, 'id' | 'changes_state'> {
  readonly limit: number | undefined;
}

export interface HistoryQuery {
  readonly id: string;
  /** Only the newest entries; fewer where the events of those take more bytes, but one at least. */
  readonly limit: number | undefined;
  readonly max_bytes?: number | undefined;
}

/** An entry of a task's history that was made here. */
export type NumberedEntry = HistoryEntry & { readonly seq: number };

/**
 * Looks at tasks that read no more than is asked for, however large a task is and however long its history. Each is one
 * look at the store, and throws what the other reads throw.
 */
export interface TaskLooks {
  readPlace(id: string): Promise<TaskPlace>;
  /** Every task of a status, archived ones too, by priority: a part of them. `after` is undefined at the end. */
  walkTasks(walk: TaskWalk): Promise<{ readonly tasks: WalkedTask[]; readonly after?: WalkEnd | undefined }>;
  /**
   * By whole ids, in the order of the ids and without those that are not here, up to a number of bytes: `looked` says at
   * how many ids, one at least.
   */
  listBriefs(query: {
    readonly ids: readonly string[];
    readonly max_bytes: number;
  }): Promise<{ readonly tasks: TaskBrief[]; readonly looked: number }>;
  /** The newest move of a task that is so; by a whole id. */
  findMove(query: MoveQuery): Promise<Transition | undefined>;
  /** The move by which a person last granted the budgets of a task anew; by a whole id. */
  findGrant(query: {
    readonly id: string;
    readonly blocked: string | undefined;
  }): Promise<Transition | undefined>;
  /** The newest comments of a task, the oldest of them first; by a whole id. */
  listNewestComments(query: { readonly id: string; readonly limit: number }): Promise<Comment[]>;
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

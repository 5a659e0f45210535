import type { Task } from '#contract/task.ts';
import type { ReadyQuery, ReadyTask, TaskPosition, TaskQuery } from './store.ts';

/**
 * Lists for a process that serves others meanwhile: a task may hold a megabyte, so that a number of rows does not say
 * how long reading them takes. Each method is one look at the store, and throws what the list without a bound throws.
 */
export interface ListPages {
  /** As listTasks gives them, but no more than `max_bytes` are looked at. */
  pageTasks(query: TaskQuery & ByteBound): Promise<ListPage<Task>>;
  /** The same for listReady. */
  pageReady(query: ReadyQuery & ByteBound): Promise<ListPage<ReadyTask>>;
}

export interface ByteBound {
  /** Of the rows that are read, those that a search looks at and does not give included. One row of any size is read. */
  readonly max_bytes: number;
}

export interface ListPage<T> {
  readonly tasks: T[];
  /** The list goes on behind this place, which may be one that a search has passed over; undefined where `limit` or the list has ended it. */
  readonly after?: TaskPosition | undefined;
}

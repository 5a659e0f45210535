import type { EventStore } from '../event-store.ts';
import type { TaskStore } from '../store.ts';
import type { SyncStore } from '../sync-store.ts';
import type { StoreUnderTest } from './open-behaviour.ts';

/** What travels, besides the care of a database. */
export type TravelStore = Pick<
  SyncStore,
  | 'readMarks'
  | 'saveMark'
  | 'markExported'
  | 'readUnreadable'
  | 'foldTasks'
  | 'foldHistory'
  | 'exportTasks'
  | 'exportHistory'
  | 'readChangedTasks'
  | 'readChangedHistory'
  | 'listConflicts'
  | 'pageConflicts'
  | 'settleConflicts'
  | 'prune'
>;

/** A store of what travels that the behavioural suite may do anything to. */
export interface SyncUnderTest extends StoreUnderTest {
  readonly store: TaskStore & TravelStore & EventStore;
}

export type OpenSync = () => Promise<SyncUnderTest>;

import type { EventStore } from '../event-store.ts';
import type { TaskStore } from '../store.ts';
import type { Replication } from '../replication.ts';
import type { StoreUnderTest } from './open-behaviour.ts';

/** A store of what travels that the behavioural suite may do anything to. */
export interface SyncUnderTest extends StoreUnderTest {
  readonly store: TaskStore & Replication & EventStore;
}

export type OpenSync = () => Promise<SyncUnderTest>;

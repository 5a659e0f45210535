import type { AttemptStore } from './attempt-store.ts';
import type { EventStore } from './event-store.ts';
import type { IdempotencyStore } from './idempotency-store.ts';
import type { TaskStore } from './store.ts';

/** All that a project's work needs of a store, wherever it keeps its rows. */
export interface ProjectStore extends TaskStore, AttemptStore, EventStore, IdempotencyStore {}

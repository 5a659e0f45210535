import type { Clock } from '#kernel/clock.ts';
import type { SteadyTime } from '#domain/leases.ts';
import type { ReadSteady } from './steady-time.ts';
import type { ProjectStore } from './project-store.ts';
import type { Replication } from './replication.ts';
import { memoryAttempts } from './memory/memory-attempt-store.ts';
import { memoryEvents } from './memory/memory-events.ts';
import { graceLeases, WALL } from './memory/memory-leases.ts';
import { memoryRequests } from './memory/memory-requests.ts';
import { createMemoryTables, type MemoryTables } from './memory/memory-tables.ts';
import { memorySync } from './memory/memory-sync.ts';
import { memoryTasks } from './memory/memory-tasks.ts';
import type { MemoryParts } from './memory/memory-transaction.ts';

export interface MemoryStoreOptions {
  readonly clock: Clock;
  /** The machine's own clock, which leases are measured by. Left out: the writers' times stand for it. */
  readonly steady?: ReadSteady | undefined;
}

export interface MemoryStore extends ProjectStore, Replication {
  /** The same store once more, as another process opens it; `begins`: as a server does that begins. */
  connectAgain(how?: { readonly begins?: boolean | undefined }): MemoryStore;
}

/**
 * The store's port on maps: slow, gone with the process, and with no rule of its own. It runs the suite that every
 * store runs, and tests of what stands on a store may use it.
 */
export function openMemoryStore({ clock, steady }: MemoryStoreOptions): MemoryStore {
  const tables: MemoryTables = createMemoryTables(clock.now());
  const open: MemoryStore['connectAgain'] = ({ begins = false } = {}) => {
    const time = (): SteadyTime => steady?.() ?? { clock: WALL, at: clock.now() };
    if (begins) tables.journal.keep(() => graceLeases(tables, time()));
    return createStore({ tables, steady }, { clock, open });
  };
  return open();
}

function createStore(
  parts: MemoryParts,
  { clock, open }: { readonly clock: Clock; readonly open: MemoryStore['connectAgain'] },
): MemoryStore {
  const { tables } = parts;
  const closing = new AbortController();
  return {
    ...memoryAttempts(parts, clock),
    ...memoryEvents(tables, closing.signal),
    ...memoryRequests(tables),
    ...memorySync(parts),
    ...memoryTasks(parts),
    connectAgain: open,
    async [Symbol.asyncDispose]() {
      closing.abort();
    },
  };
}

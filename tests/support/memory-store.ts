import { openMemoryStore, type MemoryStore } from '#store/open-memory-store.ts';
import type { ReadSteady } from '#store/steady-time.ts';
import { fold } from './fold-lines.ts';
import { TestClock } from './temp-store.ts';

export interface MemoryStoreUnderTest extends AsyncDisposable {
  /** The store as it is open now; another one after `reopen`. */
  readonly store: MemoryStore;
  readonly clock: TestClock;
  reopen(between?: () => void, how?: { readonly begins?: true }): Promise<void>;
  bring(lines: readonly object[]): Promise<void>;
  /** The same store once more, as another process opens it. */
  connectAgain(): Promise<MemoryStore>;
}

/** A new store in memory. `await using sut = await memoryStore();` */
export async function memoryStore({
  steady,
}: { readonly steady?: ReadSteady | undefined } = {}): Promise<MemoryStoreUnderTest> {
  const clock = new TestClock();
  let store = openMemoryStore({ clock, steady });
  return {
    get store() {
      return store;
    },
    clock,
    async reopen(_between, how) {
      const next = store.connectAgain(how);
      await store[Symbol.asyncDispose]();
      store = next;
    },
    async bring(lines) {
      await fold({ store, clock }, lines, { path: '/elsewhere/tasks.jsonl' });
    },
    connectAgain: async () => store.connectAgain(),
    [Symbol.asyncDispose]: () => store[Symbol.asyncDispose](),
  };
}

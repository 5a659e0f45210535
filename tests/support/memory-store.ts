import { openMemoryStore, type MemoryStore } from '#store/open-memory-store.ts';
import { TestClock } from './temp-store.ts';

export interface MemoryStoreUnderTest extends AsyncDisposable {
  readonly store: MemoryStore;
  readonly clock: TestClock;
  /** The same store once more, as another process opens it. */
  connectAgain(): Promise<MemoryStore>;
}

/** A new store in memory. `await using sut = await memoryStore();` */
export async function memoryStore(): Promise<MemoryStoreUnderTest> {
  const clock = new TestClock();
  const store = openMemoryStore({ clock });
  return {
    store,
    clock,
    connectAgain: async () => store.connectAgain(),
    [Symbol.asyncDispose]: () => store[Symbol.asyncDispose](),
  };
}

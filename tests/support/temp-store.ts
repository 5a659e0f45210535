import { accessSync, appendFileSync, constants } from 'node:fs';
import { mkdtemp, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { holdWhileMending } from '#app/hold-while-mending.ts';
import { openStore, type Store } from '#store/open-store.ts';
import type { ReadSteady } from '#store/steady-time.ts';
import { toStoreFiles } from '#store/store-location.ts';

/** What the program gives a store to keep others out by. */
export const HOLD = holdWhileMending;

/** Time that stands still until a test moves it. */
export class TestClock {
  #now = Date.UTC(2026, 1, 10, 9);

  now(): number {
    return this.#now;
  }

  advance(ms: number): void {
    this.#now += ms;
  }
}

export interface TempStore extends AsyncDisposable {
  /** The store as it is open now; another one after `reopen`. */
  readonly store: Store;
  readonly clock: TestClock;
  readonly folder: string;
  readonly database: string;
  readonly replica: string;
  /** What the program gives a store to keep others out by. */
  readonly hold: typeof holdWhileMending;
  /** Closes the store, does what happens in between, opens it again: what the next process sees. */
  reopen(between?: () => void | Promise<void>, how?: { readonly begins?: true }): Promise<void>;
  /** Brings tasks in by their lines, as a replica that was written elsewhere. */
  bring(lines: readonly object[]): Promise<void>;
  /** Removes the database with all that SQLite keeps beside it, then opens the store again. */
  rebuild(): Promise<void>;
  /** The same store once more, as another process opens it. */
  connectAgain(): Promise<Store>;
  /** A second connection, as any SQLite client would open it. */
  connect(options?: { foreign_keys?: boolean }): DatabaseSync & Disposable;
}

/** A new SQLite store in a folder of its own. `await using temp = await tempStore();` */
export async function tempStore(
  options: { lock_timeout_ms?: number; steady?: ReadSteady; lock?: 'block' | 'await'; heals?: false } = {},
): Promise<TempStore> {
  const folder = await realpath(await mkdtemp(join(memoryFolder(), 'forge-test-')));
  const clock = new TestClock();
  const { database, replica } = toStoreFiles({ folder });
  const open = (how: { readonly begins?: true } = {}) =>
    openStore(
      { folder },
      {
        clock,
        lock_timeout_ms: options.lock_timeout_ms ?? 10_000,
        steady: options.steady,
        lock: options.lock,
        heals: options.heals,
        hold: holdWhileMending,
        ...how,
      },
    );
  let store: Store | undefined = await open();
  const close = async () => {
    await store?.[Symbol.asyncDispose]();
    store = undefined;
  };
  const reopen = async (between?: () => void | Promise<void>, how: { readonly begins?: true } = {}) => {
    await close();
    await between?.();
    store = await open(how);
  };
  return {
    get store() {
      if (store === undefined) throw new Error('the store is closed');
      return store;
    },
    clock,
    folder,
    database,
    replica,
    hold: holdWhileMending,
    reopen,
    bring: (lines) =>
      reopen(() => appendFileSync(replica, lines.map((line) => `${JSON.stringify(line)}\n`).join(''))),
    connectAgain: open,
    rebuild: () => reopen(() => removeDatabase(database)),
    connect: ({ foreign_keys = true } = {}) => {
      const db = new DatabaseSync(database, { enableForeignKeyConstraints: foreign_keys });
      return Object.assign(db, { [Symbol.dispose]: () => db.close() });
    },
    [Symbol.asyncDispose]: async () => {
      await close();
      await rm(folder, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}

export async function removeDatabase(database: string): Promise<void> {
  for (const suffix of ['', '-wal', '-shm']) await rm(`${database}${suffix}`, { force: true });
}

/** In memory where Linux offers it: a sync costs nothing there, and the store syncs at every write. */
function memoryFolder(): string {
  try {
    accessSync('/dev/shm', constants.W_OK);
    return '/dev/shm';
  } catch {
    return tmpdir();
  }
}

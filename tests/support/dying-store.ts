import type { ProcessMark } from '#store/attempt-store.ts';
import type { ProjectStore } from '#store/project-store.ts';
import { findRefusal } from '#domain/task-refusal.ts';
import { readOwnIdentity } from '#process/process-identity.ts';

type Store = ProjectStore;

export interface DyingStore {
  readonly store: Store;
  /** The names of the writes so far. */
  readonly writes: readonly string[];
  /** When the last write was made that it lives to see. */
  readonly died: Promise<void>;
  /** Now. */
  kill(): void;
}

const READ = /^(get|list|read|find|is|explain|holds|newest|wait|beat|end)/;

/**
 * The store as a process sees it that is killed: so many writes are made, the last of them is on disk, and nothing
 * that was asked for after that is ever answered.
 */
export function dyingStore(store: Store, lives: number): DyingStore {
  const writes: string[] = [];
  let isDead = false;
  const death = Promise.withResolvers<void>();
  const never = new Promise<never>(() => {});
  const call = async (name: string, args: unknown[]): Promise<unknown> => {
    if (isDead || writes.length >= lives) return never;
    const isWrite = !READ.test(name);
    if (isWrite) writes.push(name);
    const isLast = isWrite && writes.length >= lives;
    const method = store[name as keyof Store] as (...all: unknown[]) => unknown; // the names are those of the port
    const answer = await Promise.resolve(Reflect.apply(method, store, args)).catch((error: unknown) => {
      // A move that has to be looked at first was not written.
      if (findRefusal(error)?.outcome === 'check_first') writes.splice(writes.lastIndexOf(name), 1);
      throw error;
    });
    if (isLast) death.resolve();
    return isLast || isDead ? never : answer;
  };
  const names = Object.keys(store) as (keyof Store)[];
  const methods = names.map((name) => [name, (...args: unknown[]) => call(String(name), args)] as const);
  return {
    store: Object.fromEntries(methods) as unknown as Store, // each gives what the method of its name gives
    writes,
    died: death.promise,
    kill: () => void (isDead = true),
  };
}

let last = 0;

/** A process that was here and is gone, another one each time. */
export function goneProcess(): ProcessMark {
  last += 1;
  return { ...readOwnIdentity(), pid: 4_100_000 + last, start_time: last };
}

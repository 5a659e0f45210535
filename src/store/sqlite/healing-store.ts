import { methodKind } from './method-kinds.ts';
import { isDamage } from './translate-error.ts';

/** A store that is open, and how another one is opened in its place. */
export interface Reopenable<S> {
  readonly store: S;
  /** Closes this one, sets its database aside where that is damaged, and opens the one that stands there then. */
  reopen(): Promise<Reopenable<S>>;
}

/**
 * Damage shows when the damaged page is read, and a database may be replaced while it is open. What failed by that was
 * rolled back: it is done again, once, on the database that stands there afterwards. Calls that are under way end first,
 * and later ones wait.
 */
export function healingStore<S extends object>(first: Reopenable<S>): S {
  let open = first;
  let busy = 0;
  let wake: (() => void) | undefined;
  let healing: Promise<void> | undefined;
  // The one before is closed by then: where no other can be opened, the next call tries again.
  let isClosed = false;
  const healOnce = async (): Promise<void> => {
    while (busy > 0) await new Promise<void>((resolve) => (wake = resolve));
    isClosed = true;
    open = await open.reopen();
    isClosed = false;
  };
  const heal = (): Promise<void> => (healing ??= healOnce().finally(() => (healing = undefined)));
  const run = async (method: Method, args: readonly unknown[]): Promise<unknown> => {
    busy += 1;
    try {
      return await Reflect.apply(method, open.store, args);
    } finally {
      busy -= 1;
      if (busy === 0) wake?.();
    }
  };
  const methodOf = (name: string | symbol): Method => Reflect.get(open.store, name) as Method;
  const call = async (
    name: string | symbol,
    args: readonly unknown[],
    first_method: Method,
  ): Promise<unknown> => {
    const began = open;
    await healing?.catch(() => undefined);
    if (isClosed) await heal();
    const used = open;
    try {
      return await run(used === began ? first_method : methodOf(name), args);
    } catch (error) {
      if (!isDamage(error)) throw error;
    }
    if (open === used) await heal();
    return run(methodOf(name), args);
  };
  return new Proxy(first.store, {
    get(_, name) {
      const value: unknown = Reflect.get(open.store, name);
      const kind = methodKind(name);
      if (typeof value !== 'function' || kind === undefined) return value;
      const method = value as Method;
      // These last as long as the caller wants, and nothing waits for them.
      if (kind === 'stream' || kind === 'wait')
        return (...args: unknown[]) => Reflect.apply(method, open.store, args);
      return (...args: unknown[]) => call(name, args, method);
    },
  });
}

type Method = (...args: unknown[]) => unknown;

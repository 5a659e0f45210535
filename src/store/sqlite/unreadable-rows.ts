import { toRebuild } from './translate-error.ts';

/** The same store; what is not JSON in a row that should be is told as a database that is not as Forge made it. */
export function tellUnreadable<S extends object>(store: S, path: string): S {
  return new Proxy(store, {
    get(target, name) {
      const method: unknown = Reflect.get(target, name);
      if (typeof method !== 'function' || typeof name === 'symbol') return method;
      return async (...args: unknown[]): Promise<unknown> => {
        try {
          return await (Reflect.apply(method, target, args) as Promise<unknown>); // as every method of a store
        } catch (error) {
          // What callers say and what files hold is parsed elsewhere, with errors of its own.
          if (error instanceof SyntaxError)
            throw toRebuild(path, `a row is unreadable: ${error.message}`, error);
          throw error;
        }
      };
    },
  });
}

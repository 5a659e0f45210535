import { methodKind } from './method-kinds.ts';
import { toRebuild } from './translate-error.ts';

/** The same store; what is not JSON in a row that should be is told as a database that is not as Forge made it. */
export function tellUnreadable<S extends object>(store: S, path: string): S {
  return new Proxy(store, {
    get(target, name) {
      const method: unknown = Reflect.get(target, name);
      if (typeof method !== 'function' || typeof name === 'symbol') return method;
      if (methodKind(name) === 'stream')
        return (...args: unknown[]) =>
          tellInParts(Reflect.apply(method, target, args) as AsyncIterable<unknown>, path); // by its kind
      return async (...args: unknown[]): Promise<unknown> => {
        try {
          return await (Reflect.apply(method, target, args) as Promise<unknown>); // as every other method of a store
        } catch (error) {
          throw tell(error, path);
        }
      };
    },
  });
}

async function* tellInParts(parts: AsyncIterable<unknown>, path: string): AsyncGenerator<unknown> {
  try {
    yield* parts;
  } catch (error) {
    throw tell(error, path);
  }
}

/** What callers say and what files hold is parsed elsewhere, with errors of its own. */
function tell(error: unknown, path: string): unknown {
  return error instanceof SyntaxError
    ? toRebuild(path, `a row is unreadable: ${error.message}`, error)
    : error;
}

import { ATTEMPT_METHODS, type AttemptMethods } from './method-kinds.ts';

/** The same store, whose code is loaded when it is first called: no cold read needs it. */
export function lazyAttempts(load: () => Promise<AttemptMethods>): AttemptMethods {
  const call = (name: string, args: unknown[]): Promise<unknown> =>
    load().then((store) => {
      const method = store[name as keyof AttemptMethods]; // the names are those of the port
      return Reflect.apply(method, store, args) as Promise<unknown>;
    });
  const methods = Object.keys(ATTEMPT_METHODS).map(
    (name) => [name, (...args: unknown[]) => call(name, args)] as const,
  );
  return Object.fromEntries(methods) as unknown as AttemptMethods; // each gives what the method of its name gives
}

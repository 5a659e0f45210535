import { isForgeError } from '#kernel/errors.ts';
import { LIMITS } from '#kernel/limits.ts';
import { monotonicNow } from '../monotonic-time.ts';
import { methodKind } from './method-kinds.ts';

/**
 * So long one look at a lock stands still. A process may hold the lock itself: another store of it awaits the disk in
 * the middle of a write, and goes on only when the event loop does.
 */
export function toSlice(patience_ms: number, slice_ms: number = LIMITS.lock_slice_ms): number {
  return patience_ms / Math.max(1, Math.ceil(patience_ms / slice_ms));
}

/** `work`, which gives up after a slice, again and again; rejects with store_busy when the patience is over. */
export async function waitInSlices<T>(work: () => Promise<T>, patience_ms: number): Promise<T> {
  const deadline = monotonicNow() + patience_ms;
  for (;;) {
    try {
      return await work();
    } catch (error) {
      if (!isForgeError(error) || error.code !== 'store_busy' || monotonicNow() >= deadline) throw error;
    }
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
}

/** The same store with that patience. Every method is one transaction, so one that met a lock has changed nothing. */
export function patientStore<S extends object>(store: S, patience_ms: number): S {
  return new Proxy(store, {
    get(target, name) {
      const method: unknown = Reflect.get(target, name);
      const kind = methodKind(name);
      if (typeof method !== 'function' || kind === undefined || kind === 'stream' || kind === 'wait')
        return method;
      // Every method of a store answers with a promise.
      return (...args: unknown[]) =>
        waitInSlices(
          () => Reflect.apply(method, target, args) as Promise<unknown>,
          patienceOf(args) ?? patience_ms,
        );
    },
  });
}

/** What is asked for may say itself how long it is worth waiting for. */
function patienceOf([request]: readonly unknown[]): number | undefined {
  if (typeof request !== 'object' || request === null || !('lock_ms' in request)) return undefined;
  return typeof request.lock_ms === 'number' ? request.lock_ms : undefined;
}

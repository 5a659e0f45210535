import { randomInt } from 'node:crypto';
import { setImmediate, setTimeout } from 'node:timers/promises';
import { isForgeError } from '#kernel/errors.ts';
import { monotonicNow } from './monotonic-time.ts';
import { methodKind } from './sqlite/method-kinds.ts';

/** The first pause after a lock was met, and the longest; each is spread, so that two who wait do not meet again. */
const FIRST_PAUSE_MS = 1;
const LONGEST_PAUSE_MS = 25;
/** So long may writes follow one another before the event loop gets its turn. */
const SLICE_MS = 5;

/** So many writes are made together at most: whoever reads waits for no more than these. */
const TOGETHER = 32;

/**
 * A store for a process that must not stand still. `store` has to give up at once on a lock that somebody else holds;
 * here that means to wait aside and try again until the time is up. Writes of this process come in the order they were
 * asked for. Every method is one transaction, so one that met a lock has changed nothing and can be begun again.
 */
export function awaitLocks<S extends AsyncDisposable>(
  store: S,
  { turns, lock_timeout_ms }: { readonly turns: WriteTurns; readonly lock_timeout_ms: number },
): S {
  const wrapped = Object.entries(store).map(([name, method]) => {
    const kind = methodKind(name);
    if (typeof method !== 'function' || kind === 'stream' || kind === 'wait' || kind === 'gathered')
      return [name, method] as const;
    const call = (args: unknown[]): Promise<unknown> =>
      Reflect.apply(method, store, args) as Promise<unknown>;
    const patient = (...args: unknown[]): Promise<unknown> => {
      const deadline = monotonicNow() + lock_timeout_ms;
      const work = (): Promise<unknown> => untilUnlocked(() => call(args), deadline);
      return kind === 'read' ? work() : turns.take(work);
    };
    return [name, patient] as const;
  });
  const dispose = async (): Promise<void> => {
    await turns.take(async () => undefined);
    await store[Symbol.asyncDispose]();
  };
  // The same names with the same arguments and answers, since every method of a store returns a promise.
  return { ...(Object.fromEntries(wrapped) as S), [Symbol.asyncDispose]: dispose };
}

/** `work` again and again as long as it meets a lock; rejects with store_busy at the deadline. */
export async function untilUnlocked<T>(work: () => Promise<T>, deadline: number): Promise<T> {
  for (let pause = FIRST_PAUSE_MS; ; pause = Math.min(pause * 2, LONGEST_PAUSE_MS)) {
    try {
      return await work();
    } catch (error) {
      if (!isForgeError(error) || error.code !== 'store_busy') throw error;
      if (monotonicNow() >= deadline) throw error;
    }
    await setTimeout(randomInt(Math.ceil(pause / 2), pause + 1));
  }
}

/**
 * Writes that come while another is at work are made together when it is their turn: one transaction and one sync for
 * all of them. `run` does them, and throws store_busy where somebody else is writing.
 */
export function gatherWrites<J>(
  turns: WriteTurns,
  lock_timeout_ms: number,
): (job: J, run: Run<J>) => Promise<unknown> {
  const waiting: { job: J; settle: (outcome: Outcome) => void }[] = [];
  let isGathering = false;
  const takeTurn = (run: Run<J>): void => {
    isGathering = true;
    // All that come until it is their turn; one batch a turn, so that others have theirs in between.
    const turn = turns.take(() =>
      settleBatch(waiting.splice(0, TOGETHER), run, monotonicNow() + lock_timeout_ms),
    );
    turn.finally(() => (waiting.length > 0 ? takeTurn(run) : (isGathering = false))).catch(() => undefined);
  };
  return (job, run) =>
    new Promise((resolve, reject) => {
      const settle = (outcome: Outcome): void =>
        'error' in outcome ? reject(outcome.error as Error) : resolve(outcome.value);
      waiting.push({ job, settle });
      if (!isGathering) takeTurn(run);
    });
}

type Run<J> = (jobs: readonly J[]) => Promise<readonly Outcome[]>;
type Outcome = { readonly value: unknown } | { readonly error: unknown };

async function settleBatch<J>(
  batch: readonly { job: J; settle: (outcome: Outcome) => void }[],
  run: Run<J>,
  deadline: number,
): Promise<void> {
  try {
    const jobs = batch.map(({ job }) => job);
    const outcomes = await untilUnlocked(() => run(jobs), deadline);
    for (const [at, outcome] of outcomes.entries()) batch[at]?.settle(outcome);
  } catch (error) {
    for (const { settle } of batch) settle({ error });
  }
}

/** One at a time, first come first served. */
export class WriteTurns {
  readonly #waiting: (() => Promise<void>)[] = [];
  #isAtWork = false;

  take<T>(work: () => Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      this.#waiting.push(() => work().then(resolve, reject));
      if (!this.#isAtWork) this.#workThrough().catch(reject);
    });
  }

  async #workThrough(): Promise<void> {
    this.#isAtWork = true;
    let began = monotonicNow();
    for (let next = this.#waiting.shift(); next !== undefined; next = this.#waiting.shift()) {
      await next();
      // Promises alone never let a socket be read, however many writes wait.
      if (monotonicNow() - began < SLICE_MS) continue;
      await setImmediate();
      began = monotonicNow();
    }
    this.#isAtWork = false;
  }
}

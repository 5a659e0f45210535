import { setImmediate as nextTurn } from 'node:timers/promises';

/** So many pieces of some queries each are done before other requests are served. */
const PIECES_A_TURN = 20;

/** One after the other, with other requests served in between: the reads of a store that answers at once leave no turn. */
export async function mapWithTurns<T, Result>(
  items: readonly T[],
  work: (item: T) => Promise<Result>,
): Promise<Result[]> {
  const done: Result[] = [];
  for (const [at, item] of items.entries()) {
    if (at > 0 && at % PIECES_A_TURN === 0) await nextTurn();
    done.push(await work(item));
  }
  return done;
}

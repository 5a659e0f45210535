import { setImmediate as nextTurn } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { TokenTurns } from './token-turns.ts';

const FOREVER_MS = 1_000_000;

/** Begins requests, each of which ends at once, and notes whose they were. */
function openTurns(limits: { at_work?: number; busy_ms?: number; turn_ms?: number }) {
  const turns = new TokenTurns({ at_work: 2, busy_ms: FOREVER_MS, turn_ms: FOREVER_MS, ...limits });
  const seen: string[] = [];
  const ask = async (who: string, work: () => Promise<void> = async () => undefined): Promise<void> => {
    using _turn = await turns.begin(who);
    seen.push(who);
    await work();
  };
  return { ask, seen };
}

const untilQuiet = async (): Promise<void> => {
  for (let at = 0; at < 50; at += 1) await nextTurn();
};

describe('the turns of requests', () => {
  it('have a request wait for nothing while there is little to do', async () => {
    const turns = new TokenTurns({ at_work: 2, busy_ms: FOREVER_MS, turn_ms: FOREVER_MS });
    expect(turns.begin('a')).not.toBeInstanceOf(Promise);
    expect(turns.begin('b')).not.toBeInstanceOf(Promise);
    expect(turns.begin('a')).not.toBeInstanceOf(Promise);
    expect(turns.begin('a')).toBeInstanceOf(Promise);
  });

  it('go around the owners when a turn of the event loop is full', async () => {
    const { ask, seen } = openTurns({ turn_ms: -1 });
    await Promise.all([...Array.from({ length: 50 }, () => ask('greedy')), ask('other'), ask('third')]);
    expect(seen.slice(0, 4).toSorted()).toEqual(['greedy', 'greedy', 'other', 'third']);
    expect(seen).toHaveLength(52);
  });

  it('keep all but a few of one owner waiting, in their order, and nobody else', async () => {
    const { ask, seen } = openTurns({ at_work: 2 });
    const ends: (() => void)[] = [];
    const held = (): Promise<void> => new Promise((resolve) => ends.push(resolve));
    const asked = [1, 2, 3, 4].map(() => ask('greedy', held));
    await untilQuiet();
    expect(seen).toEqual(['greedy', 'greedy']);
    await ask('other');
    expect(seen).toEqual(['greedy', 'greedy', 'other']);
    ends.shift()?.();
    await untilQuiet();
    expect(seen).toEqual(['greedy', 'greedy', 'other', 'greedy']);
    while (ends.length > 0) {
      ends.shift()?.();
      await untilQuiet();
    }
    await Promise.all(asked);
    expect(seen).toHaveLength(5);
  });

  it('do not count what waits for something for long', async () => {
    const { ask, seen } = openTurns({ at_work: 1, busy_ms: 1 });
    const ends: (() => void)[] = [];
    const held = (): Promise<void> => new Promise((resolve) => ends.push(resolve));
    const waits = [ask('a', held), ask('a', held), ask('a', held)];
    await expect.poll(() => seen).toEqual(['a', 'a', 'a']);
    for (const end of ends) end();
    await Promise.all(waits);
    // Each was given back once: two are not at work at the same time now.
    const again = [ask('b', held), ask('b', held)];
    await expect.poll(() => seen).toHaveLength(5);
    for (const end of ends) end();
    await Promise.all(again);
  });
});

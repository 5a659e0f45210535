import { describe, expect, it } from 'vitest';
import { OneATurn } from './one-a-turn.ts';

describe('one a turn', () => {
  it('lets each go on in a turn of its own, in the order they came', async () => {
    const open: (() => void)[] = [];
    const turns = new OneATurn(() => new Promise((resolve) => open.push(resolve)));
    const seen: string[] = [];
    const work = ['a', 'b', 'c'].map((name) => turns.wait().then(() => seen.push(name)));
    await settle();
    for (const expected of [['a'], ['a', 'b'], ['a', 'b', 'c']]) {
      expect(open).toHaveLength(1);
      open.pop()?.();
      await settle();
      expect(seen).toEqual(expected);
    }
    await Promise.all(work);
    expect(open).toEqual([]);
  });

  it('costs one turn where nothing waits', async () => {
    let turns = 0;
    const queue = new OneATurn(async () => void (turns += 1));
    await queue.wait();
    await queue.wait();
    expect(turns).toBe(2);
  });
});

/** All that can go on without another turn has gone on. */
async function settle(): Promise<void> {
  for (let i = 0; i < 20; i += 1) await Promise.resolve();
}

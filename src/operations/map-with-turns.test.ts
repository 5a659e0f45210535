import { setImmediate } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { mapWithTurns } from './map-with-turns.ts';

test('keeps the order, and lets other work go in between', async () => {
  let turns = 0;
  let isOver = false;
  const counting = (async () => {
    for (; !isOver; turns += 1) await setImmediate();
  })();
  const items = Array.from({ length: 100 }, (_, at) => at);
  expect(await mapWithTurns(items, async (at) => at + 1)).toEqual(items.map((at) => at + 1));
  const between = turns;
  isOver = true;
  await counting;
  expect(between).toBeGreaterThanOrEqual(4);
  expect(await mapWithTurns([], async () => 1)).toEqual([]);
});

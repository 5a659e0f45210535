import { afterEach, expect, it, vi } from 'vitest';
import { combine, inSoak, leavesToSoak, shareOf } from './support/share-of.ts';

const ROWS = combine(['a', 'b', 'c'], combine([1, 2, 3], ['x', 'y', 'z']));

afterEach(() => void vi.unstubAllEnvs());

it('a share of a table has each value of each of its dimensions', () => {
  vi.stubEnv('FORGE_WHOLE_TABLES', '');
  const some = shareOf(ROWS, 4);
  expect(some).toHaveLength(7);
  expect(new Set(some.map(([name]) => name)).size).toBe(3);
  expect(new Set(some.map(([, [number]]) => number)).size).toBe(3);
  expect(new Set(some.map(([, [, letter]]) => letter)).size).toBe(3);
});

it('the soak has all of it', () => {
  vi.stubEnv('FORGE_WHOLE_TABLES', '1');
  expect(shareOf(ROWS, 4)).toEqual(ROWS);
  expect(ROWS).toHaveLength(27);
});

it('stories that are left to the soak are told there alone', () => {
  const told: string[] = [];
  for (const value of ['', '1']) {
    vi.stubEnv('FORGE_WHOLE_TABLES', value);
    inSoak(() => void told.push(`with ${value}`));
  }
  expect(told).toEqual(['with 1']);
});

it('the soak finds the files that leave something to it', () => {
  for (const text of ['it.each(shareOf(ROWS, 3))', '  inSoak(() => {']) expect(leavesToSoak(text)).toBe(true);
  for (const text of ['it.each(ROWS)', "import { inSoak } from './share-of.ts';"])
    expect(leavesToSoak(text)).toBe(false);
});

import { expect, it } from 'vitest';
import { RecentValues } from './recent-values.ts';

it('the value that was not used for longest makes place for the next', () => {
  const recent = new RecentValues<number>(3);
  for (const [at, name] of ['a', 'b', 'c'].entries()) recent.set(name, at);
  expect(recent.get('a')).toBe(0);
  recent.set('d', 3);
  recent.set('c', 4);
  recent.set('e', 5);
  expect(['a', 'b', 'c', 'd', 'e'].map((name) => recent.get(name))).toEqual([undefined, undefined, 4, 3, 5]);
});

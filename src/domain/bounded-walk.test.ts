import { describe, expect, it } from 'vitest';
import { findReach, listReached } from './bounded-walk.ts';
import { findPath } from './graph-paths.ts';

type Edges = readonly (readonly [from: string, to: string])[];

function walkOver(edges: Edges) {
  let read = 0;
  const of = (pairs: Edges) => (id: string) => {
    const found = pairs.filter(([from]) => from === id).map(([, to]) => to);
    read += found.length;
    return found;
  };
  const next = of(edges);
  const previous = of(edges.map(([from, to]) => [to, from]));
  return { next, previous, edges: () => read };
}

const CHAIN: Edges = Array.from({ length: 1_000 }, (_, at) => [`a${at}`, `a${at + 1}`]);

describe('a bounded walk', () => {
  it('finds a way, with its steps', () => {
    const walk = walkOver([
      ['a', 'b'],
      ['b', 'c'],
      ['c', 'd'],
      ['b', 'x'],
    ]);
    const found = findReach({ ...walk, start: 'a', goal: 'd', most: 10 });
    expect(found).toEqual({ outcome: 'reached', path: ['a', 'b', 'c', 'd'] });
    expect(findReach({ ...walk, start: 'x', goal: 'a', most: 10 })).toEqual({ outcome: 'apart' });
    expect(findReach({ ...walk, start: 'a', goal: 'a', most: 0 })).toMatchObject({ path: ['a'] });
  });

  it('ends soon where one end leads nowhere, however far the other one goes', () => {
    const walk = walkOver(CHAIN);
    expect(findReach({ ...walk, start: 'a0', goal: 'other', most: 10 })).toEqual({ outcome: 'apart' });
    expect(findReach({ ...walk, start: 'a999', goal: 'a1', most: 10 })).toEqual({ outcome: 'apart' });
    expect(walk.edges()).toBeLessThan(10);
  });

  it('ends where both ends lead too far, with no more edges read than it may by one task', () => {
    const walk = walkOver(CHAIN);
    expect(findReach({ ...walk, start: 'a0', goal: 'a900', most: 50 })).toEqual({ outcome: 'too_many' });
    expect(walk.edges()).toBe(51);
    expect(listReached('a0', { next: walk.next, most: 50 })).toBeUndefined();
    expect(listReached('a990', { next: walk.next, most: 50 })?.size).toBe(11);
  });

  it('agrees with a walk without a bound', () => {
    const ids = ['a', 'b', 'c', 'd', 'e', 'f'];
    for (let seed = 1; seed <= 200; seed += 1) {
      const edges = ids.flatMap((from, row) =>
        ids
          .filter((_, column) => (seed * 7_919 + row * 104_729 + column * 1_299_709) % 5 === 0)
          .map((to) => [from, to] as const),
      );
      const walk = walkOver(edges);
      for (const start of ids)
        for (const goal of ids) {
          const found = findReach({ ...walk, start, goal, most: 1_000 });
          const path = start === goal ? [start] : findPath(start, goal, walk.next);
          expect(found.outcome).toBe(path === undefined ? 'apart' : 'reached');
          const way = found.outcome === 'reached' ? found.path : [];
          const isWay = way.every((id, at) => at === 0 || walk.next(way[at - 1] ?? '').includes(id));
          expect(isWay).toBe(true);
        }
    }
  });
});

import { describe, expect, it } from 'vitest';
import { findCycles } from './find-cycles.ts';

describe('findCycles', () => {
  it('finds nothing where nothing leads back', () => {
    expect(
      findCycles([
        ['a', 'b'],
        ['a', 'c'],
        ['b', 'd'],
        ['c', 'd'],
      ]),
    ).toEqual([]);
  });

  it('finds one cycle of each knot, beginning with its smallest id', () => {
    const edges = [
      ['c', 'a'],
      ['a', 'b'],
      ['b', 'c'],
      ['b', 'a'],
      ['x', 'y'],
      ['y', 'x'],
      ['s', 's'],
    ] as const;
    expect(findCycles(edges)).toEqual([['a', 'b'], ['s'], ['x', 'y']]);
  });

  it('walks chains of any length', () => {
    const chain = Array.from({ length: 100_000 }, (_, at) => [`${at}`, `${at + 1}`] as const);
    expect(findCycles(chain)).toEqual([]);
    const round = findCycles([...chain, ['100000', '0']]);
    expect(round).toHaveLength(1);
    expect(round[0]).toHaveLength(100_001);
  });
});

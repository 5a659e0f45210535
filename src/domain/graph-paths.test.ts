import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { criticalPaths, findPath } from './graph-paths.ts';

const SIZE = 8;
const name = (i: number): string => `fg-${i}`;
const edges = fc.array(fc.tuple(fc.nat(SIZE - 1), fc.nat(SIZE - 1)), { maxLength: 24 });

describe('findPath', () => {
  it('finds a shortest path wherever a brute-force search finds one, and none elsewhere', () => {
    fc.assert(
      fc.property(edges, (pairs) => {
        const graph = adjacency(pairs);
        const distances = distancesOf(pairs);
        for (let from = 0; from < SIZE; from += 1) {
          for (let to = 0; to < SIZE; to += 1) {
            const path = findPath(name(from), name(to), (id) => graph.get(id) ?? []);
            const distance = distances[from]?.[to] ?? Infinity;
            const isPath = path?.every((id, i) => i === 0 || graph.get(path[i - 1] ?? '')?.includes(id));
            const expected = distance === Infinity ? [] : [name(from), name(to), distance + 1, true];
            expect(path === undefined ? [] : [path[0], path.at(-1), path.length, isPath]).toEqual(expected);
          }
        }
      }),
      { numRuns: 200 },
    );
  });

  it('from a task to itself is that task, without looking further', () => {
    expect(findPath('fg-1', 'fg-1', () => expect.unreachable('nobody asks for neighbours'))).toEqual([
      'fg-1',
    ]);
  });

  it('walks a chain of 100,000', () => {
    const last = 100_000;
    const path = findPath(name(0), name(last), (id) => [name(Number(id.slice(3)) + 1)]);
    expect(path).toHaveLength(last + 1);
    expect(path?.at(-1)).toBe(name(last));
  });

  it('asks each task once, in a graph that has exponentially many ways', () => {
    const asked: string[] = [];
    const path = findPath(name(0), 'nowhere', (id) => {
      asked.push(id);
      const i = Number(id.slice(3));
      return i >= 60 ? [] : [name(i + 1), name(i + 2), name(i + 1)];
    });
    expect(path).toBeUndefined();
    expect(asked).toHaveLength(new Set(asked).size);
  });
});

describe('criticalPaths', () => {
  it('is the longest chain that waits for a task, as a recursive search finds it', () => {
    fc.assert(
      fc.property(edges, fc.boolean(), (pairs, backwards) => {
        // From the smaller to the larger number there is no cycle; the order of the map must not matter.
        const forward = pairs
          .filter(([a, b]) => a !== b)
          .map(([a, b]) => [Math.min(a, b), Math.max(a, b)] as const);
        const graph = adjacency(forward);
        const entries = [...graph];
        const lengths = criticalPaths(new Map(backwards ? entries.reverse() : entries));
        for (const id of graph.keys()) expect([id, lengths.get(id)]).toEqual([id, longest(graph, id)]);
      }),
      { numRuns: 1_000 },
    );
  });

  it('has a number for each task of the map, 0 where nothing waits', () => {
    expect(criticalPaths(new Map([['fg-1', ['fg-2']]]))).toEqual(new Map([['fg-1', 1]]));
    expect(criticalPaths(new Map([['fg-1', []]]))).toEqual(new Map([['fg-1', 0]]));
    expect(criticalPaths(new Map())).toEqual(new Map());
  });

  it('does not care whether tasks that nothing waits for are in the map', () => {
    const edges = [
      ['a', ['b', 'c']],
      ['b', ['c']],
    ] as const;
    const alone = criticalPaths(new Map<string, readonly string[]>(edges));
    expect(alone.get('a')).toBe(2);
    expect(criticalPaths(new Map<string, readonly string[]>([...edges, ['c', []]]))).toEqual(
      new Map([...alone, ['c', 0]]),
    );
  });

  it.each([
    ['from its beginning', (i: number) => i],
    ['from its end', (i: number) => 99_999 - i],
  ])('walks a chain of 100,000 %s without overflowing the stack', (_name, order) => {
    const graph = new Map<number, number[]>();
    for (let i = 0; i < 100_000; i += 1) graph.set(order(i), [order(i) + 1]);
    const lengths = criticalPaths(graph);
    expect([lengths.get(0), lengths.get(50_000), lengths.get(99_999)]).toEqual([100_000, 50_000, 1]);
  });

  it('is quick where there are exponentially many chains', () => {
    const graph = new Map<string, string[]>();
    for (let i = 0; i < 2_000; i += 1) graph.set(name(i), [name(i + 1), name(i + 2), name(i + 3)]);
    expect(criticalPaths(graph).get(name(0))).toBe(2_000);
  });

  it('ends on graphs with cycles and never counts more tasks than there are', () => {
    fc.assert(
      fc.property(edges, (pairs) => {
        const graph = adjacency(pairs);
        const lengths = criticalPaths(graph);
        expect([...lengths.keys()].sort()).toEqual([...graph.keys()].sort());
        for (const length of lengths.values()) {
          expect(length).toBeGreaterThanOrEqual(0);
          expect(length).toBeLessThan(SIZE);
        }
      }),
      { numRuns: 1_000 },
    );
  });

  it.each<[string, [number, number][]]>([
    ['a task that waits for itself', [[0, 0]]],
    [
      'two tasks that wait for each other',
      [
        [0, 1],
        [1, 0],
      ],
    ],
    [
      'a ring of three',
      [
        [0, 1],
        [1, 2],
        [2, 0],
      ],
    ],
  ])('is 0 all around %s, because no chain leaves it', (_name, pairs) => {
    expect(new Set(criticalPaths(adjacency(pairs)).values())).toEqual(new Set([0]));
  });

  it('counts a tail behind a cycle', () => {
    const lengths = criticalPaths(
      new Map([
        ['a', ['b']],
        ['b', ['a', 'c']],
        ['c', ['d']],
        ['d', []],
      ]),
    );
    expect(lengths.get('c')).toBe(1);
    expect(lengths.get('b')).toBe(2);
  });
});

/** Every task has an entry, with its neighbours in the order of the pairs. */
function adjacency(pairs: readonly (readonly [number, number])[]): Map<string, string[]> {
  const graph = new Map<string, string[]>();
  for (const [from, to] of pairs) {
    if (!graph.has(name(to))) graph.set(name(to), []);
    graph.set(name(from), [...(graph.get(name(from)) ?? []), name(to)]);
  }
  return graph;
}

/** Floyd and Warshall: nothing in common with a breadth-first search. */
function distancesOf(pairs: readonly (readonly [number, number])[]): number[][] {
  const all = Array.from({ length: SIZE }, (_, i) => i);
  const direct = (i: number, j: number): number =>
    pairs.some(([a, b]) => a === i && b === j) ? 1 : Infinity;
  let table = all.map((i) => all.map((j) => (i === j ? 0 : direct(i, j))));
  for (const via of all) {
    const at = (i: number, j: number): number => table[i]?.[j] ?? Infinity;
    table = all.map((i) => all.map((j) => Math.min(at(i, j), at(i, via) + at(via, j))));
  }
  return table;
}

function longest(graph: ReadonlyMap<string, readonly string[]>, id: string): number {
  return Math.max(0, ...(graph.get(id) ?? []).map((next) => longest(graph, next) + 1));
}

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { findPath } from '#domain/graph-paths.ts';
import { findClosing, type OrderedEdge } from './order-edges.ts';

/** The slow way: each edge against all that were accepted before it. */
function findClosingSlowly(edges: readonly OrderedEdge[]): Set<OrderedEdge> {
  const next = new Map<string, string[]>();
  const closing = new Set<OrderedEdge>();
  for (const edge of edges) {
    if (findPath(edge.to, edge.from, (key) => next.get(key) ?? []) === undefined) {
      next.set(edge.from, [...(next.get(edge.from) ?? []), edge.to]);
    } else closing.add(edge);
  }
  return closing;
}

describe('findClosing', () => {
  it('finds the edges that trying one after the other finds', () => {
    const key = fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f', 'g', 'h');
    const edges = fc.array(fc.record({ from: key, to: key }), { maxLength: 30 });
    let cycles = 0;
    fc.assert(
      fc.property(edges, (list) => {
        const expected = findClosingSlowly(list);
        cycles += expected.size;
        expect(new Set(findClosing(list).closing.keys())).toEqual(expected);
      }),
      { numRuns: 2000 },
    );
    expect(cycles).toBeGreaterThan(1000);
  });

  it('finds the last edge of a cycle through ten thousand tasks', () => {
    const count = 10_000;
    const chain = Array.from({ length: count }, (_, n) => ({ from: `t${n}`, to: `t${(n + 1) % count}` }));
    expect([...findClosing(chain).closing.keys()]).toEqual([chain.at(-1)]);
    expect([...findClosing(chain.toReversed()).closing.keys()]).toEqual([chain[0]]);
  });
});

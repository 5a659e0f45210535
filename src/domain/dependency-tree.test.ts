import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { DependencyNode } from '#contract/graph-operations.ts';
import { buildDependencyTree } from './dependency-tree.ts';

type Graph = Readonly<Record<string, readonly string[]>>;

describe('the dependency tree', () => {
  it('shows what a task waits for, with the kind of the edge and what each task is', () => {
    expect(treeOf({ a: ['b'] }, 10)).toEqual({
      id: 'a',
      title: 'Task a',
      status: 'open',
      dep_type: null,
      children: [{ id: 'b', title: 'Task b', status: 'open', dep_type: 'blocks', children: [] }],
    });
  });

  it.each<[string, Graph, number, string]>([
    ['a task that waits for nothing', {}, 10, 'a'],
    ['a chain', { a: ['b'], b: ['c'], c: ['d'] }, 10, 'a(b(c(d)))'],
    ['a chain, cut', { a: ['b'], b: ['c'], c: ['d'] }, 2, 'a(b(c…))'],
    ['a chain that ends exactly at the depth', { a: ['b'], b: ['c'] }, 2, 'a(b(c))'],
    ['depth 0', { a: ['b'] }, 0, 'a…'],
    ['depth 0 with nothing below', {}, 0, 'a'],
    ['depth 1', { a: ['b', 'c'], c: ['d'] }, 1, 'a(b c…)'],
    [
      'a diamond: its foot in full once',
      { a: ['b', 'c'], b: ['d'], c: ['d'], d: ['e'] },
      10,
      'a(b(d(e)) c(d*))',
    ],
    [
      'a diamond whose foot has nothing below, so nothing is hidden',
      { a: ['b', 'c'], b: ['d'], c: ['d'] },
      10,
      'a(b(d) c(d))',
    ],
    [
      'a task near and far: in full where it is nearest',
      { a: ['b', 'd'], b: ['c'], c: ['d'], d: ['e'] },
      10,
      'a(b(c(d*)) d(e))',
    ],
    ['a task that is cut and seen', { a: ['b', 'c'], b: ['d'], c: ['d'], d: ['e'] }, 2, 'a(b(d…) c(d*))'],
    ['a task that waits for itself', { a: ['a'] }, 10, 'a(a*)'],
    ['a cycle', { a: ['b'], b: ['c'], c: ['a'] }, 10, 'a(b(c(a*)))'],
    ['a cycle below the root', { a: ['b'], b: ['c'], c: ['b', 'd'] }, 10, 'a(b(c(b* d)))'],
  ])('%s', (_name, graph, depth, expected) => {
    expect(show(treeOf(graph, depth))).toBe(expected);
  });

  it('shows a task that is not in this project by its id alone', () => {
    const elsewhere = { id: 'zz-9999', title: null, status: null };
    const tree = buildDependencyTree(task('a'), {
      depth: 10,
      blockersOf: (id) => (id === 'a' ? [elsewhere] : []),
      hasBlockers: (id) => id === 'a',
    });
    expect(tree.children).toEqual([{ ...elsewhere, dep_type: 'blocks', children: [] }]);
  });

  it('shows a chain of 20 whole', () => {
    const graph = Object.fromEntries(
      Array.from({ length: 19 }, (_, i) => [i === 0 ? 'a' : `t${i}`, [`t${i + 1}`]]),
    );
    const shown = show(treeOf(graph, 1_000));
    expect(shown.match(/t\d+/g)).toHaveLength(19);
    expect(shown).not.toMatch(/[…*]/);
  });

  it('is given up where it has more lines than there may be, wherever they stand', () => {
    const graph: Graph = { a: ['b', 'c'], b: ['d'], c: ['d'], d: ['e'] };
    const asked: string[] = [];
    const bounded = (most: number) =>
      buildDependencyTree(task('a'), {
        depth: 10,
        most,
        blockersOf: (id) => {
          asked.push(id);
          return (graph[id] ?? []).map(task);
        },
        hasBlockers: (id) => (graph[id] ?? []).length > 0,
      });
    expect(show(bounded(5))).toBe('a(b(d(e)) c(d*))');
    for (const most of [1, 2, 3, 4])
      expect(bounded(most)).toEqual({ ...task('a'), dep_type: null, children: [], too_many: true });
    expect(asked.slice(-4)).toEqual(['a', 'b', 'c', 'd']);
  });

  it('reads nothing below the depth', () => {
    const asked: string[] = [];
    const graph: Graph = { a: ['b'], b: ['c'], c: ['d'] };
    buildDependencyTree(task('a'), {
      depth: 1,
      blockersOf: (id) => {
        asked.push(id);
        return (graph[id] ?? []).map(task);
      },
      hasBlockers: (id) => graph[id] !== undefined,
    });
    expect(asked).toEqual(['a']);
  });

  it('has one line for each edge it shows, each task in full once and at its distance, in any graph', () => {
    const names = 'abcdefgh'.split('');
    const random = fc.array(fc.tuple(fc.constantFrom(...names), fc.constantFrom(...names)), {
      maxLength: 20,
    });
    fc.assert(
      fc.property(random, fc.integer({ min: 0, max: 9 }), (pairs, depth) => {
        const graph: Record<string, string[]> = {};
        for (const [from, to] of pairs) graph[from] = [...new Set([...(graph[from] ?? []), to])];
        const nodes = flatten(treeOf(graph, depth), 0);
        const distances = distancesFrom('a', graph);
        expect(nodes.length - 1).toBeLessThanOrEqual(Object.values(graph).flat().length);
        const full = nodes.filter(
          ({ node }) => node.seen !== true && (node.children.length > 0 || node.truncated === true),
        );
        expect(new Set(full.map(({ node }) => node.id)).size).toBe(full.length);
        for (const { node, at } of full) expect([node.id, at]).toEqual([node.id, distances.get(node.id)]);
        const within = [...distances].filter(([, distance]) => distance <= depth).map(([id]) => id);
        expect([...new Set(nodes.map(({ node }) => node.id))].sort()).toEqual(within.sort());
        for (const { node, at } of nodes)
          expect(node.truncated === true).toBe(isCut(node, at, graph, distances, depth));
      }),
      { numRuns: 500 },
    );
  });
});

/** The first place of a task that lies at the very depth and has more below it. */
function isCut(
  node: DependencyNode,
  at: number,
  graph: Graph,
  distances: ReadonlyMap<string, number>,
  depth: number,
): boolean {
  return (
    at === depth &&
    distances.get(node.id) === depth &&
    (graph[node.id] ?? []).length > 0 &&
    node.seen !== true
  );
}

function task(id: string): { id: string; title: string; status: 'open' } {
  return { id, title: `Task ${id}`, status: 'open' };
}

function treeOf(graph: Graph, depth: number): DependencyNode {
  return buildDependencyTree(task('a'), {
    depth,
    blockersOf: (id) => (graph[id] ?? []).map(task),
    hasBlockers: (id) => (graph[id] ?? []).length > 0,
  });
}

/** `a(b(d…) c(d*))`: … is truncated, * is seen. */
function show(node: DependencyNode): string {
  const marks = `${node.truncated === true ? '…' : ''}${node.seen === true ? '*' : ''}`;
  return `${node.id}${marks}${node.children.length === 0 ? '' : `(${node.children.map(show).join(' ')})`}`;
}

function flatten(node: DependencyNode, at: number): { node: DependencyNode; at: number }[] {
  return [{ node, at }, ...node.children.flatMap((child) => flatten(child, at + 1))];
}

function distancesFrom(root: string, graph: Graph): Map<string, number> {
  const distances = new Map([[root, 0]]);
  for (const [id, distance] of distances) {
    for (const next of graph[id] ?? []) if (!distances.has(next)) distances.set(next, distance + 1);
  }
  return distances;
}

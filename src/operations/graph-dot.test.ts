import { spawnSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import type { GraphView } from '#contract/graph-operations.ts';
import { graphEdge, graphTask, HOSTILE_TITLES, SAMPLE_GRAPH } from '../../tests/support/graph-sample.ts';
import { toDot } from './graph-dot.ts';

const DOT = 'dot';
const hasGraphviz = spawnSync(DOT, ['-V']).status === 0;
const HOSTILE: GraphView = {
  nodes: HOSTILE_TITLES.map((title, i) =>
    graphTask(`fg-${i}`, { title, assignee: i % 2 === 0 ? title : null, parent_id: i > 9 ? 'fg-3' : null }),
  ),
  edges: HOSTILE_TITLES.slice(1).map((_, i) => graphEdge(`fg-${i}`, `fg-${i + 1}`)),
};

describe('toDot', () => {
  it('runs from left to right', () => {
    expect(toDot(SAMPLE_GRAPH)).toMatch(/^digraph forge \{\n {2}rankdir=LR;\n/);
  });

  it('draws arrows from the blocker to what it unblocks', () => {
    const nodes = [graphTask('a'), graphTask('b')];
    expect(toDot({ nodes, edges: [{ from_id: 'b', to_id: 'a', type: 'blocks' }] })).toContain('"a" -> "b";');
  });

  it('dashes what does not block', () => {
    const nodes = [graphTask('a'), graphTask('b')];
    expect(toDot({ nodes, edges: [graphEdge('a', 'b', 'related')] })).toMatch(
      /"a" -> "b" \[style=dashed, dir=none/,
    );
    expect(toDot({ nodes, edges: [graphEdge('a', 'b', 'discovered-from')] })).toMatch(
      /"a" -> "b" \[style=dashed, arrowhead=vee/,
    );
  });

  it('has a colour for every look', () => {
    const text = toDot(SAMPLE_GRAPH);
    for (const look of ['ready', 'open', 'blocked', 'in_progress', 'closed'])
      expect(text).toContain(`class="${look}"`);
  });

  it('draws parents as clusters', () => {
    expect(toDot(SAMPLE_GRAPH)).toContain('subgraph "cluster_fg-e5a2" {');
  });

  it('escapes quotes, backslashes and entities', () => {
    const nodes = [graphTask('x', { title: 'a "b" \\N &lt;' })];
    expect(toDot({ nodes, edges: [] })).toContain('a \\"b\\" \\\\N &amp;lt;');
  });

  it('makes visible what would hide or reorder text', () => {
    const nodes = [graphTask('x', { title: 'a\u202eb\u0007' })];
    expect(toDot({ nodes, edges: [] })).toContain('a\\\\u202eb\\\\u0007');
  });

  it('has something to show without tasks', () => {
    expect(toDot({ nodes: [], edges: [] })).toContain('No tasks to draw');
  });

  it('is the same for the same graph in any order', () => {
    const { nodes, edges } = SAMPLE_GRAPH;
    expect(toDot({ nodes: nodes.toReversed(), edges: edges.toReversed() })).toBe(toDot(SAMPLE_GRAPH));
  });
});

describe.skipIf(!hasGraphviz)('Graphviz (skipped where dot is not installed)', () => {
  const run = (graph: GraphView) => spawnSync(DOT, ['-Tjson'], { input: toDot(graph), encoding: 'utf8' });

  it.each([
    ['the sample', SAMPLE_GRAPH],
    ['hostile titles', HOSTILE],
    ['nothing', { nodes: [], edges: [] }],
    ['a blocker that is not there', { nodes: [graphTask('b')], edges: [graphEdge('gone', 'b')] }],
  ] as const)('accepts %s', (_name, graph) => {
    const { status, stderr } = run({ nodes: [...graph.nodes], edges: [...graph.edges] });
    expect(stderr).toBe('');
    expect(status).toBe(0);
  });

  it('reads back the nodes and edges that went in', () => {
    const read: unknown = JSON.parse(run(HOSTILE).stdout);
    const { objects, edges } = read as { objects: { name: string }[]; edges: unknown[] };
    const names = objects.map((object) => object.name).filter((name) => !name.startsWith('cluster_'));
    expect(names.toSorted()).toEqual(HOSTILE.nodes.map((task) => task.id).toSorted());
    expect(edges).toHaveLength(HOSTILE.edges.length);
  });
});

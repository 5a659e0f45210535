import { describe, expect, it } from 'vitest';
import type { GraphView } from '#contract/graph-operations.ts';
import { graphEdge, graphTask, SAMPLE_GRAPH } from '../../tests/support/graph-sample.ts';
import { groupByBox, toShape } from './graph-shape.ts';

const shapeOf = (graph: GraphView, handles: 'linked' | 'inner' = 'linked') =>
  toShape(graph, { boxes: 'nested', handles });
const itemOf = (graph: GraphView, id: string) => shapeOf(graph).items.find((item) => item.id === id);

describe('looks', () => {
  const cases = [
    ['ready', graphTask('x', { ready: true })],
    ['in_progress', graphTask('x', { status: 'in_progress' })],
    ['closed', graphTask('x', { status: 'closed' })],
    ['open', graphTask('x', { state: 'backlog' })],
  ] as const;
  it.each(cases)('%s', (look, task) => {
    expect(itemOf({ nodes: [task], edges: [] }, 'x')?.look).toBe(look);
  });

  it('an open task with an open blocker is blocked, with a closed one it is not', () => {
    const nodes = [graphTask('a'), graphTask('b'), graphTask('c', { status: 'closed' }), graphTask('d')];
    const graph = { nodes, edges: [graphEdge('a', 'b'), graphEdge('c', 'd')] };
    expect(itemOf(graph, 'b')?.look).toBe('blocked');
    expect(itemOf(graph, 'd')?.look).toBe('open');
  });

  it('work that has begun stays in progress though something blocks it', () => {
    const graph = {
      nodes: [graphTask('a'), graphTask('b', { status: 'in_progress' })],
      edges: [graphEdge('a', 'b')],
    };
    expect(itemOf(graph, 'b')?.look).toBe('in_progress');
  });

  it('related tasks do not block', () => {
    const graph = { nodes: [graphTask('a'), graphTask('b')], edges: [graphEdge('a', 'b', 'related')] };
    expect(itemOf(graph, 'b')?.look).toBe('open');
  });
});

describe('links', () => {
  it('run from the blocker to what it unblocks, and say when it is closed', () => {
    const nodes = [graphTask('a', { status: 'closed' }), graphTask('b')];
    expect(shapeOf({ nodes, edges: [{ from_id: 'b', to_id: 'a', type: 'blocks' }] }).links).toEqual([
      { from: 'a', to: 'b', type: 'blocks', settled: true },
    ]);
  });

  it('show a blocker that the graph does not hold, and that it blocks', () => {
    const graph = { nodes: [graphTask('b')], edges: [graphEdge('gone', 'b')] };
    expect(shapeOf(graph).items.map((item) => [item.id, item.kind, item.look])).toEqual([
      ['b', 'task', 'blocked'],
      ['gone', 'unknown', 'open'],
    ]);
  });

  it('leave out what hangs in the air, what leads to itself and what is there twice', () => {
    const edges = [
      graphEdge('gone', 'b', 'related'),
      graphEdge('b', 'gone'),
      graphEdge('b', 'b'),
      graphEdge('a', 'b'),
      graphEdge('a', 'b'),
    ];
    expect(shapeOf({ nodes: [graphTask('a'), graphTask('b')], edges }).links).toHaveLength(1);
  });
});

describe('boxes', () => {
  const family = (count: number): GraphView => ({
    nodes: Array.from({ length: count }, (_, i) =>
      graphTask(`n${i}`, { parent_id: i === 0 ? null : `n${i - 1}` }),
    ),
    edges: [],
  });

  it('hold the children of a task and take its place', () => {
    const shape = shapeOf(family(2));
    expect(shape.boxes.map((box) => box.id)).toEqual(['n0']);
    expect(shape.items.map((item) => [item.id, item.box])).toEqual([['n1', 'n0']]);
  });

  it('are two deep at most; deeper tasks name their parent', () => {
    const shape = shapeOf(family(5));
    expect(shape.boxes.map((box) => [box.id, box.box])).toEqual([
      ['n0', null],
      ['n1', 'n0'],
    ]);
    expect(shape.items.map((item) => [item.id, item.box, item.parent_mark])).toEqual([
      ['n2', 'n1', null],
      ['n3', 'n1', 'n2'],
      ['n4', 'n1', 'n3'],
    ]);
  });

  it('can be left out', () => {
    const shape = toShape(family(2), { boxes: 'none', handles: 'linked' });
    expect(shape.boxes).toEqual([]);
    expect(shape.items.map((item) => [item.id, item.parent_mark])).toEqual([
      ['n0', null],
      ['n1', 'n0'],
    ]);
  });

  it('name a parent that the graph does not hold', () => {
    const graph = { nodes: [graphTask('a', { parent_id: 'gone' })], edges: [] };
    expect(itemOf(graph, 'a')).toMatchObject({ box: null, parent_mark: 'gone' });
  });

  it('have a handle where a link needs one', () => {
    const nodes = [graphTask('e'), graphTask('c', { parent_id: 'e' }), graphTask('x')];
    const outside = { nodes, edges: [graphEdge('x', 'e')] };
    const inside = { nodes, edges: [graphEdge('c', 'e')] };
    const handles = (graph: GraphView, which: 'linked' | 'inner') =>
      shapeOf(graph, which)
        .items.filter((item) => item.kind === 'handle')
        .map((item) => item.id);
    expect(handles(outside, 'linked')).toEqual(['e']);
    expect(handles(outside, 'inner')).toEqual([]);
    expect(handles(inside, 'inner')).toEqual(['e']);
  });

  it('survive a cycle of parents', () => {
    const nodes = [
      graphTask('a', { parent_id: 'c' }),
      graphTask('b', { parent_id: 'a' }),
      graphTask('c', { parent_id: 'b' }),
      graphTask('d', { parent_id: 'd' }),
    ];
    const shape = shapeOf({ nodes, edges: [] });
    expect(new Set([...shape.items, ...shape.boxes].map((part) => part.id))).toEqual(
      new Set(['a', 'b', 'c', 'd']),
    );
  });

  it('go through a family of twenty thousand generations', () => {
    expect(shapeOf(family(20_000)).items).toHaveLength(19_998);
  });
});

describe('order', () => {
  it('does not depend on the order of the input', () => {
    const { nodes, edges } = SAMPLE_GRAPH;
    expect(shapeOf({ nodes: nodes.toReversed(), edges: edges.toReversed() })).toEqual(shapeOf(SAMPLE_GRAPH));
  });

  it('groups what lies in each box', () => {
    const groups = groupByBox(shapeOf(SAMPLE_GRAPH));
    expect(groups.boxes.get(null)?.map((box) => box.id)).toEqual(['fg-e5a2', 'fg-g7m3']);
    expect(groups.items.get('fg-g7m3')?.map((item) => item.id)).toEqual(['fg-j9p5', 'fg-k1q6', 'fg-m2r7']);
  });
});

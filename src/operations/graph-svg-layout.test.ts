import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { GraphView } from '#contract/graph-operations.ts';
import { graphEdge, graphTask, SAMPLE_GRAPH } from '../../tests/support/graph-sample.ts';
import { type GraphShape, toShape } from './graph-shape.ts';
import type { Placement, Rect } from './graph-svg-geometry.ts';
import { placeLayered } from './graph-svg-layered.ts';
import { placeNested } from './graph-svg-layout.ts';

const shapeOf = (graph: GraphView): GraphShape => toShape(graph, { boxes: 'nested', handles: 'inner' });

/** Any graph, cycles and odd parents included. */
const anyGraph = fc
  .record({
    parents: fc.array(fc.option(fc.nat(4), { nil: null, freq: 2 }), { minLength: 1, maxLength: 24 }),
    edges: fc.array(
      fc.tuple(fc.nat(23), fc.nat(23), fc.constantFrom('blocks', 'blocks', 'related', 'discovered-from')),
      { maxLength: 36 },
    ),
  })
  .map(({ parents, edges }): GraphView => {
    const id = (i: number): string => `n${i % parents.length}`;
    return {
      nodes: parents.map((parent, i) => graphTask(id(i), { parent_id: parent === null ? null : id(parent) })),
      edges: edges.map(([a, b, type]) => ({ from_id: id(a), to_id: id(b), type: type as 'blocks' })),
    };
  });

/** A graph in which tasks only wait for earlier ones, and boxes have no links of their own. */
const orderlyGraph = anyGraph.map(({ nodes, edges }): GraphView => {
  const place = (id: string): number => Number(id.slice(1));
  const parents = new Set(nodes.flatMap((task) => task.parent_id ?? []));
  return {
    nodes,
    edges: edges.filter(
      (edge) =>
        place(edge.to_id) < place(edge.from_id) && !parents.has(edge.to_id) && !parents.has(edge.from_id),
    ),
  };
});

describe('placeNested', () => {
  it('places everything, and nothing on anything else', async () => {
    await fc.assert(
      fc.asyncProperty(anyGraph, async (graph) => {
        const shape = shapeOf(graph);
        const placement = await placeNested(shape);
        expect(placement.items.size).toBe(shape.items.length);
        expect(placement.boxes.size).toBe(shape.boxes.length);
        expect(placement.links).toHaveLength(shape.links.length);
        expect(findOverlaps(shape, placement)).toEqual([]);
        expect(findOutside(shape, placement)).toEqual([]);
      }),
      { numRuns: 150 },
    );
  });

  it('puts what blocks left of what it blocks, boxes or not', async () => {
    await fc.assert(
      fc.asyncProperty(orderlyGraph, async (graph) => {
        const placement = await placeNested(shapeOf(graph));
        for (const { link, points } of placement.links) {
          if (link.type !== 'blocks') continue;
          const [from, to] = [rectOf(placement, link.from), rectOf(placement, link.to)];
          expect(from.x + from.width).toBeLessThan(to.x);
          expect(points[0]?.x).toBe(from.x + from.width);
          expect(points.at(-1)?.x).toBe(to.x);
        }
      }),
      { numRuns: 150 },
    );
  });

  it('leads lines past cards, not through them', async () => {
    await fc.assert(
      fc.asyncProperty(orderlyGraph, async (graph) => {
        expect(findCrossedCards(await placeNested(shapeOf(graph)))).toEqual([]);
      }),
      { numRuns: 150 },
    );
  });

  it('leads a line from outside around the cards of a row', async () => {
    const inside = ['e1', 'e2', 'e3'].map((id) => graphTask(id, { parent_id: 'e' }));
    const nodes = [graphTask('e'), ...inside, graphTask('x'), graphTask('y')];
    const edges = [
      graphEdge('e1', 'e2'),
      graphEdge('e2', 'e3'),
      graphEdge('x', 'e3'),
      graphEdge('x', 'y'),
      graphEdge('y', 'e2'),
    ];
    const placement = await placeNested(shapeOf({ nodes, edges }));
    const line = placement.links.find(({ link }) => link.from === 'x' && link.to === 'e3');
    expect(line?.points.length).toBeGreaterThan(2);
    expect(findCrossedCards(placement)).toEqual([]);
  });

  it('keeps a box whole beside a cycle', async () => {
    const nodes = [
      graphTask('a'),
      graphTask('e'),
      graphTask('e1', { parent_id: 'e' }),
      graphTask('x'),
      graphTask('y'),
    ];
    const edges = [
      graphEdge('x', 'y'),
      graphEdge('y', 'x'),
      graphEdge('y', 'e'),
      graphEdge('e', 'a', 'related'),
    ];
    const shape = shapeOf({ nodes, edges });
    const placement = await placeNested(shape);
    expect(findOverlaps(shape, placement)).toEqual([]);
    expect(findOutside(shape, placement)).toEqual([]);
  });

  it('lets links of a box begin and end at its frame', async () => {
    const nodes = [graphTask('e'), graphTask('c', { parent_id: 'e' }), graphTask('a'), graphTask('z')];
    const placement = await placeNested(
      shapeOf({ nodes, edges: [graphEdge('a', 'e'), graphEdge('e', 'z')] }),
    );
    const box = rectOf(placement, 'e');
    const [into, out] = ['a', 'e'].map((from) => placement.links.find(({ link }) => link.from === from));
    expect(into?.points.at(-1)?.x).toBe(box.x);
    expect(out?.points[0]?.x).toBe(box.x + box.width);
    expect(rectOf(placement, 'a').x).toBeLessThan(box.x);
    expect(rectOf(placement, 'z').x).toBeGreaterThan(box.x + box.width);
  });

  it('draws two boxes that wait for each other as bands, with all arrows to the right', async () => {
    const nodes = [
      graphTask('e'),
      graphTask('f'),
      ...['e1', 'e2', 'f1', 'f2'].map((id) => graphTask(id, { parent_id: id.slice(0, 1) })),
    ];
    const edges = [graphEdge('e1', 'f2'), graphEdge('f1', 'e2')];
    const placement = await placeNested(shapeOf({ nodes, edges }));
    for (const { points } of placement.links) expect(points[0]?.x).toBeLessThan(points.at(-1)?.x ?? 0);
  });

  it('does not let a link that only says so turn one that blocks', async () => {
    const nodes = ['a', 'b', 'c'].map((id) => graphTask(id));
    const edges = [graphEdge('b', 'a'), graphEdge('c', 'b'), graphEdge('a', 'c', 'related')];
    const placement = await placeNested(shapeOf({ nodes, edges }));
    const left = (id: string): number => rectOf(placement, id).x;
    expect(left('c')).toBeLessThan(left('b'));
    expect(left('b')).toBeLessThan(left('a'));
  });

  it('sets tasks without links side by side instead of in one tall column', async () => {
    const nodes = Array.from({ length: 24 }, (_, i) =>
      graphTask(`n${i}`, { parent_id: i === 0 ? null : 'n0' }),
    );
    const { width, height } = await placeNested(shapeOf({ nodes, edges: [] }));
    expect(width).toBeGreaterThan(height * 0.8);
  });

  it('draws two links between the same two tasks beside each other', async () => {
    const nodes = ['a', 'b', 'c'].map((id) => graphTask(id));
    const edges = [
      graphEdge('a', 'b'),
      graphEdge('b', 'c'),
      graphEdge('a', 'c'),
      graphEdge('a', 'c', 'related'),
    ];
    const placement = await placeNested(shapeOf({ nodes, edges }));
    const ways = placement.links.filter(({ link }) => link.from === 'a' && link.to === 'c');
    expect(ways).toHaveLength(2);
    expect(ways[0]?.points).not.toEqual(ways[1]?.points);
  });
});

describe('placeLayered', () => {
  it('places everything, and nothing on anything else', () => {
    fc.assert(
      fc.property(anyGraph, (graph) => {
        const shape = toShape(graph, { boxes: 'none', handles: 'inner' });
        const placement = placeLayered(shape);
        expect(placement.items.size).toBe(shape.items.length);
        expect(placement.links).toHaveLength(shape.links.length);
        expect(findOverlaps(shape, placement)).toEqual([]);
      }),
    );
  });

  it('puts what blocks left of what it blocks', () => {
    const placement = placeLayered(toShape(SAMPLE_GRAPH, { boxes: 'none', handles: 'inner' }));
    for (const { link } of placement.links) {
      expect(rectOf(placement, link.from).x).toBeLessThan(rectOf(placement, link.to).x);
    }
  });
});

function rectOf(placement: Placement, id: string): Rect {
  return placement.items.get(id) ?? placement.boxes.get(id) ?? { x: NaN, y: NaN, width: NaN, height: NaN };
}

function touches(a: Rect, b: Rect): boolean {
  return a.x < b.x + b.width && b.x < a.x + a.width && a.y < b.y + b.height && b.y < a.y + a.height;
}

/** Pairs that share some paper though neither lies in the other. */
function findOverlaps(shape: GraphShape, placement: Placement): string[] {
  const outer = new Map(shape.boxes.map((box) => [box.id, box.box] as const));
  const around = (box: string | null): string[] =>
    box === null ? [] : [`b${box}`, ...around(outer.get(box) ?? null)];
  const parts = [
    ...shape.items.map((item) => ({
      key: `t${item.id}`,
      rect: placement.items.get(item.id),
      boxes: around(item.box),
    })),
    ...shape.boxes.map((box) => ({
      key: `b${box.id}`,
      rect: placement.boxes.get(box.id),
      boxes: around(box.box),
    })),
  ];
  return parts.flatMap((a, i) =>
    parts.slice(i + 1).flatMap((b) => {
      if (a.boxes.includes(b.key) || b.boxes.includes(a.key)) return [];
      return a.rect !== undefined && b.rect !== undefined && touches(a.rect, b.rect)
        ? [`${a.key} ${b.key}`]
        : [];
    }),
  );
}

/** What sticks out of its box or of the paper. */
function findOutside(shape: GraphShape, placement: Placement): string[] {
  const paper = { x: 0, y: 0, width: placement.width, height: placement.height };
  return [...shape.items, ...shape.boxes].flatMap((part) => {
    const own = 'kind' in part ? placement.items.get(part.id) : placement.boxes.get(part.id);
    const frame = part.box === null ? paper : placement.boxes.get(part.box);
    if (own === undefined || frame === undefined) return [part.id];
    const inside =
      own.x >= frame.x &&
      own.y >= frame.y &&
      own.x + own.width <= frame.x + frame.width &&
      own.y + own.height <= frame.y + frame.height;
    return inside ? [] : [part.id];
  });
}

/** Level pieces of lines that run over a card. */
function findCrossedCards({ items, links }: Placement): string[] {
  return links.flatMap(({ link, points }) =>
    points.flatMap((to, i) => {
      const from = points[i - 1];
      if (from === undefined || from.y !== to.y) return [];
      const line = {
        x: Math.min(from.x, to.x) + 0.5,
        y: to.y,
        width: Math.abs(from.x - to.x) - 1,
        height: 0.1,
      };
      return [...items]
        .filter(([, rect]) => touches(line, rect))
        .map(([id]) => `${link.from}>${link.to} ${id}`);
    }),
  );
}

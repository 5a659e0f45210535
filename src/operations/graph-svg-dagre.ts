import type { ShapeItem } from './graph-shape.ts';
import type { Block, Pass } from './graph-svg-blocks.ts';
import type { Arc } from './graph-svg-columns.ts';
import { CARD, GAP, HANDLE, type Point, type Size } from './graph-svg-geometry.ts';

/** What we use of dagre; under `nodenext` its own declarations resolve to `any`. */
export interface Dagre {
  Graph: new () => DagreGraph;
  layout(graph: DagreGraph): unknown;
}
interface DagreGraph {
  setGraph(label: Readonly<Record<string, string | number>>): unknown;
  setNode(name: string, label: Size): unknown;
  setEdge(from: string, to: string, label: { weight: number; minlen: number }): unknown;
  node(name: string): Point;
  edge(from: string, to: string): { points: readonly Point[] };
}

/** Between lines that share one way. */
const LANE = 6;

/**
 * The heights of tasks that hang together, in columns that are given. Two things that dagre 3.1.1 offers are left
 * unused: its boxes inside boxes overlapped their neighbours in one of three random graphs, and several edges
 * between the same two nodes made it throw.
 */
export function placeWithDagre(
  dagre: Dagre,
  items: readonly ShapeItem[],
  arcs: readonly Arc[],
  columns: ReadonlyMap<string, number>,
): Block {
  const graph = new dagre.Graph();
  graph.setGraph({ rankdir: 'LR', nodesep: GAP.down, edgesep: 2 * LANE, ranksep: GAP.across });
  // Names of our own: dagre keeps them as keys of plain objects.
  const names = new Map(items.map((item, i) => [item.id, `n${i}`] as const));
  const nameOf = (id: string): string => names.get(id) ?? '';
  const columnOf = (id: string): number => columns.get(id) ?? 0;
  for (const item of items) graph.setNode(nameOf(item.id), { ...(item.kind === 'handle' ? HANDLE : CARD) });
  const bundles = [...Map.groupBy(arcs, (arc) => JSON.stringify([arc.left, arc.right])).values()];
  for (const bundle of bundles) {
    const [arc] = bundle;
    if (arc === undefined) continue;
    const weight = bundle.reduce((sum, { link }) => sum + (link.type === 'blocks' ? 3 : 1), 0);
    graph.setEdge(nameOf(arc.left), nameOf(arc.right), {
      weight,
      minlen: columnOf(arc.right) - columnOf(arc.left),
    });
  }
  dagre.layout(graph);

  const ways = bundles.flatMap((bundle) =>
    bundle.map((arc, lane) => {
      const { points } = graph.edge(nameOf(arc.left), nameOf(arc.right));
      const shift = (lane - (bundle.length - 1) / 2) * LANE;
      return { arc, passes: listPasses(points, columnOf(arc.left), shift) };
    }),
  );
  const heights = items.map((item) => {
    const { height } = item.kind === 'handle' ? HANDLE : CARD;
    return { id: item.id, y: graph.node(nameOf(item.id)).y - height / 2, height };
  });
  return toBlock(heights, ways, columnOf);
}

/** Dagre puts a point into each column and one between each two. */
function listPasses(points: readonly Point[], start: number, shift: number): Pass[] {
  return points
    .slice(1, -1)
    .filter((_, i) => i % 2 === 1)
    .map((point, i) => ({ column: start + i + 1, y: point.y + shift }));
}

function toBlock(
  heights: readonly { id: string; y: number; height: number }[],
  ways: readonly { arc: Arc; passes: readonly Pass[] }[],
  columnOf: (id: string) => number,
): Block {
  const tops = heights.map(({ y }) => y);
  const bottoms = heights.map(({ y, height }) => y + height);
  for (const { y } of ways.flatMap((way) => way.passes)) {
    tops.push(y - LANE);
    bottoms.push(y + LANE);
  }
  const top = Math.min(...tops);
  const used = heights.map(({ id }) => columnOf(id));
  return {
    first: Math.min(...used),
    last: Math.max(...used),
    height: Math.max(...bottoms) - top,
    side: 0,
    items: new Map(heights.map(({ id, y }) => [id, { column: columnOf(id), y: y - top }] as const)),
    boxes: new Map(),
    ways: new Map(
      ways.map(({ arc, passes }) => [arc, passes.map(({ column, y }) => ({ column, y: y - top }))] as const),
    ),
  };
}

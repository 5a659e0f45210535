import { boundsOf, GAP, type Point, type Rect, type Size } from './graph-svg-geometry.ts';

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

/** A line that needs a way; without an end it leads to the left or the right border. */
export interface Track {
  readonly left: string | null;
  readonly right: string | null;
  readonly weight: number;
}

export interface DagreResult {
  readonly bounds: Rect;
  readonly units: ReadonlyMap<string, Rect>;
  /** Where the column of each unit ends; wider units than itself may share it. */
  readonly column_ends: ReadonlyMap<string, number>;
  /** For each track the points where it enters and leaves the columns between its ends. */
  readonly ways: ReadonlyMap<Track, readonly Point[]>;
}

/** Between lines that share one way. */
const LANE = 8;

/**
 * One level of a drawing: units of any size in columns. Two things that dagre 3.1.1 offers are left unused: its
 * boxes inside boxes overlapped their neighbours in one of three random graphs, and several edges between the
 * same two nodes made it throw.
 */
export function placeUnits(
  dagre: Dagre,
  units: ReadonlyMap<string, Size>,
  tracks: readonly Track[],
  ranks: ReadonlyMap<string, number>,
): DagreResult {
  const graph = new dagre.Graph();
  graph.setGraph({ rankdir: 'LR', nodesep: GAP.down, edgesep: 16, ranksep: GAP.across });
  // Names of our own: dagre keeps them as keys of plain objects.
  const names = new Map([...units.keys()].map((key, i) => [key, `n${i}`] as const));
  for (const [key, { width, height }] of units) graph.setNode(names.get(key) ?? '', { width, height });
  // All lines from the left come out of one node, which has to lie left of every unit.
  const first = tracks.some((track) => track.left === null) ? listFirst(units, tracks) : [];
  const groups = Map.groupBy([...tracks, ...first], (track) => JSON.stringify([track.left, track.right]));
  const last = Math.max(0, ...[...units.keys()].map((key) => ranks.get(key) ?? 0));
  const ways = [...groups.values()].flatMap((lanes, i) => {
    const { left, right } = lanes[0] ?? { left: null, right: null };
    const from = (left === null ? undefined : names.get(left)) ?? 'in';
    const to = (right === null ? undefined : names.get(right)) ?? `out${i}`;
    if (left === null) graph.setNode(from, { width: 0, height: 0 });
    if (right === null) graph.setNode(to, { width: 0, height: 0 });
    const weight = lanes.reduce((sum, lane) => sum + lane.weight, 0);
    // A way to the right border passes every column on that side.
    const minlen = right === null ? 1 + last - (ranks.get(left ?? '') ?? 0) : 1;
    graph.setEdge(from, to, { weight, minlen });
    return lanes.map((track, lane) => ({ track, from, to, shift: (lane - (lanes.length - 1) / 2) * LANE }));
  });
  dagre.layout(graph);
  const columns = listColumns(units, (key) => graph.node(names.get(key) ?? ''));
  const followed = new Map(
    ways.map(({ track, from, to, shift }) => [
      track,
      followColumns(graph.edge(from, to).points, columns.spans, shift),
    ]),
  );
  return {
    bounds: boundsOf([...columns.units.values(), ...[...followed.values()].flat().map(toMargin)]),
    units: columns.units,
    column_ends: columns.ends,
    ways: followed,
  };
}

/** A line at the rim of a box needs some room as well. */
function toMargin(point: Point): Rect {
  return { x: point.x, y: point.y - LANE, width: 0, height: 2 * LANE };
}

/** Ties every unit that nothing else holds to the left border; it weighs nothing. */
function listFirst(units: ReadonlyMap<string, Size>, tracks: readonly Track[]): Track[] {
  const held = new Set(tracks.map((track) => track.right));
  return [...units.keys()].filter((key) => !held.has(key)).map((right) => ({ left: null, right, weight: 0 }));
}

type Spans = ReadonlyMap<number, { readonly left: number; readonly right: number }>;

/** Dagre centres a column; cards read better when they begin on one line. */
function listColumns(
  units: ReadonlyMap<string, Size>,
  middleOf: (key: string) => Point,
): {
  readonly units: ReadonlyMap<string, Rect>;
  readonly ends: ReadonlyMap<string, number>;
  readonly spans: Spans;
} {
  const halves = new Map<number, number>();
  for (const [key, size] of units) {
    const x = Math.round(middleOf(key).x);
    halves.set(x, Math.max(halves.get(x) ?? 0, size.width / 2));
  }
  const spans = new Map([...halves].map(([x, half]) => [x, { left: x - half, right: x + half }] as const));
  const rects = new Map<string, Rect>();
  const ends = new Map<string, number>();
  for (const [key, size] of units) {
    const middle = middleOf(key);
    const { left, right } = spans.get(Math.round(middle.x)) ?? { left: middle.x, right: middle.x };
    ends.set(key, right);
    rects.set(key, { x: left, y: middle.y - size.height / 2, width: size.width, height: size.height });
  }
  return { units: rects, ends, spans };
}

/** Straight where it passes a column of cards, so that it bends only in the space between two columns. */
function followColumns(points: readonly Point[], spans: Spans, shift: number): Point[] {
  return points.slice(1, -1).flatMap(({ x, y }) => {
    const span = spans.get(Math.round(x));
    if (span === undefined) return [];
    return [
      { x: span.left, y: y + shift },
      { x: span.right, y: y + shift },
    ];
  });
}

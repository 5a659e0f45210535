import { boundsOf, GAP, type Point, type Rect, type Size } from './graph-svg-geometry.ts';

/** What we use of dagre; under `nodenext` its own declarations resolve to `any`. */
export interface Dagre {
  Graph: new (options: { multigraph: boolean }) => DagreGraph;
  layout(graph: DagreGraph): unknown;
}
interface DagreGraph {
  setGraph(label: Readonly<Record<string, string | number>>): unknown;
  setNode(name: string, label: Size): unknown;
  setEdge(from: string, to: string, label: { weight: number; minlen: number }, name: string): unknown;
  node(name: string): Point;
  edge(ends: { v: string; w: string; name: string }): { points: readonly Point[] };
}

/** A line that needs a way; without an end it leads to the left or the right border. */
export interface Track {
  readonly left: string | null;
  readonly right: string | null;
  readonly weight: number;
  /** Only holds its ends beside each other; nothing is drawn. */
  readonly hidden?: true;
}

export interface DagreResult {
  readonly bounds: Rect;
  readonly units: ReadonlyMap<string, Rect>;
  /** For each track the points where it enters and leaves the columns between its ends. */
  readonly ways: readonly (readonly Point[])[];
}

/**
 * One level of a drawing: units of any size in columns. Dagre's own boxes inside boxes overlapped their
 * neighbours in one of four random graphs and threw in others (3.1.1), so each box is laid out by itself.
 */
export function placeUnits(
  dagre: Dagre,
  units: ReadonlyMap<string, Size>,
  tracks: readonly Track[],
  ranks: ReadonlyMap<string, number>,
): DagreResult {
  const graph = new dagre.Graph({ multigraph: true });
  graph.setGraph({ rankdir: 'LR', nodesep: GAP.down, edgesep: 16, ranksep: GAP.across });
  // Names of our own: dagre keeps them as keys of plain objects.
  const names = new Map([...units.keys()].map((key, i) => [key, `n${i}`] as const));
  for (const [key, size] of units) graph.setNode(names.get(key) ?? '', { ...size });
  const last = Math.max(0, ...ranks.values());
  const ends = tracks.map((track, i) => {
    const v = track.left === null ? `in${i}` : (names.get(track.left) ?? '');
    const w = track.right === null ? `out${i}` : (names.get(track.right) ?? '');
    if (track.left === null) graph.setNode(v, { width: 0, height: 0 });
    if (track.right === null) graph.setNode(w, { width: 0, height: 0 });
    const minlen =
      track.left === null
        ? 1 + (ranks.get(track.right ?? '') ?? 0)
        : track.right === null
          ? 1 + last - (ranks.get(track.left) ?? 0)
          : 1;
    graph.setEdge(v, w, { weight: track.weight, minlen }, `e${i}`);
    return { v, w, name: `e${i}` };
  });
  dagre.layout(graph);
  const columns = listColumns(units, (key) => graph.node(names.get(key) ?? ''));
  return {
    bounds: boundsOf(columns.units.values()),
    units: columns.units,
    ways: ends.map((end, i) => (tracks[i]?.hidden ? [] : followColumns(graph.edge(end).points, columns.spans))),
  };
}

type Spans = ReadonlyMap<number, { readonly left: number; readonly right: number }>;

/** Dagre centres a column; cards read better when they begin on one line. */
function listColumns(
  units: ReadonlyMap<string, Size>,
  middleOf: (key: string) => Point,
): { readonly units: ReadonlyMap<string, Rect>; readonly spans: Spans } {
  const halves = new Map<number, number>();
  for (const [key, size] of units) {
    const x = Math.round(middleOf(key).x);
    halves.set(x, Math.max(halves.get(x) ?? 0, size.width / 2));
  }
  const spans = new Map([...halves].map(([x, half]) => [x, { left: x - half, right: x + half }] as const));
  const rects = new Map<string, Rect>();
  for (const [key, size] of units) {
    const middle = middleOf(key);
    const left = spans.get(Math.round(middle.x))?.left ?? middle.x - size.width / 2;
    rects.set(key, { x: left, y: middle.y - size.height / 2, width: size.width, height: size.height });
  }
  return { units: rects, spans };
}

/** Straight where it passes a column of cards, so that it bends only in the space between two columns. */
function followColumns(points: readonly Point[], spans: Spans): Point[] {
  return points.slice(1, -1).flatMap(({ x, y }) => {
    const span = spans.get(Math.round(x));
    if (span === undefined) return [];
    return [
      { x: span.left, y },
      { x: span.right, y },
    ];
  });
}

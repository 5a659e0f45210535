import type { GraphShape } from './graph-shape.ts';
import { splitShape } from './graph-svg-clusters.ts';
import { type Arc, findColumns } from './graph-svg-columns.ts';
import { CARD, GAP, type PlacedLink, type Placement, type Rect } from './graph-svg-geometry.ts';
import { packParts } from './graph-svg-pack.ts';

/** A taller column is broken into several. */
const COLUMN_CARDS = 36;
const SWEEPS = 6;

/**
 * Places a graph that is too big for dagre: columns by what waits for what, rows by the mean of the neighbours.
 * Time grows with tasks and links, not with the length of links; those run behind the cards.
 */
export function placeLayered(shape: GraphShape): Placement {
  return packParts(splitShape(shape), placeCluster);
}

function placeCluster(shape: GraphShape): Placement {
  const { arcs, items: columns } = findColumns(shape);
  const rows = orderRows(columns, arcs);
  const items = new Map<string, Rect>();
  const tallest = Math.max(...rows.map((column) => countRows(column)));
  let x = 0;
  for (const column of rows) {
    const count = countRows(column);
    const top = ((tallest - count) / 2) * (CARD.height + GAP.down);
    column.forEach((id, i) => {
      const part = Math.floor(i / count);
      const y = top + (i % count) * (CARD.height + GAP.down);
      items.set(id, { x: x + part * (CARD.width + GAP.down), y, ...CARD });
    });
    x += Math.ceil(column.length / count) * (CARD.width + GAP.down) - GAP.down + GAP.across;
  }
  return {
    width: x - GAP.across,
    height: tallest * (CARD.height + GAP.down) - GAP.down,
    items,
    boxes: new Map(),
    links: arcs.flatMap((arc) => drawArc(arc, items)),
  };
}

function countRows(column: readonly string[]): number {
  return Math.ceil(column.length / Math.ceil(column.length / COLUMN_CARDS));
}

/** The ids of each column from top to bottom. */
function orderRows(columns: ReadonlyMap<string, number>, arcs: readonly Arc[]): string[][] {
  const groups = Map.groupBy(columns.keys(), (id) => columns.get(id) ?? 0);
  const rows = [...groups].toSorted(([a], [b]) => a - b).map(([, ids]) => ids);
  const before = Map.groupBy(arcs, (arc) => arc.right);
  const after = Map.groupBy(arcs, (arc) => arc.left);
  const heights = new Map<string, number>();
  const settle = (column: readonly string[]): void => {
    column.forEach((id, i) => heights.set(id, i - (column.length - 1) / 2));
  };
  rows.forEach(settle);
  const sweep = (column: string[], neighbours: (id: string) => readonly string[]): void => {
    const wishes = new Map(column.map((id) => [id, meanOf(neighbours(id), heights) ?? heights.get(id) ?? 0]));
    column.sort((a, b) => (wishes.get(a) ?? 0) - (wishes.get(b) ?? 0));
    settle(column);
  };
  for (let i = 0; i < SWEEPS; i += 1) {
    if (i % 2 === 0) {
      for (const column of rows) sweep(column, (id) => (before.get(id) ?? []).map((arc) => arc.left));
      continue;
    }
    for (const column of rows.toReversed()) {
      sweep(column, (id) => (after.get(id) ?? []).map((arc) => arc.right));
    }
  }
  return rows;
}

function meanOf(ids: readonly string[], heights: ReadonlyMap<string, number>): number | undefined {
  if (ids.length === 0) return undefined;
  return ids.reduce((sum, id) => sum + (heights.get(id) ?? 0), 0) / ids.length;
}

function drawArc(arc: Arc, items: ReadonlyMap<string, Rect>): PlacedLink[] {
  const [left, right] = [items.get(arc.left), items.get(arc.right)];
  if (left === undefined || right === undefined) return [];
  const points = [
    { x: left.x + left.width, y: left.y + left.height / 2 },
    { x: right.x, y: right.y + right.height / 2 },
  ];
  return [{ link: arc.link, points: arc.reversed ? points.toReversed() : points }];
}

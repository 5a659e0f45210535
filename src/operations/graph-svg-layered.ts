import { boundsOf, CARD, GAP, type PlacedLink, type Placement, type Rect } from './graph-svg-geometry.ts';
import type { Level, LevelArc } from './graph-svg-levels.ts';

/** A taller column is broken into several. */
const COLUMN_CARDS = 36;
const SWEEPS = 6;

/**
 * One connected part of a graph too big for dagre: columns by the longest way, rows by the mean of the
 * neighbours. Time grows with tasks and links, not with the length of links; those run behind the cards.
 */
export function placeLayered(level: Level): Placement {
  const rows = orderRows(level);
  const items = new Map<string, Rect>();
  let x = 0;
  for (const column of rows) {
    const parts = Math.ceil(column.length / COLUMN_CARDS);
    const perPart = Math.ceil(column.length / parts);
    column.forEach((key, i) => {
      const part = Math.floor(i / perPart);
      const count = Math.min(perPart, column.length - part * perPart);
      const y = ((i % perPart) - (count - 1) / 2) * (CARD.height + GAP.down);
      items.set(key.slice(1), { x: x + part * (CARD.width + GAP.down), y, ...CARD });
    });
    x += parts * (CARD.width + GAP.down) - GAP.down + GAP.across;
  }
  const bounds = boundsOf(items.values());
  for (const [id, rect] of items) items.set(id, { ...rect, y: rect.y - bounds.y });
  const links = level.arcs.flatMap((arc) => drawArc(arc, items));
  return { width: bounds.width, height: bounds.height, items, boxes: new Map(), links, exits: new Map(), entries: new Map() };
}

/** The keys of each column from top to bottom. */
function orderRows(level: Level): string[][] {
  const keys = level.items.map((item) => `t${item.id}`);
  const groups = Map.groupBy(keys, (key) => level.ranks.get(key) ?? 0);
  const columns = [...groups.keys()].toSorted((a, b) => a - b).map((rank) => groups.get(rank) ?? []);
  const before = Map.groupBy(level.arcs, (arc) => arc.right);
  const after = Map.groupBy(level.arcs, (arc) => arc.left);
  const heights = new Map<string, number>();
  const settle = (column: string[]): void => {
    column.forEach((key, i) => heights.set(key, i - (column.length - 1) / 2));
  };
  columns.forEach(settle);
  const sweep = (column: string[], neighbours: (key: string) => readonly string[]): void => {
    const wish = new Map(column.map((key) => [key, meanOf(neighbours(key), heights) ?? heights.get(key) ?? 0]));
    column.sort((a, b) => (wish.get(a) ?? 0) - (wish.get(b) ?? 0));
    settle(column);
  };
  for (let i = 0; i < SWEEPS; i += 1) {
    if (i % 2 === 0) {
      for (const column of columns) sweep(column, (key) => (before.get(key) ?? []).map((arc) => arc.left));
    } else {
      for (const column of columns.toReversed()) {
        sweep(column, (key) => (after.get(key) ?? []).map((arc) => arc.right));
      }
    }
  }
  return columns;
}

function meanOf(keys: readonly string[], heights: ReadonlyMap<string, number>): number | undefined {
  if (keys.length === 0) return undefined;
  return keys.reduce((sum, key) => sum + (heights.get(key) ?? 0), 0) / keys.length;
}

function drawArc(arc: LevelArc, items: ReadonlyMap<string, Rect>): PlacedLink[] {
  const left = items.get(arc.left.slice(1));
  const right = items.get(arc.right.slice(1));
  if (left === undefined || right === undefined) return [];
  const points = [
    { x: left.x + left.width, y: left.y + left.height / 2 },
    { x: right.x, y: right.y + right.height / 2 },
  ];
  return [{ link: arc.link.link, points: arc.reversed ? points.toReversed() : points }];
}

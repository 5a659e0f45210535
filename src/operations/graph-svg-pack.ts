import { compareUrgency } from './graph-label.ts';
import type { ShapeItem } from './graph-shape.ts';
import { CARD, GAP, movePlacement, type Placement, type Point, type Rect } from './graph-svg-geometry.ts';
import type { Level } from './graph-svg-levels.ts';

/** Width by height that a screen likes. */
const ASPECT = 1.7;

/**
 * Places the connected parts of a level one by one. Those with lines to the outside lie under each other, so
 * that their lines reach the border; the others fill rows below, and tasks without any link form a grid.
 */
export function packLevel(
  level: Level,
  options: { space: number; place: (part: Level) => Placement },
): Placement {
  const parts = splitLevel(level);
  const isLone = (part: Level): boolean =>
    part.items.length === 1 && part.boxes.length === 0 && !leadsOut(part);
  const through = parts.filter(leadsOut).map(options.place);
  const closed = parts.filter((part) => !leadsOut(part) && !isLone(part)).map(options.place);
  const shelves = packShelves(closed, options.space);
  const width = Math.max(shelves.width, ...through.map((part) => part.width));
  const grid = placeGrid(parts.filter(isLone).flatMap((part) => part.items), width);
  const rows = [...through, shelves, grid].filter((part) => part.height > 0);
  let y = -options.space;
  return merge(
    rows.map((part, i) => {
      y += (rows[i - 1]?.height ?? 0) + options.space;
      return { part, at: { x: 0, y } };
    }),
  );
}

function leadsOut(part: Level): boolean {
  return part.exits.size + part.entries.size > 0;
}

function splitLevel(level: Level): Level[] {
  const groups = new Map<string, string>();
  const rootOf = (key: string): string => {
    let root = key;
    for (let up = groups.get(root); up !== undefined; up = groups.get(root)) root = up;
    for (let walk = key; walk !== root; ) {
      const up = groups.get(walk) ?? root;
      groups.set(walk, root);
      walk = up;
    }
    return root;
  };
  for (const { left, right } of level.arcs) {
    const [a, b] = [rootOf(left), rootOf(right)];
    if (a !== b) groups.set(b, a);
  }
  const items = Map.groupBy(level.items, (item) => rootOf(`t${item.id}`));
  const boxes = Map.groupBy(level.boxes, (box) => rootOf(`b${box.id}`));
  const arcs = Map.groupBy(level.arcs, (arc) => rootOf(arc.left));
  const exits = Map.groupBy(level.exits, ([, unit]) => rootOf(unit));
  const entries = Map.groupBy(level.entries, ([, unit]) => rootOf(unit));
  return [...new Set([...items.keys(), ...boxes.keys()])].map((root) => ({
    items: items.get(root) ?? [],
    boxes: boxes.get(root) ?? [],
    arcs: arcs.get(root) ?? [],
    ranks: level.ranks,
    exits: new Map(exits.get(root)),
    entries: new Map(entries.get(root)),
  }));
}

/** Tall ones first, in rows; a small one goes under its neighbour where the row leaves room. */
function packShelves(parts: readonly Placement[], space: number): Placement {
  const area = parts.reduce((sum, part) => sum + (part.width + space) * (part.height + space), 0);
  const limit = Math.max(Math.sqrt(area * ASPECT), ...parts.map((part) => part.width));
  const shelf = { top: 0, height: 0, right: 0 };
  const column = { x: 0, width: 0, bottom: 0 };
  const placed = parts
    .toSorted((a, b) => b.height - a.height)
    .map((part) => {
      const fitsBelow = column.bottom + space + part.height <= shelf.top + shelf.height;
      let at: Point = { x: column.x, y: column.bottom + space };
      if (!fitsBelow || part.width > column.width) {
        if (shelf.right > 0 && shelf.right + space + part.width > limit) {
          Object.assign(shelf, { top: shelf.top + shelf.height + space, height: 0, right: 0 });
        }
        const x = shelf.right === 0 ? 0 : shelf.right + space;
        at = { x, y: shelf.top };
        Object.assign(column, { x, width: part.width });
        Object.assign(shelf, { right: x + part.width, height: Math.max(shelf.height, part.height) });
      }
      column.bottom = at.y + part.height;
      return { part, at };
    });
  return merge(placed);
}

function placeGrid(lone: readonly ShapeItem[], width: number): Placement {
  const step = { x: CARD.width + GAP.down, y: CARD.height + GAP.down };
  const wanted = Math.round(Math.sqrt((lone.length * ASPECT * step.y) / step.x));
  const columns = Math.max(1, wanted, Math.floor((width + GAP.down) / step.x));
  const items = new Map<string, Rect>();
  lone.toSorted(compareUrgency).forEach((item, i) => {
    const x = (i % columns) * step.x;
    items.set(item.id, { x, y: Math.floor(i / columns) * step.y, ...CARD });
  });
  const rows = Math.ceil(lone.length / columns);
  return {
    width: Math.max(0, Math.min(lone.length, columns) * step.x - GAP.down),
    height: Math.max(0, rows * step.y - GAP.down),
    items,
    boxes: new Map(),
    links: [],
    exits: new Map(),
    entries: new Map(),
  };
}

function merge(placed: readonly { part: Placement; at: Point }[]): Placement {
  const parts = placed.map(({ part, at }) => movePlacement(part, at));
  return {
    width: Math.max(0, ...placed.map(({ part, at }) => at.x + part.width)),
    height: Math.max(0, ...placed.map(({ part, at }) => at.y + part.height)),
    items: new Map(parts.flatMap((part) => [...part.items])),
    boxes: new Map(parts.flatMap((part) => [...part.boxes])),
    links: parts.flatMap((part) => part.links),
    exits: new Map(parts.flatMap((part) => [...part.exits])),
    entries: new Map(parts.flatMap((part) => [...part.entries])),
  };
}

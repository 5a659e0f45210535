import type { ShapeItem } from './graph-shape.ts';
import { compareUrgency } from './graph-label.ts';
import { CARD, GAP, movePlacement, type Placement, type Point, type Rect } from './graph-svg-geometry.ts';
import type { Level } from './graph-svg-levels.ts';

/** Between parts that have nothing to do with each other. */
const SPACE = 44;
/** Width by height that a screen likes. */
const ASPECT = 1.7;

/** Places the connected parts of the paper one by one and puts them side by side; lone tasks form a grid below. */
export function packComponents(paper: Level, place: (part: Level) => Placement): Placement {
  const parts = splitComponents(paper);
  const lone = parts.filter(isLone).flatMap((part) => part.items);
  const placed = parts.filter((part) => !isLone(part)).map(place);
  const shelves = packShelves(placed);
  const grid = placeGrid(lone, shelves.width);
  if (lone.length === 0) return shelves;
  const top = placed.length === 0 ? 0 : shelves.height + SPACE;
  return merge([shelves, movePlacement(grid, { x: 0, y: top })]);
}

function isLone(part: Level): boolean {
  return part.items.length === 1 && part.boxes.length === 0;
}

function splitComponents(level: Level): Level[] {
  const groups = new Map<string, string>();
  const rootOf = (key: string): string => {
    let root = key;
    for (let up = groups.get(root); up !== undefined; up = groups.get(root)) root = up;
    for (let walk = key; walk !== root;) {
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
  return [...new Set([...items.keys(), ...boxes.keys()])].map((root) => ({
    ...level,
    items: items.get(root) ?? [],
    boxes: boxes.get(root) ?? [],
    arcs: arcs.get(root) ?? [],
  }));
}

/** Tall ones first, in rows; a small one goes under its neighbour where the row leaves room. */
function packShelves(parts: readonly Placement[]): Placement {
  const area = parts.reduce((sum, part) => sum + (part.width + SPACE) * (part.height + SPACE), 0);
  const limit = Math.max(Math.sqrt(area * ASPECT), ...parts.map((part) => part.width));
  const moved: Placement[] = [];
  const shelf = { top: 0, height: 0, right: 0 };
  const column = { x: 0, width: 0, bottom: 0 };
  for (const part of parts.toSorted((a, b) => b.height - a.height)) {
    const fitsBelow = column.bottom + SPACE + part.height <= shelf.top + shelf.height;
    let at: Point = { x: column.x, y: column.bottom + SPACE };
    if (!fitsBelow || part.width > column.width) {
      if (shelf.right > 0 && shelf.right + SPACE + part.width > limit) {
        Object.assign(shelf, { top: shelf.top + shelf.height + SPACE, height: 0, right: 0 });
      }
      const x = shelf.right === 0 ? 0 : shelf.right + SPACE;
      at = { x, y: shelf.top };
      Object.assign(column, { x, width: part.width });
      Object.assign(shelf, { right: x + part.width, height: Math.max(shelf.height, part.height) });
    }
    column.bottom = at.y + part.height;
    moved.push(movePlacement(part, at));
  }
  return merge(moved);
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
  return merge([{ width: 0, height: 0, items, boxes: new Map(), links: [] }]);
}

function merge(parts: readonly Placement[]): Placement {
  const items = new Map(parts.flatMap((part) => [...part.items]));
  const boxes = new Map(parts.flatMap((part) => [...part.boxes]));
  let [width, height] = [0, 0];
  for (const rects of [items, boxes]) {
    for (const rect of rects.values()) {
      width = Math.max(width, rect.x + rect.width);
      height = Math.max(height, rect.y + rect.height);
    }
  }
  return { width, height, items, boxes, links: parts.flatMap((part) => part.links) };
}

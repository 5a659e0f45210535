import { compareUrgency } from './graph-label.ts';
import type { GraphShape, ShapeItem } from './graph-shape.ts';
import { CARD, GAP, movePlacement, type Placement, type Point, type Rect } from './graph-svg-geometry.ts';

/** Width by height that a screen likes. */
const ASPECT = 1.7;

/** Places parts that have no link to each other side by side; tasks without any link form a grid below. */
export function packParts(parts: readonly GraphShape[], place: (part: GraphShape) => Placement): Placement {
  const isLone = (part: GraphShape): boolean => part.items.length === 1 && part.boxes.length === 0;
  const shelves = packShelves(parts.filter((part) => !isLone(part)).map(place));
  const lone = parts.filter(isLone).flatMap((part) => part.items);
  if (lone.length === 0) return shelves;
  const top = shelves.height === 0 ? 0 : shelves.height + GAP.parts;
  return merge([
    { part: shelves, at: { x: 0, y: 0 } },
    { part: placeGrid(lone, shelves.width), at: { x: 0, y: top } },
  ]);
}

/** Tall ones first, in rows; a small one goes under its neighbour where the row leaves room. */
function packShelves(parts: readonly Placement[]): Placement {
  const area = parts.reduce((sum, part) => sum + (part.width + GAP.parts) * (part.height + GAP.parts), 0);
  const limit = Math.max(Math.sqrt(area * ASPECT), ...parts.map((part) => part.width));
  const shelf = { top: 0, height: 0, right: 0 };
  const column = { x: 0, width: 0, bottom: 0 };
  const placed = parts
    .toSorted((a, b) => b.height - a.height)
    .map((part) => {
      const fitsBelow = column.bottom + GAP.parts + part.height <= shelf.top + shelf.height;
      let at: Point = { x: column.x, y: column.bottom + GAP.parts };
      if (!fitsBelow || part.width > column.width) {
        if (shelf.right > 0 && shelf.right + GAP.parts + part.width > limit) {
          Object.assign(shelf, { top: shelf.top + shelf.height + GAP.parts, height: 0, right: 0 });
        }
        const x = shelf.right === 0 ? 0 : shelf.right + GAP.parts;
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
  return {
    width: Math.min(lone.length, columns) * step.x - GAP.down,
    height: Math.ceil(lone.length / columns) * step.y - GAP.down,
    items,
    boxes: new Map(),
    links: [],
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
  };
}

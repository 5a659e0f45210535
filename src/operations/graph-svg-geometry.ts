import type { ShapeLink } from './graph-shape.ts';

export const CARD = { width: 244, height: 98 } as const;
export const HANDLE = { width: 108, height: 30 } as const;
/** Around what a box holds. */
export const BOX = { header: 42, side: 20, below: 20 } as const;
/** Between cards of one column, between columns, and between parts that have no link to each other. */
export const GAP = { down: 24, across: 68, parts: 44 } as const;

export interface Point {
  readonly x: number;
  readonly y: number;
}

export interface Size {
  readonly width: number;
  readonly height: number;
}

export interface Rect extends Point, Size {}

export interface PlacedLink {
  readonly link: ShapeLink;
  /** From the arrow's tail to its head; the line bends in an S between each two. */
  readonly points: readonly Point[];
}

/** Where everything is; (0, 0) is the top left corner. */
export interface Placement extends Size {
  readonly items: ReadonlyMap<string, Rect>;
  readonly boxes: ReadonlyMap<string, Rect>;
  readonly links: readonly PlacedLink[];
  /** Ways from something inside to the right border, by the port of the link. */
  readonly exits: Ways;
  /** Ways from the left border to something inside. */
  readonly entries: Ways;
}

export type Ways = ReadonlyMap<string, readonly Point[]>;

export function movePoints(points: readonly Point[], by: Point): Point[] {
  return points.map(({ x, y }) => ({ x: x + by.x, y: y + by.y }));
}

export function movePlacement(placement: Placement, by: Point): Placement {
  const move = (rects: ReadonlyMap<string, Rect>): Map<string, Rect> =>
    new Map([...rects].map(([id, rect]) => [id, { ...rect, x: rect.x + by.x, y: rect.y + by.y }] as const));
  const moveWays = (ways: Ways): Ways =>
    new Map([...ways].map(([port, points]) => [port, movePoints(points, by)] as const));
  return {
    width: placement.width,
    height: placement.height,
    items: move(placement.items),
    boxes: move(placement.boxes),
    links: placement.links.map(({ link, points }) => ({ link, points: movePoints(points, by) })),
    exits: moveWays(placement.exits),
    entries: moveWays(placement.entries),
  };
}

/** The smallest that holds all of them. */
export function boundsOf(rects: Iterable<Rect>): Rect {
  let [left, top, right, bottom] = [Infinity, Infinity, -Infinity, -Infinity];
  for (const rect of rects) {
    left = Math.min(left, rect.x);
    top = Math.min(top, rect.y);
    right = Math.max(right, rect.x + rect.width);
    bottom = Math.max(bottom, rect.y + rect.height);
  }
  if (left === Infinity) return { x: 0, y: 0, width: 0, height: 0 };
  return { x: left, y: top, width: right - left, height: bottom - top };
}

import type { ShapeLink } from './graph-shape.ts';

export const CARD = { width: 244, height: 98 } as const;
export const HANDLE = { width: 108, height: 30 } as const;
/** Around what a box holds; `side` once for every box inside one another. */
export const BOX = { header: 42, side: 18, below: 20, title: 30 } as const;
/** Between cards of one column, between columns, and between parts that have no link to each other. */
export const GAP = { down: 24, across: 84, parts: 44 } as const;

export interface Point {
  readonly x: number;
  readonly y: number;
}

export interface LinkPoint extends Point {
  /** How far the middle of the S that leads here is moved aside, so that steep lines do not hide each other. */
  readonly aside?: number;
}

export interface Size {
  readonly width: number;
  readonly height: number;
}

export interface Rect extends Point, Size {}

export interface PlacedLink {
  readonly link: ShapeLink;
  /** From the arrow's tail to its head; the line bends in an S between each two. */
  readonly points: readonly LinkPoint[];
}

/** Where everything is; (0, 0) is the top left corner. */
export interface Placement extends Size {
  readonly items: ReadonlyMap<string, Rect>;
  readonly boxes: ReadonlyMap<string, Rect>;
  readonly links: readonly PlacedLink[];
}

export function movePlacement(placement: Placement, by: Point): Placement {
  const move = <P extends Point>(point: P): P => ({ ...point, x: point.x + by.x, y: point.y + by.y });
  const moveAll = (rects: ReadonlyMap<string, Rect>): Map<string, Rect> =>
    new Map([...rects].map(([id, rect]) => [id, move(rect)] as const));
  return {
    width: placement.width,
    height: placement.height,
    items: moveAll(placement.items),
    boxes: moveAll(placement.boxes),
    links: placement.links.map(({ link, points }) => ({ link, points: points.map(move) })),
  };
}

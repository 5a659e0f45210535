import type { Block, Pass } from './graph-svg-blocks.ts';
import type { Arc } from './graph-svg-columns.ts';
import { BOX, CARD, GAP, type PlacedLink, type Point, type Rect } from './graph-svg-geometry.ts';

/** What a line keeps away from a card, and from another line. */
const CLEAR = { card: 10, line: 7 } as const;

/** A bend of at least this height looks like a vertical line. */
const STEEP = 150;

interface Span {
  readonly top: number;
  readonly bottom: number;
}

/** Taken heights of each column. */
type Taken = Map<number, Span[]>;

interface Places {
  readonly items: ReadonlyMap<string, Rect>;
  readonly boxes: ReadonlyMap<string, Rect>;
  readonly xOf: (column: number) => number;
}

/**
 * Lines for all arcs: bent only between two columns, straight where they pass one, at a height that no card,
 * header or earlier line takes. Says also how far they reach above and below everything else.
 */
export function routeArcs(
  arcs: readonly Arc[],
  block: Block,
  places: Places,
): { readonly links: readonly PlacedLink[]; readonly top: number; readonly bottom: number } {
  const taken = listTaken(block);
  let [top, bottom] = [0, block.height];
  const routed = new Map<Arc, PlacedLink>();
  // Short ones first: they have less choice.
  const byLength = arcs
    .map((arc) => ({ arc, left: endOf(arc.left, block, places), right: endOf(arc.right, block, places) }))
    .toSorted((a, b) => a.right.first - a.left.last - (b.right.first - b.left.last));
  for (const { arc, left, right } of byLength) {
    const passes = block.ways.get(arc) ?? choosePasses(left, right, taken);
    if (!block.ways.has(arc)) for (const pass of passes) take(taken, pass.column, spanOf(pass.y, CLEAR.line));
    for (const { y } of passes)
      [top, bottom] = [Math.min(top, y - CLEAR.line), Math.max(bottom, y + CLEAR.line)];
    const points = [
      ...left.exit,
      ...passes.flatMap(({ column, y }) => [
        { x: places.xOf(column), y },
        { x: places.xOf(column) + CARD.width, y },
      ]),
      right.entry,
    ];
    routed.set(arc, { link: arc.link, points: arc.reversed ? points.toReversed() : points });
  }
  return { links: spreadBends(arcs.flatMap((arc) => routed.get(arc) ?? [])), top, bottom };
}

/** Steep lines between the same two columns get middles beside each other. */
function spreadBends(links: readonly PlacedLink[]): PlacedLink[] {
  const bends = links.flatMap(({ points }) =>
    points.flatMap((to, i) => {
      const from = points[i - 1];
      if (from === undefined || Math.abs(from.y - to.y) < STEEP) return [];
      return [
        { to, gap: Math.floor((from.x + to.x) / 2 / (CARD.width + GAP.across)), middle: (from.y + to.y) / 2 },
      ];
    }),
  );
  const asides = new Map<Point, number>();
  for (const group of Map.groupBy(bends, (bend) => bend.gap).values()) {
    const step = Math.min(7, (GAP.across * 0.56) / group.length);
    group
      .toSorted((a, b) => a.middle - b.middle)
      .forEach(({ to }, i) => asides.set(to, (i - (group.length - 1) / 2) * step));
  }
  return links.map(({ link, points }) => ({
    link,
    points: points.map((point) => {
      const aside = asides.get(point);
      return aside === undefined ? point : { ...point, aside };
    }),
  }));
}

interface End {
  readonly first: number;
  readonly last: number;
  /** Out of its right side, to the end of the column. */
  readonly exit: readonly Point[];
  readonly entry: Point;
  readonly y: number;
}

function endOf(id: string, block: Block, places: Places): End {
  const pass = block.items.get(id);
  const rect = places.items.get(id) ?? places.boxes.get(id) ?? { x: 0, y: 0, width: 0, height: 0 };
  const span = block.boxes.get(id);
  const y = pass === undefined ? rect.y + BOX.title / 2 : rect.y + rect.height / 2;
  const first = pass?.column ?? span?.first ?? 0;
  const last = pass?.column ?? span?.last ?? 0;
  const right = rect.x + rect.width;
  const columnEnd = places.xOf(last) + CARD.width;
  return {
    first,
    last,
    y,
    exit:
      right < columnEnd
        ? [
            { x: right, y },
            { x: columnEnd, y },
          ]
        : [{ x: right, y }],
    entry: { x: rect.x, y },
  };
}

function listTaken(block: Block): Taken {
  const taken: Taken = new Map();
  for (const { column, y } of block.items.values()) {
    take(taken, column, { top: y - CLEAR.card, bottom: y + CARD.height + CLEAR.card });
  }
  for (const { first, last, y } of block.boxes.values()) {
    for (let column = first; column <= last; column += 1) {
      take(taken, column, { top: y - CLEAR.line, bottom: y + BOX.title + CLEAR.line });
    }
  }
  for (const { column, y } of [...block.ways.values()].flat()) take(taken, column, spanOf(y, CLEAR.line));
  return taken;
}

function take(taken: Taken, column: number, span: Span): void {
  const others = taken.get(column);
  if (others === undefined) taken.set(column, [span]);
  else others.push(span);
}

function spanOf(y: number, clear: number): Span {
  return { top: y - clear, bottom: y + clear };
}

/** One height for all columns between the two ends: the free one that makes the shortest way. */
function choosePasses(left: End, right: End, taken: Taken): Pass[] {
  const columns: number[] = [];
  for (let column = left.last + 1; column < right.first; column += 1) columns.push(column);
  if (columns.length === 0) return [];
  const spans = columns.flatMap((column) => taken.get(column) ?? []).toSorted((a, b) => a.top - b.top);
  const y = chooseHeight(spans, left.y, right.y);
  return columns.map((column) => ({ column, y }));
}

function chooseHeight(spans: readonly Span[], from: number, to: number): number {
  const costOf = (y: number): number => Math.abs(y - from) + Math.abs(y - to);
  let best = -Infinity;
  let free = -Infinity;
  const consider = (bottom: number): void => {
    if (bottom < free) return;
    // Within a free range the height of an end is best, otherwise the nearest rim.
    for (const wish of [to, from]) {
      const y = Math.min(Math.max(wish, free), bottom);
      if (Number.isFinite(y) && (best === -Infinity || costOf(y) < costOf(best))) best = y;
    }
  };
  for (const span of spans) {
    consider(span.top);
    free = Math.max(free, span.bottom);
  }
  consider(Infinity);
  return best;
}

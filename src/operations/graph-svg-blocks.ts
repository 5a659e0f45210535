import { compareUrgency } from './graph-label.ts';
import type { GraphShape, ShapeItem } from './graph-shape.ts';
import type { Arc } from './graph-svg-columns.ts';
import { BOX, CARD, GAP } from './graph-svg-geometry.ts';

/** A height in a column. */
export interface Pass {
  readonly column: number;
  readonly y: number;
}

/** Something placed in columns `first` to `last`, its top at 0. */
export interface Block {
  readonly first: number;
  readonly last: number;
  readonly height: number;
  /** How far the frame reaches beyond the cards on both sides. */
  readonly side: number;
  readonly items: ReadonlyMap<string, Pass>;
  readonly boxes: ReadonlyMap<string, BoxSpan>;
  /** Where a line passes columns on its way. */
  readonly ways: ReadonlyMap<Arc, readonly Pass[]>;
}

export interface BoxSpan {
  readonly first: number;
  readonly last: number;
  readonly y: number;
  readonly height: number;
  readonly side: number;
}

/** Each as high as those before it leave room in its columns. */
export function stackBlocks(blocks: readonly Block[], gap: number): Block {
  const free = new Map<number, number>();
  const moved = blocks.map((block) => {
    let top = 0;
    for (let column = block.first; column <= block.last; column += 1)
      top = Math.max(top, free.get(column) ?? 0);
    for (let column = block.first; column <= block.last; column += 1)
      free.set(column, top + block.height + gap);
    return moveBlock(block, top);
  });
  return {
    first: Math.min(...blocks.map((block) => block.first)),
    last: Math.max(...blocks.map((block) => block.last)),
    height: Math.max(...free.values()) - gap,
    side: Math.max(...blocks.map((block) => block.side)),
    items: new Map(moved.flatMap((block) => [...block.items])),
    boxes: new Map(moved.flatMap((block) => [...block.boxes])),
    ways: new Map(moved.flatMap((block) => [...block.ways])),
  };
}

/** The frame and the header of a box around what it holds. */
export function frameBlock(id: string, inside: Block): Block {
  const moved = moveBlock(inside, BOX.header);
  const span = {
    first: inside.first,
    last: inside.last,
    y: 0,
    height: inside.height + BOX.header + BOX.below,
    side: inside.side + BOX.side,
  };
  return { ...moved, height: span.height, side: span.side, boxes: new Map([[id, span], ...moved.boxes]) };
}

/** One block for each task without links, filled into the columns of its box from left to right. */
export function listLooseBlocks(items: readonly ShapeItem[], columns: readonly [number, number]): Block[] {
  const [first, last] = columns;
  return items.toSorted(compareUrgency).map((item, i) => {
    const column = first + (i % (last - first + 1));
    return {
      first: column,
      last: column,
      height: CARD.height,
      side: 0,
      items: new Map([[item.id, { column, y: 0 }]]),
      boxes: new Map(),
      ways: new Map(),
    };
  });
}

/** How many columns the tasks without links of a box want. */
export function countLooseColumns(shape: GraphShape, box: string | null): number {
  const linked = new Set(shape.links.flatMap((link) => [link.from, link.to]));
  const loose = shape.items.filter((item) => item.box === box && !linked.has(item.id)).length;
  return Math.max(
    1,
    Math.round(Math.sqrt((loose * 1.7 * (CARD.height + GAP.down)) / (CARD.width + GAP.down))),
  );
}

function moveBlock(block: Block, by: number): Block {
  const move = <P extends { readonly y: number }>(part: P): P => ({ ...part, y: part.y + by });
  return {
    ...block,
    items: new Map([...block.items].map(([id, pass]) => [id, move(pass)] as const)),
    boxes: new Map([...block.boxes].map(([id, span]) => [id, move(span)] as const)),
    ways: new Map([...block.ways].map(([arc, passes]) => [arc, passes.map(move)] as const)),
  };
}

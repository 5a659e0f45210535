import type { GraphShape } from './graph-shape.ts';
import {
  type Block,
  countLooseColumns,
  frameBlock,
  listLooseBlocks,
  stackBlocks,
} from './graph-svg-blocks.ts';
import { createGroups, splitShape } from './graph-svg-clusters.ts';
import { type Arc, type Columns, findColumns } from './graph-svg-columns.ts';
import { type Dagre, placeWithDagre } from './graph-svg-dagre.ts';
import { CARD, GAP, HANDLE, movePlacement, type Placement, type Rect } from './graph-svg-geometry.ts';
import { packParts } from './graph-svg-pack.ts';
import { routeArcs } from './graph-svg-route.ts';

/**
 * Places every task of a graph of moderate size. All parts of a cluster share its columns; a box is a band of
 * its own across some of them, so that arrows run from left to right and nothing overlaps.
 */
export async function placeNested(shape: GraphShape): Promise<Placement> {
  const dagre: Dagre = await import('@dagrejs/dagre');
  return packParts(splitShape(shape), (cluster) => placeCluster(dagre, cluster));
}

function placeCluster(dagre: Dagre, shape: GraphShape): Placement {
  const columns = findColumns(shape);
  const block = buildLevel({ dagre, shape, columns }, null);
  return toPlacement(shape, block, columns.arcs);
}

interface Work {
  readonly dagre: Dagre;
  readonly shape: GraphShape;
  readonly columns: Columns;
}

/** What lies directly in a box, or on the paper. */
function buildLevel(work: Work, level: string | null): Block {
  const { shape, columns } = work;
  const items = shape.items.filter((item) => item.box === level);
  const linked = items.filter((item) => columns.items.has(item.id));
  const groups = createGroups();
  const ids = new Set(linked.map((item) => item.id));
  const arcs = columns.arcs.filter((arc) => ids.has(arc.left) && ids.has(arc.right));
  for (const arc of arcs) groups.join(arc.left, arc.right);
  const arcsOf = Map.groupBy(arcs, (arc) => groups.rootOf(arc.left));
  const parts = [...Map.groupBy(linked, (item) => groups.rootOf(item.id))].map(([root, members]) =>
    placeWithDagre(work.dagre, members, arcsOf.get(root) ?? [], columns.items),
  );
  const boxes = shape.boxes
    .filter((box) => box.box === level)
    .map((box) => frameBlock(box.id, buildLevel(work, box.id)));
  const blocks = orderBlocks([...parts, ...boxes], columns.arcs);
  const loose = items.filter((item) => !columns.items.has(item.id));
  const gap = level === null ? GAP.parts : GAP.down;
  return stackBlocks([...blocks, ...listLooseBlocks(loose, spanLoose(work, level, blocks))], gap);
}

function spanLoose(work: Work, level: string | null, blocks: readonly Block[]): readonly [number, number] {
  const bounds = level === null ? undefined : work.columns.boxes.get(level);
  if (bounds !== undefined) return bounds;
  const first = blocks.length === 0 ? 0 : Math.min(...blocks.map((block) => block.first));
  const wanted = first + countLooseColumns(work.shape, level) - 1;
  return [first, Math.max(wanted, ...blocks.map((block) => block.last))];
}

/** Starts with the leftmost and goes on with what is linked most to those before it. */
function orderBlocks(blocks: readonly Block[], arcs: readonly Arc[]): Block[] {
  const owner = new Map<string, Block>();
  for (const block of blocks)
    for (const id of [...block.items.keys(), ...block.boxes.keys()]) owner.set(id, block);
  const bonds = new Map(blocks.map((block) => [block, new Map<Block, number>()] as const));
  for (const arc of arcs) {
    const [left, right] = [owner.get(arc.left), owner.get(arc.right)];
    if (left === undefined || right === undefined || left === right) continue;
    for (const [a, b] of [
      [left, right],
      [right, left],
    ] as const) {
      bonds.get(a)?.set(b, (bonds.get(a)?.get(b) ?? 0) + 1);
    }
  }
  const waiting = new Map(
    blocks.toSorted((a, b) => a.first - b.first || b.height - a.height).map((block) => [block, 0]),
  );
  const ordered: Block[] = [];
  while (waiting.size > 0) {
    let next: Block | undefined;
    for (const [block, bond] of waiting)
      if (next === undefined || bond > (waiting.get(next) ?? 0)) next = block;
    if (next === undefined) break;
    waiting.delete(next);
    ordered.push(next);
    for (const [block, bond] of bonds.get(next) ?? []) {
      const known = waiting.get(block);
      // Between two with as many links, the one that was linked first.
      if (known !== undefined)
        waiting.set(block, known + bond + (known === 0 ? 1 / (ordered.length + 2) : 0));
    }
  }
  return ordered;
}

function toPlacement(shape: GraphShape, block: Block, arcs: readonly Arc[]): Placement {
  // Without lines the columns can stand as close as the rows, unless frames lie between them.
  const across = arcs.length > 0 ? GAP.across : Math.max(GAP.down, 2 * block.side);
  const xOf = (column: number): number => block.side + (column - block.first) * (CARD.width + across);
  const items = new Map<string, Rect>();
  for (const item of shape.items) {
    const pass = block.items.get(item.id);
    if (pass === undefined) continue;
    items.set(item.id, { x: xOf(pass.column), y: pass.y, ...(item.kind === 'handle' ? HANDLE : CARD) });
  }
  const boxes = new Map<string, Rect>();
  for (const [id, span] of block.boxes) {
    const x = xOf(span.first) - span.side;
    boxes.set(id, { x, y: span.y, width: xOf(span.last) + CARD.width + span.side - x, height: span.height });
  }
  const { links, top, bottom } = routeArcs(arcs, block, { items, boxes, xOf });
  const placement: Placement = {
    width: xOf(block.last) + CARD.width + block.side,
    height: bottom - top,
    items,
    boxes,
    links,
  };
  return top === 0 ? placement : movePlacement(placement, { x: 0, y: -top });
}

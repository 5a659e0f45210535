import type { GraphShape, ShapeBox, ShapeItem, ShapeLink } from './graph-shape.ts';
import { type Arc, orderColumns } from './graph-svg-order.ts';

/** A link between two units of one level: `t` and the id of an item, or `b` and the id of a box. */
export interface LiftedLink {
  readonly link: ShapeLink;
  readonly from: string;
  readonly to: string;
  readonly type: ShapeLink['type'];
}
export type LevelArc = Arc<LiftedLink>;

/** What lies directly in one box, or on the paper. */
export interface Level {
  readonly items: readonly ShapeItem[];
  readonly boxes: readonly ShapeBox[];
  readonly arcs: readonly LevelArc[];
  readonly ranks: ReadonlyMap<string, number>;
  /** Ports of links that leave this box to the right, with the unit that holds the end of each. */
  readonly exits: ReadonlyMap<string, string>;
  /** The same to the left. */
  readonly entries: ReadonlyMap<string, string>;
}

/** Which level each link belongs to: the innermost that holds both ends. Its units decide what is left. */
export function indexLevels(shape: GraphShape): ReadonlyMap<string | null, Level> {
  const chainOf = indexChains(shape);
  const lifted = new Map<string | null, LiftedLink[]>();
  for (const link of shape.links) {
    const from = chainOf(link.from);
    const to = chainOf(link.to);
    const depth = commonDepth(from, to);
    const level = from[depth - 1]?.slice(1) ?? null;
    const ends = { link, from: from[depth] ?? '', to: to[depth] ?? '', type: link.type };
    const others = lifted.get(level);
    if (others === undefined) lifted.set(level, [ends]);
    else others.push(ends);
  }
  const items = Map.groupBy(shape.items, (item) => item.box);
  const boxes = Map.groupBy(shape.boxes, (box) => box.box);
  const levels = new Map<string | null, Level & { exits: Map<string, string>; entries: Map<string, string> }>();
  for (const id of [null, ...shape.boxes.map((box) => box.id)]) {
    const own = { items: items.get(id) ?? [], boxes: boxes.get(id) ?? [] };
    const keys = [...own.items.map((item) => `t${item.id}`), ...own.boxes.map((box) => `b${box.id}`)];
    const { arcs, ranks } = orderColumns(keys, lifted.get(id) ?? []);
    levels.set(id, { ...own, arcs, ranks, exits: new Map(), entries: new Map() });
  }
  for (const { arcs } of levels.values()) {
    for (const arc of arcs) {
      const [left, right] = endsOf(arc);
      for (const [box, unit] of boxesBelow(chainOf(left), arc.left)) {
        levels.get(box)?.exits.set(portOf(arc, left), unit);
      }
      for (const [box, unit] of boxesBelow(chainOf(right), arc.right)) {
        levels.get(box)?.entries.set(portOf(arc, right), unit);
      }
    }
  }
  return levels;
}

/** The ids that the arc joins, left and right. */
export function endsOf(arc: LevelArc): readonly [string, string] {
  const { from, to } = arc.link.link;
  return arc.reversed ? [to, from] : [from, to];
}

/** Links of one kind share their way out of a box; a dashed line on a solid one would not be seen. */
export function portOf(arc: LevelArc, end: string): string {
  return JSON.stringify([end, arc.link.type]);
}

/** The units around an end of a link, from the paper inwards, itself last. */
function indexChains(shape: GraphShape): (id: string) => readonly string[] {
  const boxes = new Map(shape.boxes.map((box) => [box.id, box] as const));
  const around = (box: string | null): string[] => {
    const outer = box === null ? undefined : boxes.get(box);
    return outer === undefined ? [] : [...around(outer.box), `b${outer.id}`];
  };
  const chains = new Map<string, readonly string[]>();
  for (const box of shape.boxes) chains.set(box.id, around(box.id));
  for (const item of shape.items) chains.set(item.id, [...around(item.box), `t${item.id}`]);
  return (id) => chains.get(id) ?? [];
}

function commonDepth(a: readonly string[], b: readonly string[]): number {
  let depth = 0;
  while (depth < a.length - 1 && depth < b.length - 1 && a[depth] === b[depth]) depth += 1;
  return depth;
}

/** The boxes that a line to the end of this chain crosses once it is inside `unit`, with the next unit in each. */
function boxesBelow(chain: readonly string[], unit: string): [string, string][] {
  const start = chain.indexOf(unit);
  return chain.slice(start, -1).map((box, i) => [box.slice(1), chain[start + i + 1] ?? '']);
}

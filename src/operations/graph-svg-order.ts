import type { ShapeLink } from './graph-shape.ts';

/** A link as a layout wants it, with its ends in the order of the columns. */
export interface Arc<L> {
  readonly link: L;
  readonly left: string;
  readonly right: string;
  /** The arrow points from right to left. */
  readonly reversed: boolean;
}

export interface Ordering<L> {
  readonly arcs: readonly Arc<L>[];
  /** Column of each by the longest way to it. */
  readonly ranks: ReadonlyMap<string, number>;
}

type Ends = Pick<ShapeLink, 'from' | 'to' | 'type'>;

/** More than all the links that do not block can weigh together. */
const BLOCKING = 1e6;

/**
 * Columns. A link that does not block never turns round one that does; a cycle is cut at the one that waits
 * for the fewest.
 */
export function orderColumns<L extends Ends>(ids: readonly string[], links: readonly L[]): Ordering<L> {
  const positions = findPositions(ids, links);
  const arcs = links.map((link): Arc<L> => {
    const reversed = (positions.get(link.from) ?? 0) > (positions.get(link.to) ?? 0);
    return reversed
      ? { link, left: link.to, right: link.from, reversed }
      : { link, left: link.from, right: link.to, reversed };
  });
  return { arcs, ranks: findRanks(positions, arcs) };
}

function findPositions(ids: readonly string[], links: readonly Ends[]): ReadonlyMap<string, number> {
  const weightOf = (link: Ends): number => (link.type === 'blocks' ? BLOCKING : 1);
  const after = Map.groupBy(links, (link) => link.from);
  const waiting = new Map<string, number>(ids.map((id) => [id, 0]));
  for (const link of links) waiting.set(link.to, (waiting.get(link.to) ?? 0) + weightOf(link));

  const positions = new Map<string, number>();
  const fresh: string[] = [];
  const place = (id: string): void => {
    positions.set(id, positions.size);
    waiting.delete(id);
    fresh.push(id);
  };
  for (const id of ids) if (waiting.get(id) === 0) place(id);
  for (let next = 0; ; next += 1) {
    if (next === fresh.length) {
      const cut = leastOf(waiting);
      if (cut === undefined) return positions;
      place(cut);
    }
    for (const link of after.get(fresh[next] ?? '') ?? []) {
      const weight = waiting.get(link.to);
      if (weight === undefined) continue;
      const left = weight - weightOf(link);
      waiting.set(link.to, left);
      if (left === 0) place(link.to);
    }
  }
}

function leastOf(waiting: ReadonlyMap<string, number>): string | undefined {
  let least: string | undefined;
  let fewest = Infinity;
  for (const [id, count] of waiting) {
    if (count < fewest) [least, fewest] = [id, count];
  }
  return least;
}

function findRanks<L>(
  positions: ReadonlyMap<string, number>,
  arcs: readonly Arc<L>[],
): ReadonlyMap<string, number> {
  const after = Map.groupBy(arcs, (arc) => arc.left);
  const ranks = new Map<string, number>();
  for (const id of positions.keys()) {
    const rank = ranks.get(id) ?? 0;
    ranks.set(id, rank);
    for (const arc of after.get(id) ?? []) {
      ranks.set(arc.right, Math.max(ranks.get(arc.right) ?? 0, rank + 1));
    }
  }
  return ranks;
}

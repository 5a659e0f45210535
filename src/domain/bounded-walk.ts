import type { Neighbours } from './graph-paths.ts';

/** A walk over a graph that ends after a number of edges. */
interface Walk {
  readonly next: Neighbours;
  readonly most: number;
}

export type Reach =
  | { readonly outcome: 'reached'; readonly path: readonly string[] }
  | { readonly outcome: 'apart' }
  | { readonly outcome: 'too_many' };

/**
 * Whether a way leads from one task to another. It is looked for from both ends, from the one with fewer edges so far: in
 * most graphs one of them comes to its end soon.
 */
export function findReach({
  start,
  goal,
  previous,
  ...walk
}: Walk & { readonly start: string; readonly goal: string; readonly previous: Neighbours }): Reach {
  if (start === goal) return { outcome: 'reached', path: [start] };
  const ahead = openSide(start, walk.next);
  const back = openSide(goal, previous);
  while (ahead.waiting.length > ahead.done && back.waiting.length > back.done) {
    const [side, other] = ahead.edges <= back.edges ? [ahead, back] : [back, ahead];
    const met = step(side, other);
    if (met !== undefined)
      return { outcome: 'reached', path: [...wayTo(ahead, met).toReversed(), ...wayTo(back, met).slice(1)] };
    if (ahead.edges + back.edges > walk.most) return { outcome: 'too_many' };
  }
  return { outcome: 'apart' };
}

/** Everything that can be reached, the start itself too; undefined where that takes too many edges. */
export function listReached(start: string, { next, most }: Walk): ReadonlySet<string> | undefined {
  const side = openSide(start, next);
  while (side.waiting.length > side.done) {
    step(side, undefined);
    if (side.edges > most) return undefined;
  }
  return new Set(side.from.keys());
}

interface Side {
  readonly next: Neighbours;
  /** Each task that was reached, with the one that it was reached from. */
  readonly from: Map<string, string | undefined>;
  readonly waiting: string[];
  done: number;
  edges: number;
}

function openSide(start: string, next: Neighbours): Side {
  return { next, from: new Map([[start, undefined]]), waiting: [start], done: 0, edges: 0 };
}

/** Looks at the edges of one task; the task where both sides meet, if they do. */
function step(side: Side, other: Side | undefined): string | undefined {
  const at = side.waiting[side.done] ?? '';
  side.done += 1;
  for (const id of side.next(at)) {
    side.edges += 1;
    if (side.from.has(id)) continue;
    side.from.set(id, at);
    if (other?.from.has(id) === true) return id;
    side.waiting.push(id);
  }
  return undefined;
}

function wayTo({ from }: Side, met: string): string[] {
  const way: string[] = [];
  for (let at: string | undefined = met; at !== undefined; at = from.get(at)) way.push(at);
  return way;
}

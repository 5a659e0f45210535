/**
 * One cycle out of every knot of the graph, as the ids along it, smallest first. Merges can make them; nothing ever
 * cuts them, because which edge is wrong is for people to say. Linear: Tarjan's components, without recursion.
 */
export function findCycles(edges: Iterable<readonly [string, string]>): string[][] {
  const next = new Map<string, string[]>();
  for (const [from, to] of edges) {
    const known = next.get(from);
    if (known === undefined) next.set(from, [to]);
    else known.push(to);
  }
  return findKnots(next)
    .map((knot) => walkRound(knot, next))
    .sort(([a = ''], [b = '']) => (a < b ? -1 : 1));
}

interface Visit {
  readonly id: string;
  at: number;
}

function findKnots(next: ReadonlyMap<string, readonly string[]>): string[][] {
  const order = new Map<string, number>();
  const low = new Map<string, number>();
  const open: string[] = [];
  const isOpen = new Set<string>();
  const knots: string[][] = [];
  for (const start of next.keys()) {
    if (order.has(start)) continue;
    const visits: Visit[] = [];
    const enter = (id: string): void => {
      order.set(id, order.size);
      low.set(id, order.get(id) ?? 0);
      open.push(id);
      isOpen.add(id);
      visits.push({ id, at: 0 });
    };
    enter(start);
    for (let visit = visits.at(-1); visit !== undefined; visit = visits.at(-1)) {
      const { id } = visit;
      const target = next.get(id)?.[visit.at];
      visit.at += 1;
      if (target !== undefined) {
        if (!order.has(target)) enter(target);
        else if (isOpen.has(target)) low.set(id, Math.min(low.get(id) ?? 0, order.get(target) ?? 0));
        continue;
      }
      visits.pop();
      const parent = visits.at(-1);
      if (parent !== undefined) low.set(parent.id, Math.min(low.get(parent.id) ?? 0, low.get(id) ?? 0));
      if (low.get(id) !== order.get(id)) continue;
      const knot = open.splice(open.lastIndexOf(id));
      for (const member of knot) isOpen.delete(member);
      if (knot.length > 1 || next.get(id)?.includes(id) === true) knots.push(knot);
    }
  }
  return knots;
}

/** The way from the smallest id of a knot back to it, always by the first edge that stays inside. */
function walkRound(knot: readonly string[], next: ReadonlyMap<string, readonly string[]>): string[] {
  const inside = new Set(knot);
  const [start = ''] = [...knot].sort();
  const cameFrom = new Map<string, string>();
  const queue = [start];
  for (let i = 0; i < queue.length; i += 1) {
    const at = queue[i] ?? start;
    for (const target of next.get(at) ?? []) {
      if (target === start) return walkBack(cameFrom, start, at);
      if (!inside.has(target) || cameFrom.has(target)) continue;
      cameFrom.set(target, at);
      queue.push(target);
    }
  }
  return [start];
}

function walkBack(cameFrom: ReadonlyMap<string, string>, start: string, end: string): string[] {
  const path = [end];
  for (let at = end; at !== start;) {
    at = cameFrom.get(at) ?? start;
    path.push(at);
  }
  return path.reverse();
}

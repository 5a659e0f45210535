/** `from` waits for `to`. */
export interface OrderedEdge {
  readonly from: string;
  readonly to: string;
}

/**
 * The edges that close a cycle when they are added one after the other, each to those before it that did not.
 * Linear where there is no cycle. Where there is one, a topological order is kept up to date (Pearce and Kelly), so
 * that an edge is followed only through what lies between its ends; trying each edge against all others took
 * 54 s for one cycle through 10,000 tasks.
 */
export function findClosing<Edge extends OrderedEdge>(edges: readonly Edge[]): Set<Edge> {
  const core = peel(peel(edges, 'from', 'to'), 'to', 'from');
  const order = startOrder(core);
  const links = { from: new Map<string, string[]>(), to: new Map<string, string[]>() };
  const closing = new Set<Edge>();
  for (const edge of core) {
    if (!makeRoom(edge, order, links)) {
      closing.add(edge);
      continue;
    }
    push(links.from, edge.from, edge.to);
    push(links.to, edge.to, edge.from);
  }
  return closing;
}

type Links = ReadonlyMap<string, readonly string[]>;

/** Without the edges that lead to where nothing goes on, again and again; each is looked at once. */
function peel<Edge extends OrderedEdge>(
  edges: readonly Edge[],
  near: 'from' | 'to',
  far: 'from' | 'to',
): readonly Edge[] {
  const leaving = new Map<string, number>();
  const arriving = new Map<string, Edge[]>();
  for (const edge of edges) {
    leaving.set(edge[near], (leaving.get(edge[near]) ?? 0) + 1);
    push(arriving, edge[far], edge);
  }
  const peeled = new Set<Edge>();
  const ends = [...arriving.keys()].filter((key) => !leaving.has(key));
  for (let end = ends.pop(); end !== undefined; end = ends.pop()) {
    for (const edge of arriving.get(end) ?? []) {
      peeled.add(edge);
      const left = (leaving.get(edge[near]) ?? 0) - 1;
      leaving.set(edge[near], left);
      if (left === 0) ends.push(edge[near]);
    }
  }
  return edges.filter((edge) => !peeled.has(edge));
}

/** What is waited for before what waits, but for the edges that lead back: they are the few that cost a search. */
function startOrder(edges: readonly OrderedEdge[]): Map<string, number> {
  const next = new Map<string, string[]>();
  for (const { from, to } of edges) push(next, from, to);
  const order = new Map<string, number>();
  const entered = new Set<string>();
  for (const start of next.keys()) {
    const open = [{ key: start, at: 0 }];
    while (open.length > 0) {
      const top = open.at(-1) as { key: string; at: number }; // not empty
      entered.add(top.key);
      const child = next.get(top.key)?.[top.at];
      top.at += 1;
      if (child !== undefined) {
        if (!entered.has(child)) open.push({ key: child, at: 0 });
        continue;
      }
      if (!order.has(top.key)) order.set(top.key, order.size);
      open.pop();
    }
  }
  return order;
}

/** Moves what must move so that `to` comes before `from`; false, and nothing moved, where a way leads back. */
function makeRoom(
  { from, to }: OrderedEdge,
  order: Map<string, number>,
  links: { readonly from: Links; readonly to: Links },
): boolean {
  const place = (key: string): number => order.get(key) ?? 0;
  const [low, high] = [place(from), place(to)];
  if (high < low) return true;
  // What waits for `from` has to come behind it, and what `to` waits for before: the places between are shared anew.
  const behind = reach(from, links.to, (key) => place(key) <= high);
  if (behind.has(to)) return false;
  const before = reach(to, links.from, (key) => place(key) >= low);
  const byPlace = (a: string, b: string): number => place(a) - place(b);
  const moved = [...[...before].sort(byPlace), ...[...behind].sort(byPlace)];
  const places = moved.map(place).sort((a, b) => a - b);
  moved.forEach((key, at) => order.set(key, places[at] ?? 0));
  return true;
}

function reach(start: string, links: Links, inside: (key: string) => boolean): Set<string> {
  const found = new Set([start]);
  for (const key of found) {
    for (const next of links.get(key) ?? []) if (inside(next)) found.add(next);
  }
  return found;
}

function push<Value>(map: Map<string, Value[]>, key: string, value: Value): void {
  const known = map.get(key);
  if (known === undefined) map.set(key, [value]);
  else known.push(value);
}

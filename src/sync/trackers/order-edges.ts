/** `from` waits for `to`. */
export interface OrderedEdge {
  readonly from: string;
  readonly to: string;
}

/** `may_close`: it was not tried, and stands against the order of the edges that were. */
export type ClosingKind = 'closes' | 'may_close';

export interface ClosingEdges<Edge> {
  readonly closing: ReadonlyMap<Edge, ClosingKind>;
  /** Places and edges that were looked at. */
  readonly steps: number;
}

/**
 * The steps that are spent on a graph with cycles. There is no way known to try every edge in linear time: a file can be
 * made that takes the square of its edges. Half a second; all that people have drawn takes a thousandth of it.
 */
const STEPS = 20_000_000;
const STEPS_PER_EDGE = 20;

/**
 * The edges that close a cycle when they are added one after the other, each to those before it that did not.
 * Linear where there is no cycle. Where there is one, a topological order is kept up to date (Pearce and Kelly), so
 * that an edge is followed only through what lies between its ends; trying each edge against all others took
 * 54 s for one cycle through 10,000 tasks. After so many steps the order stays as it is and decides alone.
 */
export function findClosing<Edge extends OrderedEdge>(
  edges: readonly Edge[],
  most = STEPS + STEPS_PER_EDGE * edges.length,
): ClosingEdges<Edge> {
  const core = peel(peel(edges, 'from', 'to'), 'to', 'from');
  const numbers = new Map<string, number>();
  const toNumber = (key: string): number => {
    const number = numbers.get(key) ?? numbers.size;
    numbers.set(key, number);
    return number;
  };
  const pairs = core.map((edge) => ({ edge, from: toNumber(edge.from), to: toNumber(edge.to) }));
  const order = new TaskOrder(startOrder(pairs, numbers.size), most);
  const closing = new Map<Edge, ClosingKind>();
  for (const { edge, from, to } of pairs) {
    const outcome = order.add(from, to);
    if (outcome !== 'added') closing.set(edge, outcome);
  }
  return { closing, steps: order.steps };
}

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
function startOrder(edges: readonly { from: number; to: number }[], count: number): Int32Array {
  const next = Array.from({ length: count }, (): number[] => []);
  for (const { from, to } of edges) next[from]?.push(to);
  const places = new Int32Array(count).fill(-1);
  const entered = new Uint8Array(count);
  let place = 0;
  for (let start = 0; start < count; start += 1) {
    const open = entered[start] === 1 ? [] : [{ key: start, at: 0 }];
    while (open.length > 0) {
      const top = open.at(-1) as { key: number; at: number }; // not empty
      entered[top.key] = 1;
      const child = next[top.key]?.[top.at];
      top.at += 1;
      if (child !== undefined) {
        if (entered[child] === 0) open.push({ key: child, at: 0 });
        continue;
      }
      places[top.key] = place;
      place += 1;
      open.pop();
    }
  }
  return places;
}

/** A topological order of the edges that were added, by numbers: with texts a step takes ten times as long. */
class TaskOrder {
  /** What is waited for has the lower place. */
  readonly #places: Int32Array;
  readonly #waitsFor: number[][];
  readonly #waitedFor: number[][];
  /** The search that met a task last. */
  readonly #met: Int32Array;
  readonly #most: number;
  #search = 0;
  steps = 0;

  constructor(places: Int32Array, most: number) {
    this.#places = places;
    this.#waitsFor = Array.from(places, () => []);
    this.#waitedFor = Array.from(places, () => []);
    this.#met = new Int32Array(places.length);
    this.#most = most;
  }

  add(from: number, to: number): 'added' | ClosingKind {
    if (this.#place(to) >= this.#place(from)) {
      if (this.steps >= this.#most) return 'may_close';
      if (!this.#makeRoom(from, to)) return 'closes';
    }
    this.#waitsFor[from]?.push(to);
    this.#waitedFor[to]?.push(from);
    return 'added';
  }

  #place(key: number): number {
    return this.#places[key] ?? 0;
  }

  /** Moves what must move so that `to` comes before `from`; false, and nothing moved, where a way leads back. */
  #makeRoom(from: number, to: number): boolean {
    const [low, high] = [this.#place(from), this.#place(to)];
    // What waits for `from` has to come behind it, and what `to` waits for before: the places between are shared anew.
    const behind = this.#reach(from, { links: this.#waitedFor, low, high, goal: to });
    if (behind === undefined) return false;
    const before = this.#reach(to, { links: this.#waitsFor, low, high, goal: from });
    if (before === undefined) return false;
    const byPlace = (a: number, b: number): number => this.#place(a) - this.#place(b);
    const moved = [...before.sort(byPlace), ...behind.sort(byPlace)];
    const places = moved.map((key) => this.#place(key)).sort((a, b) => a - b);
    moved.forEach((key, at) => (this.#places[key] = places[at] ?? 0));
    return true;
  }

  /** Undefined as soon as the goal is met. */
  #reach(
    start: number,
    { links, low, high, goal }: { links: number[][]; low: number; high: number; goal: number },
  ): number[] | undefined {
    this.#search += 1;
    this.#met[start] = this.#search;
    const found = [start];
    for (const key of found) {
      this.steps += 1;
      for (const next of links[key] ?? []) {
        this.steps += 1;
        if (next === goal) return undefined;
        const place = this.#place(next);
        if (place < low || place > high || this.#met[next] === this.#search) continue;
        this.#met[next] = this.#search;
        found.push(next);
      }
    }
    return start === goal ? undefined : found;
  }
}

function push<Value>(map: Map<string, Value[]>, key: string, value: Value): void {
  const known = map.get(key);
  if (known === undefined) map.set(key, [value]);
  else known.push(value);
}

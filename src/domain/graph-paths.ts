/** Edges of the task graph as adjacency: a task and what it leads to. */
export type Neighbours = (id: string) => readonly string[];

/**
 * The shortest way from `start` to `goal`, both included, or undefined. Breadth first with a visited set:
 * linear in the edges it meets, whatever the shape of the graph.
 */
export function findPath(start: string, goal: string, next: Neighbours): string[] | undefined {
  const cameFrom = new Map<string, string | undefined>([[start, undefined]]);
  const queue = [start];
  for (let i = 0; i < queue.length; i += 1) {
    const at = queue[i] as string; // i is inside the queue
    if (at === goal) return walkBack(cameFrom, goal);
    for (const id of next(at)) {
      if (cameFrom.has(id)) continue;
      cameFrom.set(id, at);
      queue.push(id);
    }
  }
  return undefined;
}

function walkBack(cameFrom: ReadonlyMap<string, string | undefined>, goal: string): string[] {
  const path: string[] = [];
  for (let at: string | undefined = goal; at !== undefined; at = cameFrom.get(at)) path.push(at);
  return path.reverse();
}

/**
 * For each task that others wait for, how long the longest chain of tasks is that waits for it. Peels the graph
 * from its far end, each edge once. Tasks on a cycle (merges can make them) are never peeled; they count the
 * chains that leave the cycle.
 */
export function criticalPaths<Key>(dependents: ReadonlyMap<Key, readonly Key[]>): Map<Key, number> {
  const lengths = new Map<Key, number>();
  const unpeeled = new Map<Key, number>();
  const blockers = new Map<Key, Key[]>();
  for (const [id, waiting] of dependents) {
    lengths.set(id, 0);
    unpeeled.set(id, waiting.length);
    for (const dependent of waiting) {
      const known = blockers.get(dependent);
      if (known === undefined) blockers.set(dependent, [id]);
      else known.push(id);
    }
  }
  const free = [...blockers.keys()].filter((id) => (unpeeled.get(id) ?? 0) === 0);
  for (let at = free.pop(); at !== undefined; at = free.pop()) {
    const length = (lengths.get(at) ?? 0) + 1;
    for (const blocker of blockers.get(at) ?? []) {
      if (length > (lengths.get(blocker) ?? 0)) lengths.set(blocker, length);
      const left = (unpeeled.get(blocker) ?? 0) - 1;
      unpeeled.set(blocker, left);
      if (left === 0) free.push(blocker);
    }
  }
  return lengths;
}

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
 * For each task, how long the longest chain of open tasks is that waits for it (0: nothing waits). Iterative,
 * so that a chain of 100,000 does not overflow the stack; an edge back into the chain being walked counts as
 * nothing, because merges can make cycles.
 */
export function criticalPaths(dependents: ReadonlyMap<string, readonly string[]>): Map<string, number> {
  const lengths = new Map<string, number>();
  const walking = new Set<string>();
  for (const root of dependents.keys()) {
    const stack = [root];
    while (stack.length > 0) {
      const at = stack.at(-1) as string; // the stack is not empty
      const waiting = dependents.get(at) ?? [];
      if (!walking.has(at) && !lengths.has(at)) {
        walking.add(at);
        for (const id of waiting) if (!lengths.has(id) && !walking.has(id)) stack.push(id);
        if (stack.at(-1) !== at) continue;
      }
      stack.pop();
      if (!walking.delete(at)) continue;
      lengths.set(at, waiting.reduce((longest, id) => Math.max(longest, walking.has(id) ? 0 : (lengths.get(id) ?? 0) + 1), 0));
    }
  }
  return lengths;
}

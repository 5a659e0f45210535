import type { DependencyNode } from '#contract/graph-operations.ts';
import type { Status } from '#contract/task.ts';

export interface TreeTask {
  readonly id: string;
  /** Null where the task is not in this project. */
  readonly title: string | null;
  readonly status: Status | null;
}

export type BoundedTree = DependencyNode & { readonly too_many?: true };

/**
 * What a task waits for, transitively, by `blocks` edges. Breadth first: a task is shown in full where it is
 * nearest to the root and as a leaf marked `seen` elsewhere, so the answer has at most one line an edge.
 * Below `depth` nothing is read; a task that has more there is marked `truncated`. With more than `most` lines below its
 * root it is the root alone.
 */
export function buildDependencyTree(
  root: TreeTask,
  options: {
    readonly depth: number;
    readonly most?: number | undefined;
    readonly blockersOf: (id: string) => readonly TreeTask[];
    readonly hasBlockers: (id: string) => boolean;
  },
): BoundedTree {
  const top = toNode(root, null);
  const shown = new Set([root.id]);
  let [level, lines] = [[top], 0];
  for (let depth = 0; level.length > 0 && depth < options.depth; depth += 1) {
    const below: DependencyNode[] = [];
    for (const node of level) {
      for (const blocker of options.blockersOf(node.id)) {
        const child = toNode(blocker, 'blocks');
        node.children.push(child);
        lines += 1;
        if (lines > (options.most ?? Infinity)) return { ...toNode(root, null), too_many: true };
        if (shown.has(child.id)) {
          if (options.hasBlockers(child.id)) child.seen = true;
          continue;
        }
        shown.add(child.id);
        below.push(child);
      }
    }
    level = below;
  }
  for (const node of level) if (options.hasBlockers(node.id)) node.truncated = true;
  return top;
}

function toNode(task: TreeTask, dep_type: 'blocks' | null): DependencyNode {
  return { id: task.id, title: task.title, status: task.status, dep_type, children: [] };
}

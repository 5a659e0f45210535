import type { DependencyNode, dependencyTree } from '#contract/graph-operations.ts';
import { ForgeError } from '#kernel/errors.ts';
import { LIMITS } from '#kernel/limits.ts';
import { NEIGHBOUR_LIMITS } from '#kernel/neighbour-limits.ts';
import { escapeLine } from '#kernel/text.ts';
import { implement, type TextView } from './operation.ts';
import { styleStatus } from './style-text.ts';

export const depTree = implement<typeof dependencyTree>({
  async run(ctx, input) {
    const { store, foreign } = ctx.project;
    const depth = input.depth ?? LIMITS.tree_depth;
    const most = ctx.stays ? NEIGHBOUR_LIMITS.tree_served : undefined;
    const { too_many, ...tree } = await store.readTree({ id: input.id, depth, most });
    if (too_many === true) throw tooLarge(tree.id);
    if (foreign.size === 0) return tree;
    const { fillTree } = await import('./fill-foreign.ts');
    return fillTree(tree, foreign);
  },
  text: (tree, view) => treeLines(tree, view).join('\n'),
});

function tooLarge(id: string): ForgeError {
  const limit = NEIGHBOUR_LIMITS.tree_served;
  return new ForgeError(
    'invalid_input',
    `More than ${limit} lines are too many for a tree that a server makes`,
    {
      hint: `forge dep tree ${id} --depth <n>, or without --server in the repository`,
      details: { limit },
    },
  );
}

/** One line a node, drawn without recursion: trees may be a thousand levels deep. */
export function treeLines(root: DependencyNode, view: TextView): string[] {
  const lines = [describe(root, view)];
  const open: { node: DependencyNode; indent: string; last: boolean }[] = [];
  const push = (children: readonly DependencyNode[], indent: string): void => {
    for (const [i, node] of [...children.entries()].reverse())
      open.push({ node, indent, last: i === children.length - 1 });
  };
  push(root.children, '  ');
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const { node, indent, last } = next;
    lines.push(`${indent}${last ? '└─' : '├─'} ${node.dep_type ?? ''} ${describe(node, view)}`);
    push(node.children, `${indent}${last ? '   ' : '│  '}`);
  }
  return lines;
}

function describe(node: DependencyNode, view: TextView): string {
  const mark =
    node.seen === true ? '  (shown above)' : node.truncated === true ? '  (more below, see --depth)' : '';
  if (node.status === null) return `${escapeLine(node.id)}  (not in this project)`;
  return `${escapeLine(node.id)}  ${escapeLine(node.title ?? '')}  [${styleStatus(view, node.status)}]${mark}`;
}

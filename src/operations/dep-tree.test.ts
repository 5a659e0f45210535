import { expect, it } from 'vitest';
import type { BoundedTree } from '#domain/dependency-tree.ts';
import { LIMITS } from '#kernel/limits.ts';
import { NEIGHBOUR_LIMITS } from '#kernel/neighbour-limits.ts';
import type { TreeQuery } from '#store/graph-query.ts';
import { depTree } from './dep-tree.ts';
import type { OperationContext } from './operation.ts';

it('is refused where a server would give too many lines, and given whole by a command', async () => {
  const asked: TreeQuery[] = [];
  const root = { id: 'fg-1', title: 'Root', status: 'open', dep_type: null, children: [] } as const;
  const readTree = async (query: TreeQuery): Promise<BoundedTree> => {
    asked.push(query);
    return { ...root, children: [], ...(query.most !== undefined && { too_many: true }) };
  };
  const run = (stays: boolean) => {
    const context = { project: { store: { readTree }, foreign: new Map() }, stays };
    return depTree.run(context as unknown as OperationContext, { id: '1' }); // all that it looks at
  };
  await expect(run(true)).rejects.toMatchObject({
    code: 'invalid_input',
    hint: 'forge dep tree fg-1 --depth <n>, or without --server in the repository',
    details: { limit: NEIGHBOUR_LIMITS.tree_served },
  });
  expect(await run(false)).toEqual(root);
  expect(asked).toEqual([
    { id: '1', depth: LIMITS.tree_depth, most: NEIGHBOUR_LIMITS.tree_served },
    { id: '1', depth: LIMITS.tree_depth, most: undefined },
  ]);
});

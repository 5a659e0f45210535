import * as z from 'zod';
import { LIMITS } from '#kernel/limits.ts';
import { declare } from './declare.ts';
import { DependencyType, Fence, Status, TaskRef, TaskSummary } from './task.ts';

export const addDependency = declare({
  name: 'dep.add',
  summary: 'Make one task depend on another',
  about:
    'The first depends on the second: `forge dep add a b` means that b blocks a. An edge that would close a cycle is refused with the path. The second may be a task of another registered project (`forge project add`): it blocks until it is closed there, and as long as that project cannot be read.',
  input: z.object({
    from_id: TaskRef.describe('The task that depends'),
    to_id: TaskRef.describe('The task it depends on'),
    type: DependencyType.optional().describe('blocks (default) holds the task back; the others only say so'),
    force: z
      .boolean()
      .optional()
      .describe("Take another project's whole id although that project is not registered or cannot be read"),
    fence: Fence,
  }),
  output: z.object({ from_id: z.string(), to_id: z.string(), type: DependencyType, added: z.boolean() }),
  errors: ['not_found', 'ambiguous_id', 'dependency_cycle', 'fence_conflict'],
  access: 'task',
  needs: 'project',
  http: { method: 'post', path: '/tasks/{from_id}/dependencies', aliases: { depends_on_id: 'to_id' } },
  cli: {
    path: ['dep', 'add'],
    args: ['from_id', 'to_id'],
    examples: [
      'forge dep add fg-c9d1 fg-b2c1',
      'forge dep add fg-c9d1 pb-x1y2',
      'forge dep add fg-f6g7 fg-a3f8 --type discovered-from',
    ],
  },
  mcp: {
    tool: 'forge_depend',
    aliases: ['forge_add_dependency'],
    description: 'Make from_id wait for to_id; a cycle is refused',
    fields: ['from_id', 'to_id', 'type', 'fence'],
  },
});

export const removeDependency = declare({
  name: 'dep.remove',
  summary: 'Remove a dependency',
  input: z.object({
    from_id: TaskRef.describe('The task that depends'),
    to_id: TaskRef.describe('The task it depends on'),
    type: DependencyType.optional().describe(
      'Only the edge of this type (default: every edge between the two)',
    ),
    fence: Fence,
  }),
  output: z.object({ from_id: z.string(), to_id: z.string(), removed: z.array(DependencyType) }),
  errors: ['not_found', 'ambiguous_id', 'fence_conflict'],
  access: 'task',
  needs: 'project',
  http: { method: 'delete', path: '/tasks/{from_id}/dependencies/{to_id}' },
  cli: {
    path: ['dep', 'remove'],
    args: ['from_id', 'to_id'],
    examples: ['forge dep remove fg-c9d1 fg-b2c1'],
  },
});

export interface DependencyNode {
  id: string;
  /** Null, like the status, where the task is in neither this nor another registered project. */
  title: string | null;
  status: Status | null;
  dep_type: DependencyType | null;
  children: DependencyNode[];
  /** Shown in full elsewhere in the tree. */
  seen?: true;
  /** It has dependencies that the depth limit hides. */
  truncated?: true;
}

export const DependencyTree: z.ZodType<DependencyNode> = z.object({
  id: z.string(),
  title: z.string().nullable(),
  status: Status.nullable(),
  dep_type: DependencyType.nullable(),
  children: z.array(z.lazy(() => DependencyTree)),
  seen: z.literal(true).optional(),
  truncated: z.literal(true).optional(),
}) as z.ZodType<DependencyNode>; // the recursion is lazy, so its type cannot be inferred

export const dependencyTree = declare({
  name: 'dep.tree',
  summary: 'Show what a task waits for, and what that waits for',
  about: 'Each task is shown in full where it is nearest to the root, elsewhere as a leaf marked seen.',
  input: z.object({
    id: TaskRef.describe('Task id'),
    depth: z
      .int()
      .min(0)
      .max(LIMITS.tree_depth)
      .optional()
      .describe(`Levels below the task (at most ${LIMITS.tree_depth}, which is also the default)`),
  }),
  output: DependencyTree,
  errors: ['not_found', 'ambiguous_id', 'invalid_input'],
  access: 'read',
  needs: 'project',
  http: { method: 'get', path: '/tasks/{id}/tree' },
  cli: {
    path: ['dep', 'tree'],
    args: ['id'],
    examples: ['forge dep tree fg-c9d1', 'forge dep tree fg-e5a2 --depth 5 --json'],
  },
});

export const GraphView = z.object({
  nodes: z.array(TaskSummary.extend({ parent_id: z.string().nullable(), ready: z.boolean() })),
  edges: z.array(z.object({ from_id: z.string(), to_id: z.string(), type: DependencyType })),
});
export type GraphView = z.output<typeof GraphView>;

export const taskGraph = declare({
  name: 'project.graph',
  summary: 'Draw the task graph as Mermaid, DOT, JSON or SVG',
  about:
    'Without an id: every task that is not closed, and the closed ones they wait for. Arrows point from a task to what it unblocks.',
  input: z.object({
    id: TaskRef.optional().describe('Only this task, what it waits for and what waits for it'),
    format: z
      .enum(['mermaid', 'dot', 'json', 'svg'])
      .optional()
      .describe('mermaid (default), dot, json or svg'),
    all: z.boolean().optional().describe('Closed tasks too'),
  }),
  output: z.union([GraphView, z.object({ format: z.string(), text: z.string() })]),
  errors: ['not_found', 'ambiguous_id', 'invalid_input'],
  access: 'read',
  needs: 'project',
  http: { method: 'get', path: '/projects/{project}/graph' },
  cli: {
    path: ['graph'],
    args: ['id'],
    examples: [
      'forge graph',
      'forge graph --format svg > graph.svg',
      'forge graph fg-e5a2 --format dot | dot -Tpng > epic.png',
    ],
  },
});

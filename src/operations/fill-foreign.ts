import type { DependencyNode } from '#contract/graph-operations.ts';
import type { ResolvedDependency } from '#contract/task.ts';
import type { Blocker, ExplainedTask } from '#store/store.ts';
import type { ForeignTasks } from '#sync/foreign-tasks.ts';

/** What a store says of tasks that are not in it, completed by what their own projects say. */

export function fillDependency(edge: ResolvedDependency, foreign: ForeignTasks): ResolvedDependency {
  const known = foreign.get(edge.id);
  return edge.resolved !== null || known?.outcome !== 'found' ? edge : { ...edge, resolved: known.task };
}

export function fillBlocker(blocker: Blocker, foreign: ForeignTasks): Blocker {
  const known = foreign.get(blocker.id);
  if (blocker.status !== null || known?.outcome !== 'found') return blocker;
  const { title, status, assignee } = known.task;
  return { id: blocker.id, title, status, assignee };
}

/** The reason also says where the task is, or why nobody knows whether it is closed. */
export function fillExplained(task: ExplainedTask, foreign: ForeignTasks): ExplainedTask {
  const reasons = new Map(
    task.blockers.flatMap(({ id }) => {
      const known = foreign.get(id);
      if (known === undefined) return [];
      const told = known.outcome === 'found' ? `${known.task.status} in ${known.project}` : known.why;
      return [[`waits for ${id} (not in this project)`, `waits for ${id} (${told})`]];
    }),
  );
  return {
    ...task,
    reasons: task.reasons.map((reason) => reasons.get(reason) ?? reason),
    blockers: task.blockers.map((blocker) => fillBlocker(blocker, foreign)),
  };
}

/** In place, without recursion: trees may be a thousand levels deep. */
export function fillTree(root: DependencyNode, foreign: ForeignTasks): DependencyNode {
  const open = [root];
  for (let node = open.pop(); node !== undefined; node = open.pop()) {
    const known = node.status === null ? foreign.get(node.id) : undefined;
    if (known?.outcome === 'found') {
      node.title = known.task.title;
      node.status = known.task.status;
    }
    for (const child of node.children) open.push(child);
  }
  return root;
}

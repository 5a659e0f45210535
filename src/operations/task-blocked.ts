import type { blockedTasks } from '#contract/query-operations.ts';
import { NEIGHBOUR_LIMITS } from '#kernel/neighbour-limits.ts';
import { escapeLine } from '#kernel/text.ts';
import { implement } from './operation.ts';
import { style, styleStatus } from './style-text.ts';

export const taskBlocked = implement<typeof blockedTasks>({
  async run(ctx, input) {
    const { store, foreign } = ctx.project;
    const { limit } = input;
    const most = NEIGHBOUR_LIMITS.blocked_tasks;
    const tasks = await store.listBlocked({ limit: ctx.stays ? Math.min(limit ?? most, most) : limit });
    if (foreign.size === 0) return tasks;
    const { fillBlocker } = await import('./fill-foreign.ts');
    return tasks.map((task) => ({
      ...task,
      blockers: task.blockers.map((blocker) => fillBlocker(blocker, foreign)),
    }));
  },
  text(tasks, view) {
    if (tasks.length === 0) return 'No open task waits for another one. What waits for you: forge inbox';
    return tasks
      .flatMap((task) => [
        `${style(view, 'bold', escapeLine(task.id))}  ${escapeLine(task.title)}`,
        ...task.blockers.map((blocker) => {
          const status = blocker.status === null ? 'not in this project' : styleStatus(view, blocker.status);
          const owner = blocker.assignee === null ? '' : `, ${escapeLine(blocker.assignee)}`;
          return `  waits for ${[escapeLine(blocker.id), escapeLine(blocker.title ?? '')].filter(Boolean).join('  ')}  [${status}${owner}]`;
        }),
        ...(task.blockers_more === undefined ? [] : [`  and ${task.blockers_more} more`]),
      ])
      .join('\n');
  },
});

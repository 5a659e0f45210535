import type { blockedTasks } from '#contract/query-operations.ts';
import { escapeLine } from '#kernel/text.ts';
import { implement } from './operation.ts';
import { style, styleStatus } from './style-text.ts';

export const taskBlocked = implement<typeof blockedTasks>({
  run: (ctx, input) => ctx.project.store.listBlocked({ limit: input.limit }),
  text(tasks, view) {
    if (tasks.length === 0) return 'No open task is blocked.';
    return tasks
      .flatMap((task) => [
        `${style(view, 'bold', escapeLine(task.id))}  ${escapeLine(task.title)}`,
        ...task.blockers.map((blocker) => {
          const status = blocker.status === null ? 'not in this project' : styleStatus(view, blocker.status);
          const owner = blocker.assignee === null ? '' : `, ${escapeLine(blocker.assignee)}`;
          return `  waits for ${[escapeLine(blocker.id), escapeLine(blocker.title ?? '')].filter(Boolean).join('  ')}  [${status}${owner}]`;
        }),
      ])
      .join('\n');
  },
});

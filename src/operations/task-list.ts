import type { listTasks } from '#contract/query-operations.ts';
import { implement } from './operation.ts';
import { countLine, taskLines } from './task-lines.ts';

export const taskList = implement<typeof listTasks>({
  async run(ctx, input) {
    const { all, ...query } = input;
    return ctx.project.store.listTasks({ ...query, open_only: all !== true });
  },
  text: (tasks, view) =>
    taskLines(tasks, view, { none: 'No tasks. Make one: forge task create "…"' }) + countLine(tasks, view),
});

import type { searchTasks } from '#contract/query-operations.ts';
import { implement } from './operation.ts';
import { countLine, taskLines } from './task-lines.ts';

export const taskSearch = implement<typeof searchTasks>({
  async run(ctx, input) {
    const { query, ...filters } = input;
    return ctx.project.store.listTasks({ ...filters, text: query });
  },
  text: (tasks, view) => taskLines(tasks, view, { none: 'No task matches.' }) + countLine(tasks, view),
});

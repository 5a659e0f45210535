import type { searchTasks } from '#contract/query-operations.ts';
import { implement } from './operation.ts';
import { readCursor } from './read-cursor.ts';
import { countLine, taskLines } from './task-lines.ts';

export const taskSearch = implement<typeof searchTasks>({
  async run(ctx, input) {
    const { query, cursor, ...filters } = input;
    const after = await readCursor(cursor, filters.sort);
    return ctx.project.store.listTasks({ ...filters, after, text: query });
  },
  text: (tasks, view) => taskLines(tasks, view, { none: 'No task matches.' }) + countLine(tasks, view),
});

import type { searchTasks } from '#contract/query-operations.ts';
import { implement } from './operation.ts';
import { readCursor } from './read-cursor.ts';
import { readPortion } from './read-portion.ts';
import { countLine, taskLines } from './task-lines.ts';

export const taskSearch = implement<typeof searchTasks>({
  async run(ctx, input) {
    const { query, cursor, ...filters } = input;
    const after = await readCursor(cursor, filters.sort);
    const { store } = ctx.project;
    const asked = { ...filters, after, text: query };
    return readPortion(ctx.portion, {
      all: () => store.listTasks(asked),
      page: (max_bytes) => store.pageTasks({ ...asked, max_bytes }),
    });
  },
  text: (tasks, view) => taskLines(tasks, view, { none: 'No task matches.' }) + countLine(tasks, view),
});

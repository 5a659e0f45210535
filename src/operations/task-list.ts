import type { listTasks } from '#contract/query-operations.ts';
import { implement } from './operation.ts';
import { readCursor } from './read-cursor.ts';
import { readPortion } from './read-portion.ts';
import { countLine, taskLines } from './task-lines.ts';

export const taskList = implement<typeof listTasks>({
  async run(ctx, input) {
    const { all, cursor, ...query } = input;
    const after = await readCursor(cursor, query.sort);
    const { store } = ctx.project;
    const asked = { ...query, after, open_only: all !== true };
    return readPortion(ctx.portion, {
      all: () => store.listTasks(asked),
      page: (max_bytes) => store.pageTasks({ ...asked, max_bytes }),
    });
  },
  text: (tasks, view) =>
    taskLines(tasks, view, { none: 'No tasks. Make one: forge task create "…"' }) + countLine(tasks, view),
});

import type { restoreTask } from '#contract/task-operations.ts';
import { escapeLine } from '#kernel/text.ts';
import { implement } from './operation.ts';
import { writerOf } from './writer.ts';

export const taskRestore = implement<typeof restoreTask>({
  run: async (ctx, input) => ctx.project.store.restoreTask(input, await writerOf(ctx)),
  text: (task) => `Restored task ${escapeLine(task.id)}: ${escapeLine(task.title)}`,
});

import type { reopenTask } from '#contract/task-operations.ts';
import { escapeLine } from '#kernel/text.ts';
import { implement } from './operation.ts';
import { writerOf } from './writer.ts';

export const taskReopen = implement<typeof reopenTask>({
  run: async (ctx, input) =>
    ctx.project.store.reopenTask({ ...input, reason: input.reason ?? null }, await writerOf(ctx)),
  text: (task) => `Reopened task ${escapeLine(task.id)}: ${escapeLine(task.title)}`,
});

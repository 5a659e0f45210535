import type { reopenTask as declaration } from '#contract/task-operations.ts';
import { reopenTask } from '#engine/change-task.ts';
import { escapeLine } from '#kernel/text.ts';
import { engineOf } from './engine-of.ts';
import { implement } from './operation.ts';

export const taskReopen = implement<typeof declaration>({
  run: async (ctx, input) => reopenTask(await engineOf(ctx), { ...input, reason: input.reason ?? null }),
  text: (task) => `Reopened task ${escapeLine(task.id)}: ${escapeLine(task.title)}`,
});

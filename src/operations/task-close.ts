import type { closeTask } from '#contract/task-operations.ts';
import { escapeLine } from '#kernel/text.ts';
import { implement } from './operation.ts';
import { writerOf } from './writer.ts';

export const taskClose = implement<typeof closeTask>({
  run: async (ctx, input) => ctx.project.store.closeTask(input, await writerOf(ctx)),
  text: (task) =>
    [
      `Closed task ${escapeLine(task.id)}: ${escapeLine(task.title)} (${escapeLine(task.close_reason ?? '')})`,
      ...(task.unblocked.length > 0 ? [`Now ready: ${escapeLine(task.unblocked.join(', '))}`] : []),
    ].join('\n'),
});

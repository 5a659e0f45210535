import type { releaseTask } from '#contract/task-operations.ts';
import { escapeLine } from '#kernel/text.ts';
import { implement } from './operation.ts';
import { writerOf } from './writer.ts';

export const taskRelease = implement<typeof releaseTask>({
  async run(ctx, input) {
    const by = await writerOf(ctx);
    const { id, fence, reason } = input;
    return ctx.project.store.releaseTask(
      { id, fence, owner: by.actor.name, force: input.force === true, reason: reason ?? null },
      by,
    );
  },
  text: (task) => `Released task ${escapeLine(task.id)}: ${escapeLine(task.title)}`,
});

import type { deleteTask } from '#contract/task-operations.ts';
import { endLost } from '#engine/end-lost.ts';
import { escapeLine } from '#kernel/text.ts';
import { implement } from './operation.ts';
import { writerOf } from './writer.ts';

export const taskDelete = implement<typeof deleteTask>({
  async run(ctx, input) {
    const { store } = ctx.project;
    const gone = await store.deleteTask(input, await writerOf(ctx));
    await endLost({ store, work: ctx.workshop }, gone.id);
    return gone;
  },
  text: (gone) =>
    [
      `Deleted task ${escapeLine(gone.id)}: ${escapeLine(gone.title)}`,
      ...(gone.orphaned.length > 0 ? [`Without a parent now: ${escapeLine(gone.orphaned.join(', '))}`] : []),
      ...(gone.unblocked.length > 0 ? [`No longer blocked: ${escapeLine(gone.unblocked.join(', '))}`] : []),
      `Undo: forge task restore ${escapeLine(gone.id)}`,
    ].join('\n'),
});

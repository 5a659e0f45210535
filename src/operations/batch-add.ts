import type { addToBatch as declaration } from '#contract/home-operations.ts';
import { escapeLine } from '#kernel/text.ts';
import { addToBatch, getBatch } from '#sync/batches.ts';
import { findBatchTasks } from './find-batch-tasks.ts';
import { implement } from './operation.ts';
import { plainBatch } from './read-batch.ts';

export const batchAdd = implement<typeof declaration>({
  async run(ctx, input) {
    getBatch(ctx.place.home, input.name); // before any project is opened for nothing
    const tasks = await findBatchTasks(ctx, input.ids);
    const { batch, added } = await addToBatch(ctx.place.home, { name: input.name, tasks });
    return { ...plainBatch(batch), added: [...added] };
  },
  text: ({ name, added, tasks }) =>
    added.length === 0
      ? `Already in batch ${escapeLine(name)}`
      : `Added ${escapeLine(added.join(', '))} to batch ${escapeLine(name)}, which has ${tasks.length} ${tasks.length === 1 ? 'task' : 'tasks'} now`,
});

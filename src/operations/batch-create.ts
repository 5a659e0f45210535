import type { createBatch as declaration } from '#contract/home-operations.ts';
import { escapeLine } from '#kernel/text.ts';
import { createBatch } from '#sync/batches.ts';
import { findBatchTasks } from './find-batch-tasks.ts';
import { implement } from './operation.ts';
import { plainBatch } from './read-batch.ts';

export const batchCreate = implement<typeof declaration>({
  run: async (ctx, input) =>
    plainBatch(
      await createBatch(ctx.place.home, {
        name: input.name,
        tasks: await findBatchTasks(ctx, input.ids ?? []),
        now: ctx.clock.now(),
      }),
    ),
  text: ({ name, tasks }) =>
    `Created batch ${escapeLine(name)} with ${tasks.length} ${tasks.length === 1 ? 'task' : 'tasks'}`,
});

import type { closeBatch as declaration } from '#contract/home-operations.ts';
import { escapeLine } from '#kernel/text.ts';
import { closeBatch } from '#sync/batches.ts';
import { implement } from './operation.ts';
import { plainBatch } from './read-batch.ts';

export const batchClose = implement<typeof declaration>({
  run: async (ctx, input) =>
    plainBatch(await closeBatch(ctx.place.home, { name: input.name, now: ctx.clock.now() })),
  text: ({ name }) => `Closed batch ${escapeLine(name)}; its tasks are as they were`,
});

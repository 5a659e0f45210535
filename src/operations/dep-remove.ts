import type { removeDependency } from '#contract/graph-operations.ts';
import { escapeLine } from '#kernel/text.ts';
import { implement } from './operation.ts';
import { writerOf } from './writer.ts';

export const depRemove = implement<typeof removeDependency>({
  run: async (ctx, input) =>
    ctx.project.store.removeDependency(
      { from_id: input.from_id, to_id: input.to_id, type: input.type, fence: input.fence },
      await writerOf(ctx),
    ),
  text: ({ from_id, to_id, removed }) =>
    `Removed: ${escapeLine(from_id)} no longer depends on ${escapeLine(to_id)} (${removed.join(', ')})`,
});

import type { resolveConflict } from '#contract/sync-operations.ts';
import { escapeLine } from '#kernel/text.ts';
import { implement } from './operation.ts';
import { writerOf } from './writer.ts';

export const conflictResolve = implement<typeof resolveConflict>({
  async run(ctx, input) {
    const settle = { id: input.id, field: input.field, take_lost: input.take_lost === true };
    return ctx.project.store.settleConflicts(settle, await writerOf(ctx));
  },
  text: ({ id, settled, left }) =>
    `Settled ${settled.map((name) => escapeLine(name)).join(', ')} of ${id}${left === 0 ? '' : `; ${left} left`}`,
});

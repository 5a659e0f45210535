import type { taskHeartbeat as declaration } from '#contract/workflow-operations.ts';
import { escapeLine } from '#kernel/text.ts';
import { implement } from './operation.ts';
import { writerOf } from './writer.ts';

export const taskHeartbeat = implement<typeof declaration>({
  run: async (ctx, { id, fence }) => ctx.project.store.renewLease({ id, fence }, await writerOf(ctx)),
  text: ({ id, expires_at }) => `The claim of ${escapeLine(id)} holds until ${expires_at}`,
});

import type { Writer } from '#store/store.ts';
import type { OperationContext } from './operation.ts';

/** Who writes and when, as the store wants it. */
export async function writerOf(ctx: OperationContext): Promise<Writer> {
  return { actor: await ctx.actor(), now: ctx.clock.now(), holding: ctx.holding, vouches: ctx.vouches };
}

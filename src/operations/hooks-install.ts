import type { installHooks } from '#contract/hook-operations.ts';
import { hookLines } from './hook-lines.ts';
import { implement } from './operation.ts';

export const hooksInstall = implement<typeof installHooks>({
  run: async (ctx, input) => ({ hooks: await ctx.host.installHooks({ shared: input.shared === true }) }),
  text: ({ hooks }, view) => hookLines(hooks, view),
});

import type { uninstallHooks } from '#contract/hook-operations.ts';
import { hookLines } from './hook-lines.ts';
import { implement } from './operation.ts';

export const hooksUninstall = implement<typeof uninstallHooks>({
  run: async (ctx, input) => ({ hooks: await ctx.host.uninstallHooks({ shared: input.shared === true }) }),
  text: ({ hooks }, view) => hookLines(hooks, view),
});

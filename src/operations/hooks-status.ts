import type { hookStatus } from '#contract/hook-operations.ts';
import { hookLines } from './hook-lines.ts';
import { implement } from './operation.ts';

export const hooksStatus = implement<typeof hookStatus>({
  run: async (ctx) => ({ hooks: await ctx.host.readHookStatus() }),
  text({ hooks }, view) {
    const missing = hooks.some((row) => row.state === 'absent' || row.state === 'outdated');
    return [hookLines(hooks, view), ...(missing ? ['Next: forge hooks install'] : [])].join('\n');
  },
});

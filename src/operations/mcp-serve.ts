import type { serveMcp } from '#contract/mcp-operations.ts';
import { implement } from './operation.ts';

export const mcpServe = implement<typeof serveMcp>({
  async run(ctx) {
    await ctx.host.serveMcp();
    return { ended: true };
  },
  // Standard output belongs to the protocol to the last byte.
  text: () => '',
});

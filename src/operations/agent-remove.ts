import type { removeAgent as declaration } from '#contract/home-operations.ts';
import { escapeLine } from '#kernel/text.ts';
import { removeAgent } from '#sync/agent-identities.ts';
import { implement } from './operation.ts';

export const agentRemove = implement<typeof declaration>({
  run: (ctx, input) => removeAgent(ctx.place.home, input.name),
  text: ({ name }) => `Removed agent ${escapeLine(name)}`,
});

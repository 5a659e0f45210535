import type { removeAgent as declaration } from '#contract/agent-operations.ts';
import { escapeLine } from '#kernel/text.ts';
import { removeAgent } from '#sync/agent-identities.ts';
import { toCurrentEntry } from './agent-entry.ts';
import { implement } from './operation.ts';

export const agentRemove = implement<typeof declaration>({
  run: async (ctx, { name }) => toCurrentEntry(ctx, await removeAgent(ctx.place.home, name)),
  text: ({ name }) => `Removed agent ${escapeLine(name)}`,
});

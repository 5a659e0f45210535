import type { addAgent as declaration } from '#contract/home-operations.ts';
import { escapeLine } from '#kernel/text.ts';
import { addAgent } from '#sync/agent-identities.ts';
import { implement } from './operation.ts';

const VERBS = { added: 'Added', updated: 'Updated', unchanged: 'Already there:' } as const;

export const agentAdd = implement<typeof declaration>({
  run: (ctx, input) =>
    addAgent(ctx.place.home, {
      name: input.name,
      description: input.description,
      now: ctx.clock.now(),
    }),
  text: ({ outcome, name }) => `${VERBS[outcome]} agent ${escapeLine(name)}`,
});

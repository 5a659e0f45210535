import type { resumeAgent as declaration } from '#contract/agent-operations.ts';
import { escapeLine } from '#kernel/text.ts';
import { pauseAgent } from '#sync/agent-identities.ts';
import { toCurrentEntry } from './agent-entry.ts';
import { implement } from './operation.ts';

export const agentResume = implement<typeof declaration>({
  run: async (ctx, { name }) =>
    toCurrentEntry(ctx, await pauseAgent(ctx.place.home, { name, paused: false, now: ctx.clock.now() })),
  text: ({ name }) => `${escapeLine(name)} may claim again`,
});

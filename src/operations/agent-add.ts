import type { addAgent as declaration } from '#contract/agent-operations.ts';
import { checkExecutorProfile } from '#engine/executor-kinds.ts';
import { escapeLine } from '#kernel/text.ts';
import { addAgent } from '#sync/agent-identities.ts';
import { describeProfile, readSetUp, toCurrentEntry } from './agent-entry.ts';
import { checkAllowed } from './check-allowed.ts';
import { implement } from './operation.ts';

const VERBS = { added: 'Added', updated: 'Updated', unchanged: 'Already there:' } as const;

export const agentAdd = implement<typeof declaration>({
  async run(ctx, input) {
    checkAllowed(input.allow);
    const { name, description, max, version } = input;
    const { outcome, ...agent } = await addAgent(ctx.place.home, {
      name,
      description,
      ...readSetUp(input),
      max,
      version,
      now: ctx.clock.now(),
      check: checkExecutorProfile,
    });
    return { ...toCurrentEntry(ctx, agent), outcome };
  },
  text: ({ outcome, name, profile }) =>
    `${VERBS[outcome]} agent ${escapeLine(name)}${profile === null ? '' : ` (${describeProfile(profile)})`}`,
});

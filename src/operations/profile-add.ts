import type { addProfile as declaration } from '#contract/agent-operations.ts';
import { checkExecutorProfile } from '#engine/executor-kinds.ts';
import { escapeLine } from '#kernel/text.ts';
import { addProfile } from '#sync/agent-profiles.ts';
import { describeProfile, readSetUp, toProfileEntry } from './agent-entry.ts';
import { checkAllowed } from './check-allowed.ts';
import { implement } from './operation.ts';

const VERBS = { added: 'Added', updated: 'Updated', unchanged: 'Already there:' } as const;

export const profileAdd = implement<typeof declaration>({
  async run(ctx, input) {
    checkAllowed(input.allow);
    const { wish = {}, env } = readSetUp(input);
    const { outcome, ...profile } = await addProfile(ctx.place.home, {
      name: input.name,
      description: input.description,
      wish,
      env,
      now: ctx.clock.now(),
      check: checkExecutorProfile,
    });
    return { ...toProfileEntry(profile), outcome };
  },
  text: ({ outcome, name, profile }) =>
    `${VERBS[outcome]} profile ${escapeLine(name)} (${describeProfile(profile)})`,
});

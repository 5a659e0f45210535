import type { addAgent as declaration } from '#contract/agent-operations.ts';
import { checkExecutorProfile } from '#engine/executor-kinds.ts';
import { ForgeError } from '#kernel/errors.ts';
import { escapeLine } from '#kernel/text.ts';
import { addAgent, listAgents } from '#sync/agent-identities.ts';
import { describeProfile, readSetUp, toCurrentEntry } from './agent-entry.ts';
import { checkAllowed } from './check-allowed.ts';
import { implement, type OperationContext } from './operation.ts';

const VERBS = { added: 'Added', updated: 'Updated', unchanged: 'Already there:' } as const;

/** What a person did and what an agent did would stand under one name in lists, claims and filters. */
async function refuseOwnName({ place, actor: ask }: OperationContext, name: string): Promise<void> {
  const actor = await ask();
  if (actor.kind !== 'user' || actor.name !== name) return;
  if (listAgents(place.home).some((agent) => agent.name === name)) return;
  throw new ForgeError('invalid_input', `An agent cannot be called ${JSON.stringify(name)}: you are`, {
    hint: `forge agent add ${name}-agent`,
    details: { name },
  });
}

export const agentAdd = implement<typeof declaration>({
  async run(ctx, input) {
    checkAllowed(input.allow);
    const { name, description, max, version } = input;
    await refuseOwnName(ctx, name);
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

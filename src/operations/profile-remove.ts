import type { removeProfile as declaration } from '#contract/agent-operations.ts';
import { ForgeError } from '#kernel/errors.ts';
import { escapeLine } from '#kernel/text.ts';
import { listAgents } from '#sync/agent-identities.ts';
import { getProfile, removeProfile } from '#sync/agent-profiles.ts';
import { toProfileEntry } from './agent-entry.ts';
import { implement } from './operation.ts';

export const profileRemove = implement<typeof declaration>({
  async run(ctx, { name }) {
    const { home } = ctx.place;
    getProfile(home, name);
    const agents = listAgents(home)
      .filter((agent) => agent.profile_name === name)
      .map((agent) => agent.name);
    if (agents.length > 0)
      throw new ForgeError('state_invalid', `Profile ${name} is what ${agents.join(', ')} begins with`, {
        hint: `forge agent add ${JSON.stringify(agents[0])} --executor <kind>, or forge agent remove ${JSON.stringify(agents[0])}`,
        details: { name, agents },
      });
    return toProfileEntry(await removeProfile(home, name));
  },
  text: ({ name }) => `Removed profile ${escapeLine(name)}`,
});

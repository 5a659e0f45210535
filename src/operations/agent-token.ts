import type { agentToken as declaration } from '#contract/access-operations.ts';
import { createToken } from '#sync/access-tokens.ts';
import { implement } from './operation.ts';
import { newTokenText, toNewTokenEntry } from './token-entry.ts';

export const agentToken = implement<typeof declaration>({
  async run({ place, clock, readActor }, { agent }) {
    const { name: user } = await readActor();
    return toNewTokenEntry(await createToken(place.home, { scope: 'task', agent, user, now: clock.now() }));
  },
  text: newTokenText,
});

import type { agentToken as declaration } from '#contract/access-operations.ts';
import { createToken } from '#sync/access-tokens.ts';
import { implement } from './operation.ts';
import { newTokenText, tokenTime, toNewTokenEntry } from './token-entry.ts';

export const agentToken = implement<typeof declaration>({
  async run({ place, clock, actor }, { agent, projects, expires }) {
    const { name: user } = await actor();
    const lasts_ms = tokenTime({ agent, expires });
    const wish = { scope: 'task', agent, user, projects, lasts_ms, now: clock.now() } as const;
    return toNewTokenEntry(await createToken(place.home, wish));
  },
  text: newTokenText,
});

import type { createToken } from '#contract/access-operations.ts';
import { createToken as makeToken } from '#sync/access-tokens.ts';
import { implement } from './operation.ts';
import { newTokenText, tokenTime, toNewTokenEntry } from './token-entry.ts';

export const tokenCreate = implement<typeof createToken>({
  async run({ place, clock, actor }, { scope, agent, name, projects, expires }) {
    const { name: user } = await actor();
    const lasts_ms = tokenTime({ agent, expires });
    const wish = { scope, agent, name, user, projects, lasts_ms, now: clock.now() };
    return toNewTokenEntry(await makeToken(place.home, wish));
  },
  text: newTokenText,
});

import type { createToken } from '#contract/access-operations.ts';
import { createToken as makeToken } from '#sync/access-tokens.ts';
import { implement } from './operation.ts';
import { newTokenText, toNewTokenEntry } from './token-entry.ts';

export const tokenCreate = implement<typeof createToken>({
  async run({ place, clock, readActor }, { scope, agent, name }) {
    const { name: user } = await readActor();
    return toNewTokenEntry(await makeToken(place.home, { scope, agent, name, user, now: clock.now() }));
  },
  text: newTokenText,
});

import type { revokeToken } from '#contract/access-operations.ts';
import { toIso } from '#kernel/clock.ts';
import { revokeToken as endToken } from '#sync/access-tokens.ts';
import { implement } from './operation.ts';
import { describeOwner, toTokenEntry } from './token-entry.ts';

export const tokenRevoke = implement<typeof revokeToken>({
  async run({ place, clock }, { id }) {
    const now = clock.now();
    const record = await endToken(place.home, id, now);
    return { ...toTokenEntry(record), revoked_at: record.revoked_at ?? toIso(now) };
  },
  text: (token) => `Revoked token ${token.id} of ${describeOwner(token)}`,
});

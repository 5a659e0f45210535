import type { rotateToken } from '#contract/access-operations.ts';
import { rotateToken as replaceToken } from '#sync/access-tokens.ts';
import { implement } from './operation.ts';
import { newTokenText, toNewTokenEntry } from './token-entry.ts';

export const tokenRotate = implement<typeof rotateToken>({
  run: async ({ place, clock }, { id }) => toNewTokenEntry(await replaceToken(place.home, id, clock.now())),
  text: newTokenText,
});

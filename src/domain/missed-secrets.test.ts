import { describe, expect, it } from 'vitest';
import { createLineMask, maskSecrets } from './find-secrets.ts';

/** Put together here, so that no search for keys finds one in this file. */
const REST = 'a1B2c3D4e5F6'.repeat(3);
const KEY = `ghp_${REST}`;
const figures = (text: string): string => [...Buffer.from(text)].join(', ');

/** What docs/security.md says under "Not found are": who changes one of them changes the page. */
const MISSED: readonly (readonly [string, string])[] = [
  ['a list of decimal numbers', figures(KEY)],
  ['letters with blanks between them', KEY.split('').join(' ')],
  ['letters with dashes between them', KEY.split('').join('-')],
  ['letters that a carriage return puts before others', `!!!!${REST}\rghp_`],
  ['letters that a cursor puts before others', `!!!!${REST}\u001b[1Gghp_`],
  ['a bearer of letters alone', 'Authorization: Bearer abcdefghQRSTuvwxyzABCDefgh'],
  ['a short bearer without a name', 'bearer ab12cd34ef56'],
  ['a password with a blank', 'postgres://u:ab cd12efgh@db'],
  ['a password with a quote', 'postgres://u:ab"cd12efgh@db'],
  ['a password with a slash behind a name with a dot', 'postgres://u.v:ab/cd12efgh@db'],
  ['a key right behind a letter', `monkeysk-${REST}`],
  ['a key right behind a letter and a code', `monkey\u001b[0msk-\u001b[1m${REST}`],
  ['one escape of a mail before the last figures', `ghp_${REST.slice(0, 33)}=3234 end`],
  ['a web token without a signature', `eyJ${REST}.eyJ${REST}.`],
  ['an old token of GitHub', `v1.${'0123456789abcdef'.repeat(2)}01234567`],
  ['a key of AWS of another kind', 'A3TXABCDEFGH12345678'],
  ['a reversed key', KEY.split('').toReversed().join('')],
];

describe('what is not found, as docs/security.md says', () => {
  it.each(MISSED)('%s', (_, text) => {
    for (const mask of [maskSecrets, createLineMask()]) expect(mask(text)).toBe(text);
  });
});

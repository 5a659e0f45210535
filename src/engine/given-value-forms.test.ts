import { describe, expect, it } from 'vitest';
import { createSecrets } from './agent-secrets.ts';

const toPairs = (value: string): string[] => Buffer.from(value).toString('hex').match(/../g) ?? [];
const toAll =
  (escape: (pair: string) => string) =>
  (value: string): string =>
    toPairs(value).map(escape).join('');
/** Bytes beyond ASCII alone, as Python shows a text of bytes and git a path. */
const toSome =
  (escape: (pair: string) => string) =>
  (value: string): string =>
    toPairs(value)
      .map((pair) => (Number.parseInt(pair, 16) < 0x80 ? Buffer.from(pair, 'hex').toString() : escape(pair)))
      .join('');
const octal = (pair: string): string => `\\${Number.parseInt(pair, 16).toString(8).padStart(3, '0')}`;

const SEPARATORS = [':', ' ', '-', ', ', '\t', ';   ', ', 0x'];
const WAYS: readonly (readonly [string, (value: string) => string])[] = [
  ['each byte in percent', toAll((pair) => `%${pair}`)],
  ['each byte in percent, upper case', toAll((pair) => `%${pair.toUpperCase()}`)],
  ['each byte in percent, twice', toAll((pair) => `%25${pair}`)],
  ['each byte as an escape of C', toAll((pair) => `\\x${pair}`)],
  ['each byte as an escape of C, in JSON', toAll((pair) => `\\\\x${pair}`)],
  ['each byte in octal', toAll(octal)],
  ['each byte in octal, in JSON', toAll((pair) => `\\${octal(pair)}`)],
  ['each byte of a mail', toAll((pair) => `=${pair.toUpperCase()}`)],
  ['bytes beyond ASCII in percent', toSome((pair) => `%${pair}`)],
  ['bytes beyond ASCII as escapes of C', toSome((pair) => `\\x${pair}`)],
  ['bytes beyond ASCII in octal', toSome(octal)],
  ...SEPARATORS.map(
    (between) =>
      [`hex with ${JSON.stringify(between)}`, (value: string) => toPairs(value).join(between)] as const,
  ),
];

const VALUES = [
  'abcdefgh12',
  '12345678',
  'pässwörd-ünïcode-Zz19',
  'пароль-пароль',
  'ÉÛÐ-Zz19-É',
  'Tr0ub4dor-xkcd-99',
];

describe.each(VALUES)('the given value %s is taken out', (value) => {
  const { redact } = createSecrets([value]);
  it.each(WAYS)('%s', (_name, write) => {
    for (const [before, after] of [
      ['T x A ', ''],
      ['"', '"'],
      ['key=', ' and more'],
    ] as const) {
      const shown = redact(`${before}${write(value)}${after}`);
      expect(shown).toContain('[redacted]');
      expect(shown).not.toContain(write(value).slice(2, -2));
    }
  });
});

it('of dates, addresses and lists of numbers nothing is taken out', () => {
  const { redact } = createSecrets(VALUES);
  for (const text of [
    '2026-11-18 20:29:35 10:00:00.000 12 34 56 78',
    'fe80::1ff:fe23:4567:890a 00:1a:2b:3c:4d:5e',
    '61 62 63 64 65 66 67 and 10, 20, 30, 40, 50, 60, 70, 80',
  ])
    expect(redact(text)).toBe(text);
});

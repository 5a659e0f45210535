import { describe, expect, it } from 'vitest';
import { createLineMask, maskSecrets } from '#domain/find-secrets.ts';
import { measureGrowth } from './support/measure-growth.ts';

const BEGIN = `-----BEGIN ${'PRIVATE'} KEY-----`;

/** What is repeated to make the look at what is hidden go back, or begin again, as often as it can. */
const PARTS: readonly string[] = [
  'a\b',
  'ab\u001b[0m\b\b',
  'abc\u001b[3D',
  '%41\u001b[999999999D',
  '%41\b',
  '=41a',
  '=41a\n',
  '\\41 a',
  '&#0',
  '&#00000000000095',
  '\\u{0',
  'a://b:',
  'a://b:c/',
  'a://b:c@',
  "a://b:c'd",
  'authorization: digest a="b", ',
  "authorization: x a='",
  'authorization=>[basic ',
  'secret key | ',
  'session token > ',
  '41 ',
  '4142434445\t',
  '0X41;',
  `${'41'.repeat(15)}:`,
  'eyJ.',
  'ewogewogewogewog.',
  'glpat-abc.01.',
  '1//0',
  `${BEGIN}\\n`,
  `> ${BEGIN}\n`,
  `1${BEGIN}\n2 x\n`,
  `${BEGIN}\u001b[0m`,
];

describe('[C2] the look for secrets', () => {
  it.each(PARTS)('takes twice as long for twice of %j', { timeout: 60_000 }, (repeated) => {
    const text = { before: 'x', repeated, after: 'y' };
    expect(measureGrowth((one) => maskSecrets(one), text, 8_192)).toBeUndefined();
    expect(measureGrowth((one) => createLineMask()(one), text, 8_192)).toBeUndefined();
  });

  it('takes twice as long for twice the letters that are overwritten', () => {
    const text = { before: 'x'.repeat(65_536), repeated: '\u001b[0m\b', after: 'y' };
    expect(measureGrowth((one) => maskSecrets(one), text, 65_536)).toBeUndefined();
  });

  it('takes twice as long for twice the lines of a key', () => {
    const text = { before: `12: ${BEGIN}\n`, repeated: `12: ${'aB1+'.repeat(16)}\n`, after: 'y' };
    expect(measureGrowth((one) => maskSecrets(one), text, 8_192)).toBeUndefined();
  });
});

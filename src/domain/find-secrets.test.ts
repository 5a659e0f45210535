import { describe, expect, it } from 'vitest';
import { createLineMask, findSecrets, listSecrets, maskSecrets } from './find-secrets.ts';

/** Put together here, so that nobody who looks for keys finds one in this file. */
const KEYS: readonly (readonly [string, string])[] = [
  ['a private key', `-----BEGIN OPENSSH ${'PRIVATE'} KEY-----`],
  ['a private key', `-----BEGIN ${'PRIVATE'} KEY-----`],
  ['an AWS key', `AKIA${'A1'.repeat(8)}`],
  ['a GitHub token', `ghp_${'a1B2'.repeat(9)}`],
  ['a GitHub token', `github_pat_${'a1'.repeat(20)}`],
  ['a GitLab token', `glpat-${'a1'.repeat(10)}`],
  ['a Slack token', `xoxb-${'12'.repeat(10)}`],
  ['a key of a model provider', `sk-ant-api03-${'a1'.repeat(20)}`],
  ['a Google key', `AIza${'a'.repeat(35)}`],
  ['an npm token', `npm_${'a1B2'.repeat(9)}`],
];

describe('findSecrets', () => {
  it.each(KEYS)('knows %s', (name, key) => {
    expect(findSecrets(`The key is ${key}.`)).toEqual([name]);
  });

  it.each([
    'fg-a3f8 is blocked by fg-b2c1',
    'sk-learn and ask-me-anything',
    'npm_config_registry and AIza',
    'a'.repeat(500),
    '3a9f1c2d4e5f60718293a4b5c6d7e8f901234567',
    '-----BEGIN PUBLIC KEY-----',
    'sk-folding-cube-animation-wrapper-container',
  ])('leaves alone: %s', (text) => {
    expect(findSecrets(text)).toEqual([]);
  });

  it('does not take long over a text that is made to', () => {
    for (const part of [
      'sk-',
      'gh',
      'xoxb-',
      '-----BEGIN A ',
      'AIza',
      'a-',
      `-----BEGIN ${'PRIVATE'} KEY-----`,
    ]) {
      const text = part.repeat(100_000);
      expect(findSecrets(text).length).toBeLessThan(2);
      expect(maskSecrets(text).length).toBeLessThanOrEqual(text.length);
    }
  });

  it.each(KEYS)('takes the whole of %s out of a text', (_, key) => {
    const more = key.includes('BEGIN')
      ? `${key}\nMIIE+/=\nProc-Type: 4\n-----END ${'PRIVATE'} KEY-----`
      : key;
    expect(maskSecrets(`(${more}) and "${more}".`)).toBe('([redacted]) and "[redacted]".');
    expect(listSecrets(`(${more}) ${more}`).map(({ value }) => value)).toEqual([more, more]);
  });

  it('takes a private key out of lines that come one after the other, and out of JSON', () => {
    const mask = createLineMask();
    const [begin, end] = ['BEGIN', 'END'].map((word) => `-----${word} RSA ${'PRIVATE'} KEY-----`);
    const lines = [
      'before',
      `x ${begin}`,
      'Proc-Type: 4,ENCRYPTED',
      '',
      'MIIEpAIBAAKCAQEA7',
      `  ${end}`,
      'MIIE',
    ];
    expect(lines.map(mask)).toEqual([
      'before',
      'x [redacted]',
      ...Array.from({ length: 4 }, () => '[redacted]'),
      'MIIE',
    ]);
    // A text that only speaks of one is shown on.
    expect([`grep ${begin} *`, 'nothing (0 files)'].map(createLineMask())[1]).toBe('nothing (0 files)');
    expect(maskSecrets(JSON.stringify({ key: `${begin}\nMIIE\n${end}\n` }))).toBe('{"key":"[redacted]\\n"}');
  });
});

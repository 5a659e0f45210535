import { describe, expect, it } from 'vitest';
import { findSecrets } from './find-secrets.ts';

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
  ])('leaves alone: %s', (text) => {
    expect(findSecrets(text)).toEqual([]);
  });

  it('does not take long over a text that is made to', () => {
    for (const part of ['sk-', 'gh', 'xoxb-', '-----BEGIN A ', 'AIza', 'a-'])
      expect(findSecrets(part.repeat(100_000)).length).toBeLessThan(2);
  });
});

import { describe, expect, it } from 'vitest';
import { findSecrets, maskSecrets } from './find-secrets.ts';

/** Put together here, so that no search for keys finds one in this file. */
const AWS = `AKIA${'IOSFODNN7'}EXAMPLE`;
const x = (count: number): string => 'x'.repeat(count);

/** What people write in place of a key, and the least that makes one of it. */
const EXAMPLES: readonly (readonly [string, string])[] = [
  [AWS, `AKIA${'IOSFODNN7'}EXAMPLF`],
  [AWS, `AKIA${'IOSFODNN8'}EXAMPLE`],
  [
    `aws_secret_access_key = ${'wJalrXUtnFEMI/K7MDENG'}/bPxRfiCYEXAMPLEKEY`,
    `aws_secret_access_key = ${'wJalrXUtnFEMI/K7MDENG'}/bPxRfiCYEXAMPLEKEZ`,
  ],
  [`sk_${'test'}_4eC39HqLyjWDarjtT1zdp7dc`, `sk_${'test'}_4eC39HqLyjWDarjtT1zdp7dd`],
  [`ghp_${x(36)}`, `ghp_${x(35)}y`],
  [`ghp_${x(36)}`, `ghp_y${x(35)}`],
  [`ghp_${'A'.repeat(36)}`, `ghp_${'A'.repeat(18)}${'B'.repeat(18)}`],
  [`glpat-${x(20)}`, `glpat-${x(19)}1`],
  [`github_pat_${x(24)}`, `github_pat_a1B2c3D4${x(24)}`],
  [`sk-ant-api03-${x(20)}`, `sk-ant-api03-a${x(20)}`],
  [`AIza${x(35)}`, `AIza${x(34)}y`],
  ['xoxb-your-token-here', 'xoxb-your-token-here-a1B2c3D4e5F6'],
  ['xoxb-1234567890-example', 'xoxb-1234567890-a1B2c3D4-example'],
  ['xoxb-1234567890-example', 'xoxb-1234567890-123456789012'],
  ['ya29.example_token_for_documentation1', 'ya29.example_token_a1B2c3D4e5F6g7H8i9'],
  ['Authorization: token YOUR_TOKEN_HERE_12345', 'Authorization: token YOUR_TOKEN_a1B2c3D4_12345'],
  [
    'sk-learn-2024-pipeline-with-many-words-and-steps',
    'sk-learn-2024-pipeline-a1B2c3D4-many-words-and-steps',
  ],
  ['scheme://host:port@version', 'scheme://host:port8080x@version'],
  ['ftp://anonymous:anonymous@example.com', 'ftp://anonymous:anonymous7@example.com'],
];

describe('[U3] what examples have in place of a key', () => {
  it.each(EXAMPLES)('%s is left alone, and %s is not', (example, key) => {
    for (const text of [example, `see ${example}, and so on`, JSON.stringify({ a: example })]) {
      expect(findSecrets(text)).toEqual([]);
      expect(maskSecrets(text)).toBe(text);
    }
    expect(findSecrets(key)).toHaveLength(1);
    expect(maskSecrets(key)).toContain('[redacted]');
  });

  const BEGIN = `-----BEGIN ${'PRIVATE'} KEY-----`;
  const BASE64 = 'MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcw';
  it.each([
    `The PEM begins with "${BEGIN}" and ends so`,
    `A file with ${BEGIN} is a key.`,
    `const re = /${BEGIN}/; // matcher`,
    `grep -r '${BEGIN}' src | wc`,
    `looks for ${BEGIN}, ${BEGIN.replace('PRIVATE', 'EC PRIVATE')} and the like`,
  ])('is a text that only names the first line of a private key: %s', (text) => {
    expect(findSecrets(text)).toEqual([]);
    expect(maskSecrets(text)).toBe(text);
  });

  it.each([
    `${BEGIN}\nMIIE`,
    `${BEGIN}\\nMIIE`,
    `"${BEGIN}\\n" +\n"MIIE`,
    `'${BEGIN}',\n'MIIE`,
    `> ${BEGIN}\n> MIIE`,
    `${BEGIN} MIIE -----END ${'PRIVATE'} KEY-----`,
    `${BEGIN} ${BASE64}`,
    `${BEGIN}<br>${BASE64}`,
    `${BEGIN}  # id_rsa\n${BASE64}`,
    `grep said: ${BEGIN} (in a.pem)\n${BASE64}`,
  ])('is no text with something of a private key: %j', (text) => {
    expect(findSecrets(text)).toContain('a private key');
    expect(findSecrets(JSON.stringify({ id: 'fg-1', a: text }))).toContain('a private key');
  });

  it('does not hide the key beside it', () => {
    const key = `ghp_${'a1B2'.repeat(9)}`;
    expect(maskSecrets(`${AWS} ghp_${x(36)} ${key}`)).toBe(`${AWS} ghp_${x(36)} [redacted]`);
  });
});

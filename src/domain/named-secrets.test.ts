import { describe, expect, it } from 'vitest';
import { findSecrets, maskSecrets } from './find-secrets.ts';
import { a1B2, BASIC, NAMED } from '../../tests/support/named-secrets.ts';
import { redactNamed } from './named-secrets.ts';

const SHAPES: readonly (readonly [string, (name: string, value: string) => unknown])[] = [
  ['a key', (name, value) => ({ env: { [name]: value } })],
  ['a key above a list', (name, value) => ({ [name]: [value] })],
  ['a key above an object', (name, value) => ({ [name]: { default: value } })],
  ['a name and a value', (name, value) => [{ name, value }]],
  ['a value and a name', (name, value) => [{ Value: value, Key: name }]],
  ['a name, a type and a value', (name, value) => ({ name, type: 'text', value })],
  ['a pair', (name, value) => [[name, value]]],
  ['a flat list of pairs', (name, value) => ['accept', '*/*', name, value]],
  ['a flag', (name, value) => ['run', `--${name}`, value]],
  ['a name with its colon', (name, value) => ['-H', `${name}:`, value]],
];

describe('redactNamed', () => {
  it.each(NAMED.flatMap((one) => SHAPES.map(([shape, make]) => ({ one, shape, make }))))(
    '[S3] takes out $one.2 as $shape of $one.0',
    ({ one: [name, before, secret], make }) => {
      const closed = secret.includes('"') ? '"' : '';
      const shown = JSON.stringify(redactNamed(make(name, `${before}${secret}${closed}`), maskSecrets));
      expect(shown).toBe(JSON.stringify(make(name, `${before}[redacted]${closed}`)));
    },
  );

  it.each(NAMED)('[S3] finds in JSON as one text: %s: %s%s', (name, before, secret) => {
    for (const made of [{ [name]: `${before}${secret}` }, { [name]: [`${before}${secret}`] }])
      expect(findSecrets(JSON.stringify(made))).toHaveLength(1);
  });

  it.each([
    ['JSON', (name: string, value: string) => JSON.stringify([{ name, value }])],
    ['JSON with lines', (name: string, value: string) => JSON.stringify([{ name, value }], undefined, 4)],
    ['YAML', (name: string, value: string) => `- name: ${name}\n  value: "${value}"`],
    ['JSON in JSON', (name: string, value: string) => JSON.stringify(JSON.stringify({ name, value }))],
  ])('[S3] finds a name and its value in one text of %s', (_, write) => {
    for (const [name, value] of [
      ['AWS_SECRET_ACCESS_KEY', a1B2(40)],
      ['AWS_SESSION_TOKEN', a1B2(60)],
      ['Authorization', `Basic ${BASIC}`],
    ] as const)
      expect(maskSecrets(write(name, value))).not.toMatch(/a1B2|YWRt/);
  });

  it('leaves alone what no name says to be secret, and what is no secret under such a name', () => {
    const value = {
      headers: { 'Content-Type': 'application/json', Authorization: 'Bearer <token>' },
      primary_key: '3a9f1c2d4e5f60718293a4b5c6d7e8f901234567',
      env: [
        { name: 'AWS_SECRET_ACCESS_KEY', value: '$SECRET' },
        { name: 'COMMIT', value: a1B2(40) },
      ],
      tokens: 12,
      token: 'see the page',
    };
    expect(redactNamed(value, maskSecrets)).toEqual(value);
  });

  it('keeps nothing of a value that is longer than what is looked at', () => {
    const value = { Authorization: `Bearer ${a1B2(200).repeat(200)}` };
    expect(redactNamed(value, maskSecrets)).toEqual({ Authorization: 'Bearer [redacted]' });
    const text = `${'word '.repeat(10_000)}end`;
    expect(redactNamed({ api_key: text }, maskSecrets)).toEqual({ api_key: text });
  });

  it('asks for no more than eight names of one value', () => {
    let calls = 0;
    const count = (text: string): string => ((calls += 1), text);
    redactNamed(
      ['x', Object.fromEntries(Array.from({ length: 100 }, (_, at) => [`a${at}`, 'token']))],
      count,
    );
    expect(calls).toBeLessThan(100 * 60);
  });
});

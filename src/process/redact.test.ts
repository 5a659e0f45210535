import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createRedactor } from './redact.ts';

const KEY = 'sk-ant-Zm9y/Z2U+"quoted" ünïcödé\\key';
const LONG = Array.from({ length: 60 }, (_, index) => `part${index}-of-a-long-token`).join('.');
const PEM = `-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBgkqhkiG9w0BAQEFAASC\nBKcwggSjAgEAAoIBAQC7VJTUt9Us8cKB\n-----END PRIVATE KEY-----\n`;

/** As programs print it: name, and the text in which the secret stands. */
const FORMS: readonly [string, (secret: string) => string][] = [
  ['plain', (secret) => `token=${secret};`],
  ['base64', (secret) => base64(secret)],
  ['base64 of a line', (secret) => base64(`${secret}\n`)],
  ['base64 of user:secret', (secret) => base64(`ann:${secret}@host`)],
  ['base64 after one byte', (secret) => base64(`:${secret}`)],
  ['base64 after two bytes', (secret) => base64(`a:${secret}`)],
  ['base64 for addresses', (secret) => Buffer.from(secret).toString('base64url')],
  ['hex', (secret) => Buffer.from(secret).toString('hex')],
  ['upper case hex', (secret) => Buffer.from(secret).toString('hex').toUpperCase()],
  ['percent', (secret) => `https://x/?q=${encodeURIComponent(secret)}`],
  [
    'lower case percent',
    (secret) => encodeURIComponent(secret).replaceAll(/%../g, (code) => code.toLowerCase()),
  ],
  ['a form', (secret) => new URLSearchParams({ q: secret }).toString()],
  ['JSON', (secret) => JSON.stringify({ secret })],
  ['JSON in JSON', (secret) => JSON.stringify(JSON.stringify({ secret }))],
];

const hexPairs = (text: string): string[] => Buffer.from(text).toString('hex').match(/../g) ?? [];

describe('redaction', () => {
  it.each(FORMS)('[H2] takes a secret out as %s', (_, show) => {
    for (const secret of [KEY, LONG, 'hunter2-hunter2']) {
      const text = `before ${show(secret)} after`;
      const shown = createRedactor([secret]).redact(text);
      expect(shown).toContain('[redacted]');
      expect(shown).toMatch(/^before .* after$/);
      expectNoTrace(shown, text, show(secret));
    }
  });

  it('[H2] takes out what is wrapped after 64 or 76 characters', () => {
    for (const width of [64, 76]) {
      const lines = base64(LONG).match(new RegExp(`.{1,${width}}`, 'g')) ?? [];
      const shown = lines.map((line) => createRedactor([LONG]).redact(line));
      // The last line may be a few characters that say nothing.
      expect(shown.slice(0, -1).every((line) => line === '[redacted]')).toBe(true);
    }
  });

  it.each<[string, (secret: string) => string]>([
    [
      'percent escapes of every letter',
      (secret) =>
        hexPairs(secret)
          .map((pair) => `%${pair}`)
          .join(''),
    ],
    [
      'JSON escapes of every letter',
      (secret) =>
        hexPairs(secret)
          .map((pair) => `\\u00${pair}`)
          .join(''),
    ],
    ['codes of a terminal', (secret) => (secret.match(/.{1,4}/g) ?? []).join('\u001b[0m')],
    ['invisible blanks', (secret) => secret.split('').join('\u200b')],
  ])('[A14-4] takes a secret out that has %s', (_, show) => {
    const secret = 'hunter2-hunter2';
    expect(createRedactor([secret]).redact(`before ${show(secret)} after`)).toBe('before [redacted] after');
  });

  it('[A14-4] takes out base64 that is wrapped after any number of characters', () => {
    const secret = 'hunter2-gOu02DUz70IEyNirYcZE-and-more';
    for (const width of [16, 20, 40]) {
      const lines = base64(`k=${secret}\n`).match(new RegExp(`.{1,${width}}`, 'g')) ?? [];
      const shown = lines.map((line) => createRedactor([secret]).redact(line));
      // The first and the last line also say what stands before and behind it.
      expect(shown.slice(1, -1).every((line) => line === '[redacted]')).toBe(true);
      expect(shown[0]).toMatch(/^.{0,4}\[redacted\]$/);
    }
  });

  it('takes out each line of a key file, but not the words that all of them have', () => {
    const redactor = createRedactor([PEM]);
    expect(PEM.split('\n').map((line) => redactor.redact(line))).toEqual([
      '-----BEGIN PRIVATE KEY-----',
      '[redacted]',
      '[redacted]',
      '-----END PRIVATE KEY-----',
      '',
    ]);
    expect(redactor.redact(`x${PEM}y`)).toBe('x[redacted]y');
  });

  it('leaves short secrets and all other text alone', () => {
    const text = 'a pin of 1234567 and a password "letmein"';
    expect(createRedactor(['1234567', 'letmein', '']).redact(text)).toBe(text);
    expect(createRedactor([]).redact(text)).toBe(text);
    expect(createRedactor(['letmein'], { min_length: 7 }).redact(text)).toContain('"[redacted]"');
  });

  it('[H2] does not depend on how the text is cut into chunks', () => {
    const secrets = ['abcabcabc', 'xxabcabcabcyy', 'cabcabca', 'aaaaaaaa'];
    const text = fc
      .array(fc.constantFrom('abc', 'a', 'xx', 'yy', 'ca', 'aaaaaaaa', ' ', ...secrets), { maxLength: 40 })
      .map((parts) => parts.join(''));
    fc.assert(
      fc.property(text, fc.array(fc.nat({ max: 9 }), { maxLength: 60 }), (whole, cuts) => {
        const redactor = createRedactor(secrets);
        const expected = redactor.redact(whole);
        for (const secret of secrets) expect(expected).not.toContain(secret);
        let shown = '';
        let rest = whole;
        for (const cut of cuts) {
          shown += redactor.push(rest.slice(0, cut));
          rest = rest.slice(cut);
        }
        expect(shown + redactor.push(rest) + redactor.flush()).toBe(expected);
        expect(redactor.flush()).toBe('');
      }),
      { numRuns: 300 },
    );
  });

  it('keeps back no more than the beginning of a secret', () => {
    const redactor = createRedactor(['secret-number-one'], { piece_length: 512 });
    expect(redactor.push('all of this.')).toBe('all of this.');
    expect(redactor.push(' and secret-')).toBe(' and ');
    expect(redactor.push('service')).toBe('secret-service');
    expect(redactor.push('s')).toBe('');
    expect(redactor.flush()).toBe('s');
    const forever = createRedactor(['aaaaaaaa']);
    const given =
      Array.from({ length: 100 }, () => forever.push('a'.repeat(1_000))).join('') + forever.flush();
    expect(given).toBe('[redacted]');
  });

  it('looks for a long secret in pieces, so that half of it is not shown either', () => {
    const redactor = createRedactor([LONG], { piece_length: 100 });
    expect(redactor.redact(LONG.slice(0, 250))).toBe(`[redacted][redacted]${LONG.slice(200, 250)}`);
    expect(redactor.redact(LONG).replaceAll('[redacted]', '')).toBe('');
  });
});

/** No eight characters of the secret's form are left of what the text showed; its neighbours may stay. */
function expectNoTrace(shown: string, text: string, form: string): void {
  expect(text).toContain(form);
  const frame = ['before', 'after', 'token=', 'https://x/?q=', 'secret', base64('ann:'), base64('@host')];
  const rest = frame.reduce((left, word) => left.replaceAll(word, ''), shown.replaceAll('[redacted]', '\n'));
  expect(rest.split('\n').every((part) => part.length < 12)).toBe(true);
}

function base64(text: string): string {
  return Buffer.from(text).toString('base64');
}

describe('a value as programs print it', () => {
  const dollar = 'hunter$W0rdX9kQ';
  const quotes = `ab\\Cd"Ef77Gh's`;
  const quote = "it'sAsecret4411";
  const json = (text: string): string => JSON.stringify(text).slice(1, -1);
  it.each([
    ['export -p of bash', dollar, 'declare -x K="hunter\\$W0rdX9kQ"'],
    ['printf %q', dollar, 'hunter\\$W0rdX9kQ'],
    ['printf %q', 'pass word,(1234)', 'pass\\ word\\,\\(1234\\)'],
    ['declare -p', quotes, `declare -x K="ab\\\\Cd\\"Ef77Gh's"`],
    ['set and set -x', quote, `K='it'\\''sAsecret4411'`],
    ['export -p of dash', quote, `export K='it'"'"'sAsecret4411'`],
    ['repr of Python', quotes, `{'K': 'ab\\\\Cd"Ef77Gh\\'s'}`],
    ['repr of Python, one kind of quotes', 'ab\\Cd"Ef77Gh', `'ab\\\\Cd"Ef77Gh'`],
    ['a text of SQL', quote, `'it''sAsecret4411'`],
    ['JSON in JSON in JSON', 'pass"word"1234', json(json(json('pass"word"1234')))],
    ['a shell in JSON in JSON', dollar, json(json('export K="hunter\\$W0rdX9kQ"'))],
    ['without the CR at its end', 'crSecretValue8812\r', 'crSecretValue8812'],
    ['without blanks at its ends', ' leadSecretVal5512 ', '[leadSecretVal5512]'],
    ['split into words by a shell', 'two  words\there', 'two words here'],
  ])('is redacted: %s', (_name, secret, said) => {
    const shown = createRedactor([secret]).redact(`say ${said} end`);
    expect(shown).toMatch(/^say .*\[redacted\].* end$/);
    for (const word of secret
      .trim()
      .split(/[^A-Za-z0-9]+/)
      .filter((part) => part.length > 3))
      expect(shown).not.toContain(word);
  });

  it('is left alone where it is short without its blanks', () => {
    expect(createRedactor(['  short   \r']).redact('a short text')).toBe('a short text');
  });
});

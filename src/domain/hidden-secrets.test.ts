import { describe, expect, it } from 'vitest';
import { createLineMask, findSecrets, maskSecrets } from './find-secrets.ts';
import { locateSecrets } from './locate-secrets.ts';

/** Put together here, so that no search for keys finds one in this file. */
const KEYS = [
  `ghp_${'a1B2'.repeat(9)}`,
  `sk-ant-api03-${'x9_Z-'.repeat(18)}AA`,
  `AKIA${'A1'.repeat(8)}`,
  `glpat-${'q7'.repeat(10)}`,
];

const base64 = (text: string): string => Buffer.from(text).toString('base64');
const pairs = (text: string): string[] => Buffer.from(text).toString('hex').match(/../g) ?? [];
const pieces = (text: string): string[] => text.match(/.{1,8}/g) ?? [];

const HIDDEN: readonly (readonly [string, (key: string) => string])[] = [
  ['base64', base64],
  ['base64 after one byte', (key) => base64(`x${key}yy`)],
  ['base64 after two bytes', (key) => base64(`xx${key}\n`)],
  ['base64 of user:key', (key) => base64(`x-access-token:${key}`)],
  ['base64 for addresses', (key) => Buffer.from(`${key}>>>???`).toString('base64url')],
  ['base64 behind other letters', (key) => `a_${base64(key)}`],
  ['base64 of base64', (key) => base64(base64(key))],
  ['hex', (key) => pairs(key).join('')],
  ['upper case hex', (key) => pairs(key).join('').toUpperCase()],
  ['hex with blanks', (key) => pairs(key).join(' ')],
  ['hex with colons', (key) => pairs(key).join(':')],
  ['a list of bytes', (key) => pairs(key).join(', 0x').replace(/^/, '0x')],
  [
    'percent escapes',
    (key) =>
      pairs(key)
        .map((pair) => `%${pair}`)
        .join(''),
  ],
  [
    'percent escapes of percent escapes',
    (key) =>
      pairs(key)
        .map((pair) => `%25${pair}`)
        .join(''),
  ],
  ['one percent escape', (key) => key.replace(/^./, (letter) => `%${pairs(letter).join('')}`)],
  [
    'JSON escapes',
    (key) =>
      pairs(key)
        .map((pair) => `\\u00${pair}`)
        .join(''),
  ],
  [
    'JSON escapes in JSON',
    (key) =>
      pairs(key)
        .map((pair) => `\\\\u00${pair}`)
        .join(''),
  ],
  [
    'escapes of C',
    (key) =>
      pairs(key)
        .map((pair) => `\\x${pair}`)
        .join(''),
  ],
  [
    'octal escapes',
    (key) =>
      key
        .split('')
        .map((letter) => `\\${letter.charCodeAt(0).toString(8)}`)
        .join(''),
  ],
  [
    'HTML escapes',
    (key) =>
      key
        .split('')
        .map((letter) => `&#${letter.charCodeAt(0)};`)
        .join(''),
  ],
  ['codes of a terminal', (key) => pieces(key).join('\u001b[0m')],
  ['codes of a terminal as escapes', (key) => pieces(key).join('\\u001b[1;31m')],
  ['a title of a terminal', (key) => pieces(key).join('\u001b]0;title\u0007')],
  ['invisible blanks', (key) => pieces(key).join('\u200b')],
  ['soft hyphens', (key) => pieces(key).join('\u00ad')],
  ['NUL', (key) => key.split('').join('\0')],
  ['carriage returns', (key) => pieces(key).join('\r')],
  ['backspaces', (key) => pieces(key).join('x\b')],
];

describe('keys that are hidden', () => {
  it.each(HIDDEN)('[A14-4] in %s are taken out', (_, hide) => {
    for (const key of KEYS) {
      const hidden = hide(key);
      for (const masked of [maskSecrets, createLineMask()].map((mask) => mask(`see ${hidden} end`))) {
        expect(masked).toMatch(/^see .{0,4}\[redacted\]=* end$/);
        expect(masked).not.toContain(hidden.slice(4, 20));
      }
    }
  });

  it.each([
    ['at the end of lines', (key: string) => key.match(/.{1,10}/g) ?? []],
    [
      'behind a bar',
      (key: string) => (key.match(/.{1,10}/g) ?? []).map((piece, at) => (at === 0 ? piece : `| ${piece}`)),
    ],
    ['before a backslash', (key: string) => (key.match(/.{1,10}/g) ?? []).map((piece) => `${piece}\\`)],
    ['with both line ends', (key: string) => (key.match(/.{1,10}/g) ?? []).map((piece) => `${piece}\r`)],
  ])('[A14-4] broken %s are taken out', (_, cut) => {
    const key = `ghp_${'a1B2c3D4e5'.repeat(3)}a1B2c3`;
    const lines = cut(key);
    const text = [`see ${lines[0]}`, ...lines.slice(1), 'and more'];
    for (const masked of [text.map(createLineMask()).join('\n'), maskSecrets(text.join('\n'))]) {
      expect(masked).not.toMatch(/a1B2|c3D4/);
      expect(masked).toMatch(/^see \[redacted\]/);
      expect(masked).toMatch(/and more$/);
    }
  });

  it('[A14-4] broken at the width of a screen are taken out', () => {
    const key = `sk-ant-api03-${'x9_Z-'.repeat(18)}AA`;
    expect([key.slice(0, 80), key.slice(80), 'Done'].map(createLineMask())).toEqual([
      '[redacted]',
      '[redacted]',
      'Done',
    ]);
  });

  it.each([
    `sha512-${base64('noise that says nothing, of the length of a hash, and some more of it')}`,
    '3a9f1c2d4e5f60718293a4b5c6d7e8f901234567',
    '67:68:70:5f:61:62:63:64:65:66:67:68:69:6a:6b:6c:6d:6e:6f:70:71:72',
    '/usr/local/lib/node_modules/some-package/dist/index-of-all-files.js',
    'https://example.com/?q=a%20b%2Fc&#39;',
    '\u001b[31mred\u001b[0m and \\u001b[0m and C:\\x64\\u',
    'export npm_config_registry\nregistry2Address',
    'the beginning is ghp_\nabc1D2',
    `a hash\n${'3a9f1c2d'.repeat(5)}\n`,
    'é\u200b\u0000%zz\\u12',
  ])('[A14-4] are not seen in %j', (text) => {
    expect(maskSecrets(text)).toBe(text);
    expect(text.split('\n').map(createLineMask()).join('\n')).toBe(text);
  });

  // What only a terminal does, which overwrites what it has shown, no file does.
  const WRITTEN = HIDDEN.filter(([how]) => how !== 'carriage returns' && how !== 'backspaces');
  it.each(WRITTEN)('are seen in a committed line too: %s', (_, hide) => {
    for (const key of KEYS) {
      const line = JSON.stringify({ id: 'fg-1', title: 'x', description: `see ${hide(key)} there` });
      const [found, ...more] = locateSecrets(line);
      expect(more).toEqual([]);
      expect(found).toMatchObject({ id: 'fg-1', field: 'description' });
      // By the kind of the key and not by how it is written.
      expect([found?.name]).toEqual(findSecrets(key));
    }
  });

  it('[A14-4] take no longer than the length of a text says', () => {
    for (const part of [
      '%41',
      '\\u0041',
      '\u001b[',
      '\u001b]',
      '\0',
      'a1B2',
      '67 ',
      '0x67, ',
      '\\\\',
      'x\b',
      'npm_a1\n',
    ])
      expect(maskSecrets(part.repeat(50_000)).length).toBeLessThanOrEqual(part.length * 50_000 + 500_000);
  });
});

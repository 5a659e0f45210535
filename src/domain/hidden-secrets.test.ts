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

const wide = (text: string): Buffer => Buffer.from(text, 'utf16le').swap16();

/** What a screen does not show, or takes for a command. */
const BETWEEN: readonly (readonly [string, string])[] = [
  ['what tput sgr0 prints', '\u001b(B\u001b[m'],
  ['ESC 7', '\u001b7'],
  ['ESC =', '\u001b='],
  ['ESC with a sign between', '\u001b#8'],
  ['ESC c', '\u001bc'],
  ['CSI with a colon', '\u001b[38:2::1:2:3m'],
  ['CSI of one character', '\u009b31m'],
  ['OSC of one character', '\u009d0;title\u009c'],
  ['a link of a terminal', '\u001b]8;;http://x\u001b\\'],
  ['DCS', '\u001bPq#0\u001b\\'],
  ['APC', '\u001b_Ga=d\u001b\\'],
  ['PM', '\u001b^x\u001b\\'],
  ['SOS', '\u001bXx\u001b\\'],
  // Not a tab, a line end, and those that a terminal moves by: they are above.
  ...listCodes([0x01, 0x07], [0x0b, 0x0c], [0x0e, 0x1a], [0x1c, 0x1f], [0x7f, 0x9f]),
  ...listCodes([0x34f, 0x34f], [0x61c, 0x61c], [0x115f, 0x1160], [0x17b4, 0x17b5], [0x180b, 0x180f]),
  ...listCodes([0x200b, 0x200f], [0x202a, 0x202e], [0x2060, 0x206f], [0x3164, 0x3164], [0xfe00, 0xfe00]),
  ...listCodes([0xfe0f, 0xfe0f], [0xfeff, 0xfeff], [0xffa0, 0xffa0], [0xfff9, 0xfffb]),
  ...listCodes([0x1bca0, 0x1bca0], [0x1d173, 0x1d173], [0xe0001, 0xe0001], [0xe0061, 0xe0061]),
  ...listCodes([0xe007f, 0xe007f], [0xe0100, 0xe0100], [0xe01ef, 0xe01ef]),
];

function listCodes(...ranges: (readonly [number, number])[]): (readonly [string, string])[] {
  return ranges.flatMap(([first, last]) =>
    Array.from({ length: last - first + 1 }, (_, at) => {
      const code = first + at;
      return [`U+${code.toString(16).toUpperCase().padStart(4, '0')}`, String.fromCodePoint(code)] as const;
    }),
  );
}

const hex = (code: number, width = 1): string => code.toString(16).padStart(width, '0');

const ESCAPES: readonly (readonly [string, (code: number) => string])[] = [
  ['escapes of C with eight digits', (code) => `\\U${hex(code, 8)}`],
  ['escapes of JavaScript in braces', (code) => `\\u{${hex(code)}}`],
  ['escapes of Perl in braces', (code) => `\\x{${hex(code, 4)}}`],
  ['HTML escapes with an X', (code) => `&#X${hex(code).toUpperCase()};`],
  ['HTML escapes with zeros', (code) => `&#${String(code).padStart(5, '0')};`],
  ['HTML escapes with many zeros', (code) => `&#${String(code).padStart(40, '0')};`],
  ['escapes of JavaScript with many zeros', (code) => `\\u{${hex(code, 12)}}`],
  ['HTML escapes with eight digits', (code) => `&#${String(code).padStart(8, '0')};`],
  ['hex HTML escapes with zeros', (code) => `&#x${hex(code, 6)};`],
];

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
  ['hex with three blanks', (key) => pairs(key).join('   ')],
  ['hex with tabs', (key) => pairs(key).join('\t')],
  ['hex with semicolons', (key) => pairs(key).join('; ')],
  ['a list of bytes with 0X', (key) => pairs(key).join(', 0X').replace(/^/, '0X')],
  ...[3, 4, 5, 8, 10, 16].flatMap((bytes) =>
    [' ', ':', '-', ', 0x'].map(
      (between) =>
        [
          `hex in groups of ${bytes} with ${between}`,
          (key: string) =>
            (
              pairs(key)
                .join('')
                .match(new RegExp(`.{1,${bytes * 2}}`, 'g')) ?? []
            ).join(between),
        ] as const,
    ),
  ),
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
  ['several backspaces', (key) => pieces(key).join('xyz\b\b\b')],
  ['backspaces behind a code', (key) => pieces(key).join('!\u001b[0m\b')],
  ['backspaces with codes between', (key) => pieces(key).join('!?\u001b[0m\b\u200b\b')],
  ['a cursor that goes back', (key) => pieces(key).join('!!!\u001b[3D')],
  ['a cursor that goes back by one', (key) => pieces(key).join('!\u001b[D')],
  ['a cursor that goes back by a code of one character', (key) => pieces(key).join('!!\u009b2D')],
  ...BETWEEN.map(([name, sign]) => [name, (key: string) => pieces(key).join(sign)] as const),
  ...BETWEEN.filter(([, sign]) => sign.length === 1).map(
    ([name, sign]) => [`${name}, after each letter`, (key: string) => key.split('').join(sign)] as const,
  ),
  ...ESCAPES.map(
    ([name, toEscape]) =>
      [
        name,
        (key: string) =>
          key
            .split('')
            .map((letter) => toEscape(letter.charCodeAt(0)))
            .join(''),
      ] as const,
  ),
  ['escapes of mails', (key) => pairs(key).join('=').toUpperCase().replace(/^/, '=')],
  [
    'one escape of mails',
    (key) => key.replace(/[_-]|A(?=1)/, (sign) => `=${pairs(sign).join('').toUpperCase()}`),
  ],
  [
    'every third letter as an escape of mails',
    (key) => key.replaceAll(/(.)(..)/g, (_, a, b) => `=${pairs(a).join('')}${b}`),
  ],
  [
    'escapes of mails and codes of a terminal',
    (key) => pieces(key.replace(/[_-]/, (sign) => `=${pairs(sign).join('')}`)).join('\u001b[0m'),
  ],
  [
    'HTML escapes without an end',
    (key) => key.replaceAll(/[_-](?![0-9])|I/g, (sign) => `&#${sign.charCodeAt(0)}`),
  ],
  [
    'escapes of CSS',
    (key) =>
      key
        .split('')
        .map((letter) => `\\${hex(letter.charCodeAt(0))} `)
        .join(''),
  ],
  ['one escape of CSS', (key) => key.replace(/[_-]|I/, (sign) => `\\${hex(sign.charCodeAt(0))} `)],
  [
    'escapes of CSS with six digits',
    (key) =>
      key
        .split('')
        .map((letter) => `\\${hex(letter.charCodeAt(0), 6)}`)
        .join(''),
  ],
  ['HTML names', (key) => key.replaceAll('_', '&lowbar;').replaceAll('-', '&hyphen;')],
  ['dashes between bytes', (key) => pairs(key).join('-')],
  ['base64 of UTF-16', (key) => Buffer.from(key, 'utf16le').toString('base64')],
  ['base64 of UTF-16, big end first', (key) => wide(key).toString('base64')],
  ['hex of UTF-16', (key) => Buffer.from(key, 'utf16le').toString('hex')],
  ['hex of UTF-16, big end first', (key) => wide(key).toString('hex')],
  ['base64 of codes of a terminal', (key) => base64(pieces(key).join('\u001b[0m'))],
  ['base64 of invisible blanks', (key) => base64(pieces(key).join('\u200b'))],
  ['base64 of escapes', (key) => base64(pairs(key).join('%').replace(/^/, '%'))],
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
    ['as lines of a mail', (key: string) => (key.match(/.{1,10}/g) ?? []).map((piece) => `${piece}=`)],
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

  it.each(['\u001b[9D', '\b\b\b', '\u009bD'])(
    'before %j, which overwrites nothing, are taken out',
    (back) => {
      for (const key of KEYS) {
        const hidden = pieces(key).join('\u001b[0m');
        for (const mask of [maskSecrets, createLineMask()])
          expect(mask(`see ${hidden}${back}`)).toBe(`see [redacted]${back}`);
      }
    },
  );

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
    'a\u001b(Bb\u001b[mc \u001b7\u001b8 \u009b31mred\u009b0m and \u001b]8;;http://x\u001b\\a link\u001b]8;;\u001b\\',
    'un\u00adbreak\u00adable \ufe0f \ud83d\udc68\u200d\ud83d\udc69 \u202aabc\u202c \udb40\udc61',
    '&amp; &lt;a href=&quot;x&quot;&gt; &sol; &nosuch; &#99999999; &#x110000; \\u{110000} \\U00110000 \\u{}',
    'a=20 b=3D =C3=A9t=C3=A9 and x=1f=2e=3d=4c=5b=6a=7f',
    'timeout=30000 level=4a x=5Fy size=41 --width=7f0 ?q=2b&r=3c d=64,65 =\n=3D=',
    '.a\\5f b { content: "\\2014 \\a0 \\00a0" } C:\\20 x\\74 &#39 &#0; &#x &#; \\u{} \\u{0000}',
    '00-1b-44-11-3a-b7 and 2026-01-02-03-04-05-06-07-08-09-10-11-12 and 123e4567-e89b-12d3-a456-426614174000',
    '7f454c46 02010100 00000000 00000000 03003e00 01000000 60100000 00000000',
    '  401136:\t55                   \tpush   %rbp\n  401137:\t48 89 e5 48 83 ec 10 c7 45 fc 00 00 00 00\tmov',
    '00000000: 2369 6e63 6c75 6465 203c 7374 6469 6f2e  #include <stdio.',
    'deadbeefdeadbeefdeadbeefdeadbeefdeadbeef 0123456789abcdef0123456789abcdef01234567 refs/heads/main',
    'index 3a9f1c2d4e..5f60718293 100644\n--- a/src/a.ts\n+++ b/src/a.ts\n@@ -1,4 +1,4 @@\n-abcd\n+ef01',
    '3a9f1c2d-4e5f-6071-8293-a4b5c6d7e8f9, 0123e4567-e89b-12d3-a456-426614174000; 00:1b:44:11:3a:b7:00:1b:44:11',
    `data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk${'YPhfDwAChwGA60e6'.repeat(4)}==`,
    'Error: x\n    at Object.<anonymous> (/home/a/b.js:10:15)\n    at Module._compile (node:internal:1554:14)',
    `a text ${Buffer.from('of two bytes a letter, as others write it', 'utf16le').toString('base64')} end`,
  ])('[A14-4] are not seen in %j', (text) => {
    expect(maskSecrets(text)).toBe(text);
    expect(text.split('\n').map(createLineMask()).join('\n')).toBe(text);
  });

  // What only a terminal does, which overwrites what it has shown, no file does.
  const WRITTEN = HIDDEN.filter(([how]) => how !== 'carriage returns');
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

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  compareCodePoints,
  compareText,
  countNoun,
  countTasks,
  endSentence,
  escapeLine,
  escapeText,
  firstAndLast,
  hasLoneSurrogate,
  utf8Length,
} from './text.ts';

/** Code points from first to last. */
const range = (first: number, last: number): number[] =>
  Array.from({ length: last - first + 1 }, (_, i) => first + i);

const ESCAPED: readonly [string, number[]][] = [
  ['C0 controls', range(0x00, 0x1f)],
  ['delete and C1 controls', range(0x7f, 0x9f)],
  ['bidi marks', [0x061c, 0x200e, 0x200f]],
  ['bidi embeddings and overrides', range(0x202a, 0x202e)],
  ['bidi isolates and deprecated marks', range(0x2066, 0x206f)],
  ['zero-width characters', [0x200b, 0x2060, 0xfeff]],
  ['invisible operators, hyphens and separators', [0x00ad, 0x034f, 0x180e, ...range(0x2061, 0x2064)]],
  ['annotation marks', range(0xfff9, 0xfffb)],
  ['line and paragraph separators', [0x2028, 0x2029]],
  ['lone high surrogates', range(0xd800, 0xdbff)],
  ['lone low surrogates', range(0xdc00, 0xdfff)],
];
const LETTERS: ReadonlyMap<number, string> = new Map([
  [0x09, '\\t'],
  [0x0a, '\\n'],
  [0x0d, '\\r'],
]);

/** Any sequence of code units, with many halves of pairs and many controls. */
const codeUnits = fc
  .array(
    fc.oneof(
      fc.integer({ min: 0, max: 0xffff }),
      fc.integer({ min: 0xd7ff, max: 0xe000 }),
      fc.integer({ min: 0, max: 0xa0 }),
    ),
    { maxLength: 20 },
  )
  .map((units) => String.fromCharCode(...units));

describe('escapeLine', () => {
  it.each(ESCAPED)('shows %s as escapes', (_name, units) => {
    for (const unit of units) {
      const shown = LETTERS.get(unit) ?? `\\u${unit.toString(16).padStart(4, '0')}`;
      expect(escapeLine(`a${String.fromCharCode(unit)}b`)).toBe(`a${shown}b`);
    }
  });

  it('changes no other character of the basic plane', () => {
    const escaped = new Set(ESCAPED.flatMap(([, units]) => units));
    const kept = range(0, 0xffff).filter((unit) => !escaped.has(unit));
    const text = String.fromCharCode(...kept.slice(0, 32_000)) + String.fromCharCode(...kept.slice(32_000));
    expect(text).toHaveLength(65_536 - escaped.size);
    expect(escapeLine(text)).toBe(text);
  });

  it.each([
    ['CJK', '日本語のタスク 한국어 中文'],
    ['a family joined by ZWJ', '👨‍👩‍👧‍👦'],
    ['a profession with skin colour', '👩🏽‍💻'],
    ['a flag', '🇫🇷🏴󠁧󠁢󠁥󠁮󠁧󠁿'],
    ['a keycap and a variation selector', '1️⃣ ❤️'],
    ['Persian with ZWNJ', 'می‌خواهم'],
    ['Hebrew and Arabic letters', 'שלום مرحبا'],
    ['combining marks', 'e\u0301 n\u0303'],
    ['characters beyond the basic plane', '𝒜𐍈🜁'],
  ])('leaves %s alone', (_name, text) => {
    expect(escapeLine(text)).toBe(text);
    expect(escapeText(text)).toBe(text);
  });

  it('shows tag letters that are no part of a flag', () => {
    expect(escapeLine('ok\u{e0061}\u{e0062}')).toBe('ok\\udb40\\udc61\\udb40\\udc62');
  });

  it('keeps a terminal from being driven', () => {
    expect(escapeLine('\u001b[2J\u001b]0;title\u0007')).toBe('\\u001b[2J\\u001b]0;title\\u0007');
    expect(escapeLine('ok\r\nfg-a3f8 done')).toBe('ok\\r\\nfg-a3f8 done');
    expect(escapeLine('user\u202Etxt.exe')).toBe('user\\u202etxt.exe');
  });

  it.each([
    ['\ud83d\ude00', '\ud83d\ude00'],
    ['\ud83d\ud83d\ude00', '\\ud83d\ud83d\ude00'],
    ['\ud83d\ude00\ude00', '\ud83d\ude00\\ude00'],
    ['\ude00\ud83d', '\\ude00\\ud83d'],
  ])('tells the halves of a pair from lone ones in %j', (text, shown) => {
    expect(escapeLine(text)).toBe(shown);
  });

  it('gives one well-formed line, and the same when it is escaped again', () => {
    fc.assert(
      fc.property(codeUnits, (text) => {
        const shown = escapeLine(text);
        expect(shown).not.toMatch(/[\p{Cc}\u2028\u2029]/u);
        expect(hasLoneSurrogate(shown)).toBe(false);
        expect(escapeLine(shown)).toBe(shown);
      }),
      { numRuns: 1_000 },
    );
  });
});

describe('escapeText', () => {
  it('keeps newline and tab, and escapes all else that escapeLine escapes', () => {
    expect(escapeText('a\n\tb')).toBe('a\n\tb');
    expect(escapeText('a\r\nb')).toBe('a\\r\nb');
    for (const [, units] of ESCAPED) {
      for (const unit of units) {
        if (unit === 0x09 || unit === 0x0a) continue;
        const character = String.fromCharCode(unit);
        expect(escapeText(character)).toBe(escapeLine(character));
      }
    }
  });
});

describe('hasLoneSurrogate', () => {
  it.each([
    ['', false],
    ['👩🏽‍💻', false],
    ['\ud800', true],
    ['a\udc00b', true],
    ['\ude00\ud83d', true],
  ])('of %j is %s', (text, lone) => {
    expect(hasLoneSurrogate(text)).toBe(lone);
  });
});

describe('utf8Length', () => {
  it.each([
    '',
    'abc',
    'é',
    '名',
    '👩🏽‍💻',
    '\u007f\u0080\u07ff\u0800\uffff',
    '\ud800',
    '\ud800a',
    '\ud800é',
    '\ud800\ud800',
    '\udc00\ud800',
    'a\udfff',
  ])('of %j is what the file will take', (text) => {
    expect(utf8Length(text)).toBe(Buffer.byteLength(text, 'utf8'));
  });

  it('agrees with Buffer.byteLength on any sequence of code units', () => {
    fc.assert(
      fc.property(codeUnits, (text) => {
        expect(utf8Length(text)).toBe(Buffer.byteLength(text, 'utf8'));
      }),
      { numRuns: 2_000 },
    );
  });
});

describe('compareText', () => {
  it('orders by code unit, not by locale', () => {
    const words = ['é', 'a', 'Z', '10', '9', 'z', '', '👍', '\uffff'];
    expect(words.toSorted(compareText)).toEqual(['', '10', '9', 'Z', 'a', 'z', 'é', '👍', '\uffff']);
    expect(compareText('a', 'a')).toBe(0);
  });
});

describe('a number of things', () => {
  it.each([
    [0, '0 tasks', '0 more places'],
    [1, '1 task', '1 more place'],
    [2, '2 tasks', '2 more places'],
  ])('%i', (count, tasks, places) => {
    expect(countTasks(count)).toBe(tasks);
    expect(countNoun(count, 'more place')).toBe(places);
  });
});

describe('a text of others in a sentence', () => {
  it.each([
    ['It broke', 'It broke.'],
    ['Is it installed?', 'Is it installed?'],
    ['It broke.', 'It broke.'],
  ])('%s has one sign at its end', (text, ended) => {
    expect(endSentence(text)).toBe(ended);
  });

  it.each([
    ['', ''],
    ['one\n', 'one'],
    ['one:\n\n  two', 'one: two'],
    ['`sh ci.sh` ended with 1: 1\n2\n3\nfailed: a\n', '`sh ci.sh` ended with 1: 1 … failed: a'],
  ])('of several lines has the first and the last: %j', (text, line) => {
    expect(firstAndLast(text)).toBe(line);
  });
});

describe('compareCodePoints', () => {
  it('orders texts as their UTF-8 bytes are ordered', () => {
    const text = fc.string({ unit: 'binary', maxLength: 4 });
    const odd = fc.constantFrom(
      'a',
      '\ud7ff',
      '\ue000',
      '\ufb00',
      '\uffff',
      '\u{10000}',
      '\u{1f98a}',
      '\u{1f98b}',
    );
    const texts = fc.oneof(
      text,
      fc.array(odd, { maxLength: 3 }).map((parts) => parts.join('')),
    );
    const same = fc.property(texts, texts, (a, b) => {
      const order = Buffer.compare(Buffer.from(a), Buffer.from(b));
      expect(Math.sign(compareCodePoints(a, b))).toBe(order);
    });
    fc.assert(same, { numRuns: 2_000 });
  });
});

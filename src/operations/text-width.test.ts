import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { textWidth, truncateText, wrapWords } from './text-width.ts';

describe('textWidth', () => {
  const cases: readonly [string, string, number][] = [
    ['nothing', '', 0],
    ['ASCII', 'Fix the parser', 14],
    ['Latin with accents', 'Überprüfung', 11],
    ['accents as marks of their own', 'e\u0301', 1],
    ['Chinese', '修复解析器', 10],
    ['Japanese', 'テスト', 6],
    ['Korean', '한국어', 6],
    ['full-width forms', 'ＡＢ', 4],
    ['half-width katakana', 'ｱｲ', 2],
    ['Hindi, whose spacing marks take room', 'क्षि', 3],
    ['Arabic', 'مرحبا', 5],
    ['an emoji', '🚀', 2],
    ['a family joined to one picture', '👨‍👩‍👧', 2],
    ['a flag', '🇩🇪', 2],
    ['two flags', '🇩🇪🇫🇷', 4],
    ['a sign made a picture', '❤️', 2],
    ['the sign alone', '❤', 1],
    ['a skin tone and a joiner', '👩🏽‍💻', 2],
    ['box drawing', '├─', 2],
    ['a soft hyphen', 'a\u00adb', 2],
  ];
  it.each(cases)('%s', (_name, text, width) => {
    expect(textWidth(text)).toBe(width);
  });
});

describe('truncateText', () => {
  it('leaves what fits', () => {
    expect(truncateText('abc', 3)).toBe('abc');
  });
  it('cuts with an ellipsis that counts', () => {
    expect(truncateText('abcdef', 4)).toBe('abc…');
  });
  it('does not cut a wide character in half', () => {
    expect(truncateText('修复解析器', 4)).toBe('修…');
    expect(truncateText('修复解析器', 5)).toBe('修复…');
  });
  it('keeps a mark with its letter', () => {
    expect(truncateText('e\u0301e\u0301e\u0301', 2)).toBe('e\u0301…');
  });
  it.each([
    [1, '…'],
    [0, ''],
  ])('knows the width %i', (width, expected) => {
    expect(truncateText('abc', width)).toBe(expected);
  });
  it('never exceeds the width and never leaves half a surrogate pair', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), fc.nat(20), (text, width) => {
        const cut = truncateText(text, width);
        expect(textWidth(cut)).toBeLessThanOrEqual(width);
        expect(cut.isWellFormed()).toBe(true);
        expect(cut === text).toBe(textWidth(text) <= width);
      }),
    );
  });
});

describe('wrapWords', () => {
  it.each([
    ['it does not fit here', 10, ['  it does', '  not fit', '  here']],
    ['one', 80, ['  one']],
    ['a/path/that/is/wider than', 10, ['  a/path/that/is/wider', '  than']],
    ['all in one line', Number.POSITIVE_INFINITY, ['  all in one line']],
    ['', 10, ['  ']],
  ])('%s in %d columns', (text, columns, lines) => {
    expect(wrapWords(text, { columns, indent: '  ' })).toEqual(lines);
  });
});

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { escapeLine, utf8Length } from '#kernel/text.ts';
import { cutToBytes, estimateTokens } from './token-estimate.ts';

describe('estimateTokens', () => {
  it('counts our own words by three bytes and the text of others byte by byte, each line with its end', () => {
    expect(estimateTokens([])).toBe(0);
    expect(estimateTokens([{ text: '12345', from: 'forge' }])).toBe(2);
    expect(estimateTokens([{ text: '12345', from: 'others' }])).toBe(6);
    expect(estimateTokens([{ text: '漢字', from: 'others' }])).toBe(7);
    expect(
      estimateTokens([
        { text: 'ab', from: 'forge' },
        { text: '🙂', from: 'others' },
        { text: 'cd', from: 'forge' },
      ]),
    ).toBe(2 + 5);
  });
});

describe('cutToBytes', () => {
  it.each([
    ['what fits', 'twelve bytes', 12, 'twelve bytes'],
    ['one byte too many', 'twelve bytes', 11, 'twelve b…'],
    ['three bytes a character', '一二三四五', 12, '一二三…'],
    ['no half of an emoji', '🙂🙂🙂🙂', 12, '🙂🙂…'],
    ['no joiner at the end', '👩\u200d👩\u200d👧', 12, '👩…'],
    ['what escaping makes longer', '\u001b\u001b\u001b', 12, '\u001b…'],
    ['nothing', '', 3, ''],
    ['no room for a character', '一二', 3, '…'],
  ])('%s', (_, text, bytes, cut) => {
    expect(cutToBytes(text, bytes)).toBe(cut);
  });

  it('keeps the bound once escaped, and cuts nothing that is within it', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: 'binary', maxLength: 80 }),
        fc.integer({ min: 3, max: 90 }),
        (text, bytes) => {
          const cut = cutToBytes(text, bytes);
          expect(utf8Length(escapeLine(cut))).toBeLessThanOrEqual(bytes);
          expect(cut === text || (cut.endsWith('…') && text.startsWith(cut.slice(0, -1)))).toBe(true);
          const needed = Array.from(text, (one) => utf8Length(escapeLine(one))).reduce((a, b) => a + b, 0);
          expect(cut === text || needed > bytes).toBe(true);
        },
      ),
    );
  });
});

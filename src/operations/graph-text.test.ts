import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { HOSTILE_TITLES } from '../../tests/support/graph-sample.ts';
import { describeLook, shorten, splitCharacters, toLine } from './graph-label.ts';
import { escapeXml, fitLine, measure, wrapLines } from './graph-text.ts';

const CARD_LINE = { width: 208, size: 13 };

describe('toLine', () => {
  it.each(HOSTILE_TITLES)('leaves nothing that hides, moves or breaks: %j', (title) => {
    expect(toLine(title)).not.toMatch(
      /[\u0000-\u001f\u007f-\u009f\u200b\u202a-\u202e\u2066-\u2069\ufeff\ufffe\uffff]/,
    );
    expect(toLine(title).isWellFormed()).toBe(true);
  });
});

describe('shorten', () => {
  it('leaves short text alone', () => {
    expect(shorten('Fix it', 10)).toBe('Fix it');
  });

  it('says that there was more', () => {
    expect(shorten('Fix the parser', 8)).toBe('Fix the…');
  });

  it('counts characters as a person does', () => {
    const family = '👩‍👩‍👧‍👦';
    expect(shorten(family.repeat(4), 4)).toBe(family.repeat(4));
    expect(shorten(family.repeat(5), 4)).toBe(`${family.repeat(3)}…`);
  });
});

describe('splitCharacters', () => {
  it('keeps a picture of several code points whole', () => {
    expect(splitCharacters('a🇩🇪é', 9)).toEqual(['a', '🇩🇪', 'é']);
  });

  it('stops at the limit', () => {
    expect(splitCharacters('abc', 2)).toEqual(['a', 'b']);
    expect(splitCharacters('äöü', 2)).toEqual(['ä', 'ö']);
  });
});

describe('describeLook', () => {
  it('prefers the state of the workflow, except where the look says more', () => {
    const task = { state: 'in_review' } as Parameters<typeof describeLook>[0]['task'];
    expect(describeLook({ look: 'in_progress', task })).toBe('in review');
    expect(describeLook({ look: 'blocked', task })).toBe('blocked');
    expect(describeLook({ look: 'open', task: null })).toBe('open');
  });
});

describe('escapeXml', () => {
  it('turns markup into text', () => {
    expect(escapeXml(`<a b="c" d='e'>&`)).toBe('&lt;a b=&quot;c&quot; d=&#39;e&#39;&gt;&amp;');
  });

  it.each(HOSTILE_TITLES)('%j', (title) => {
    expect(escapeXml(title)).not.toMatch(/[<>"']|&(?!(?:amp|lt|gt|quot|#39);)/);
  });
});

describe('wrapLines', () => {
  it('breaks at spaces', () => {
    expect(wrapLines('Load test with ten thousand sessions', { ...CARD_LINE, lines: 2 })).toEqual([
      'Load test with ten thousand',
      'sessions',
    ]);
  });

  it('breaks anywhere in text without spaces, and shortens the last line', () => {
    const lines = wrapLines('修复在并发写入时任务图丢失边的问题并为此添加属性测试以防止再次出现', {
      ...CARD_LINE,
      lines: 2,
    });
    expect(lines).toHaveLength(2);
    expect(lines[1]).toMatch(/…$/);
  });

  it('keeps a title of one line on one line', () => {
    expect(wrapLines('  Upgrade guide ', { ...CARD_LINE, lines: 2 })).toEqual(['Upgrade guide']);
  });

  it('loses nothing but spaces when everything fits', () => {
    fc.assert(
      fc.property(fc.array(fc.stringMatching(/^[a-zA-Z0-9-]{1,8}$/), { maxLength: 5 }), (words) => {
        const lines = wrapLines(words.join(' '), { ...CARD_LINE, lines: 2 });
        expect(lines.join('').replaceAll(' ', '')).toBe(words.join(''));
      }),
    );
  });

  it('never makes a line wider than allowed', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string({ unit: 'grapheme' }), fc.constantFrom(...HOSTILE_TITLES)), (text) => {
        const lines = wrapLines(text, { ...CARD_LINE, lines: 2 });
        expect(lines.length).toBeLessThanOrEqual(2);
        for (const line of lines)
          expect(measure(line, CARD_LINE.size)).toBeLessThanOrEqual(CARD_LINE.width + 0.001);
      }),
    );
  });
});

describe('fitLine', () => {
  it('shortens only what does not fit', () => {
    expect(fitLine('anna', { width: 60, size: 11 })).toBe('anna');
    expect(fitLine('a-very-long-identity@example.com', { width: 60, size: 11 })).toMatch(/^a-very.*…$/);
  });
});

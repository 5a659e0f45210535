import { describe, expect, it } from 'vitest';
import { findDoubleKey } from '#kernel/double-key.ts';
import { ForgeError } from '#kernel/errors.ts';
import { canonicalJson, jsonDepth, parseJson } from '#kernel/json.ts';
import { LIMITS } from '#kernel/limits.ts';
import { escapeLine } from '#kernel/text.ts';
import { countSteep } from './support/count-steps.ts';
import { findOverflow } from './support/find-overflow.ts';
import { findPatterns } from './support/find-patterns.ts';
import { measureGrowth } from './support/measure-growth.ts';
import { listSourcePatterns } from './support/source-patterns.ts';

describe('[C2] what a checker of patterns must catch', () => {
  it.each([
    ['zeros at the end', '0+$', ''],
    ['blanks at the end', '\\s+$', ''],
    ['all but slashes at the end', '[^/]+$', ''],
    ['a begin without an end', 'a.*b', ''],
    ['a begin without an end, all of them', '<b>[^]*?</b>', 'g'],
    ['a lazy key before blanks', '^[^:]*?\\s*:$', ''],
    ['one that is not blank', '^[^\\n]*[^\\s][^\\n]*$', ''],
    ['words of two kinds', '^\\w*\\d*[a-z]*$', ''],
    ['digits that are searched', '\\d+\\.\\d+', ''],
    ['repeats of repeats', '^(a+)+$', ''],
    ['repeats of repeats in a group', '^(?:[a-z]+ ?)*!$', 'i'],
    ['two ways to take the same', '^(?:a|a)*b', ''],
    ['a block of markers', '^## C[ \\t]*\\n+<B>\\n([\\s\\S]*?)<E>\\n?', 'im'],
    ['inside a lookahead', '^(?=(?:a|aa)+$)', ''],
  ])('%s: /%s/%s', (_name, source, flags) => {
    expect(countSteep({ source, flags })).toBeDefined();
  });

  it.each([
    ['^0+', ''],
    ['^-?(\\d+)(?:\\.(\\d+))?(?:[eE]([+-]?\\d+))?$', ''],
    ['"[^"\\\\]*(?:\\\\.[^"\\\\]*)*"', 'g'],
    ['(?<!\\d)\\d+(\\.\\d+)+', ''],
    ['^(?!\\s*$)[^\\u0000]*$', ''],
  ])('but not /%s/%s', (source, flags) => {
    expect(countSteep({ source, flags })).toBeUndefined();
  });

  it.each([
    ['a literal', 'export const a = (text: string) => text.replace(/0+$/, "");', '0+$'],
    ['a class member', 'class A { static b = /x+$/g }', 'x+$'],
    ['new RegExp of a constant', 'const W = "a+"; export const b = new RegExp(`^(${W})+$`, "i");', '^(a+)+$'],
    ['RegExp without new', 'export const b = RegExp("a.*b");', 'a.*b'],
    ['a part that is not known', 'export const b = (n: string) => new RegExp(`^${n}:`, "m");', '^word:'],
  ])('reads %s', (_name, text, source) => {
    expect(findPatterns('planted.ts', text).map((one) => one.source)).toContain(source);
  });

  it('does not pass over a pattern that it cannot read', () => {
    expect(() => findPatterns('planted.ts', 'export const b = (n: string) => new RegExp(n);')).toThrow(
      'planted.ts:1',
    );
  });
});

describe('[C2] every regular expression of the program', () => {
  const patterns = listSourcePatterns();

  it('is found', () => {
    expect(patterns.length).toBeGreaterThan(300);
  });

  it('takes twice as long for twice the text', { timeout: 180_000 }, () => {
    const steep = patterns.flatMap((one) => {
      const growth = countSteep(one);
      return growth === undefined ? [] : [{ at: `${one.path}:${one.line}`, pattern: one.source, growth }];
    });
    expect(steep).toEqual([]);
  });
});

describe('[C2] a text of 8 MiB, which a program may print as one line', () => {
  it('is too long for a pattern that is made so, which the look of the soak finds', () => {
    const planted = { path: 'planted.ts', line: 1, source: '(?:a|b){27,}', flags: '' };
    expect(findOverflow(planted, { length: LIMITS.run_line_bytes, texts: 8 })).toBeDefined();
  });
});

describe('[C2] what reads JSON of others', () => {
  const quiet =
    (work: (text: string) => unknown) =>
    (text: string): void => {
      try {
        work(text);
      } catch (error) {
        if (!(error instanceof ForgeError)) throw error;
      }
    };

  it.each([
    ['a number of zeros', { before: '{"title":0.1', repeated: '0', after: '1}' }],
    ['a number of digits', { before: '[', repeated: '12', after: ']' }],
    ['an exponent', { before: '[1e', repeated: '0', after: '1]' }],
    ['many numbers', { before: '[1', repeated: ',1', after: ']' }],
    ['many long numbers', { before: '[1', repeated: ',0.1000000000000000055', after: ']' }],
    ['backslashes', { before: '["', repeated: '\\\\', after: '"]' }],
    ['quotes', { before: '["', repeated: '\\"', after: '"]' }],
    ['keys with escapes', { before: '[0', repeated: ',{"\\n":1}', after: ']' }],
    ['objects', { before: '[0', repeated: ',{"a":{}}', after: ']' }],
  ])('parseJson: %s', (_name, text) => {
    expect(
      measureGrowth(
        quiet((one) => parseJson(one, 'It')),
        text,
        65_536,
      ),
    ).toBeUndefined();
  });

  it('findDoubleKey, jsonDepth, canonicalJson and escapeLine', () => {
    const objects = { before: '[0', repeated: ',{"a":1}', after: ']' };
    expect(measureGrowth(findDoubleKey, objects, 65_536)).toBeUndefined();
    const walk = (text: string): void => {
      const value = parseJson(text, 'It');
      jsonDepth(value);
      canonicalJson(value);
    };
    expect(measureGrowth(walk, objects, 65_536)).toBeUndefined();
    expect(measureGrowth(escapeLine, { before: '', repeated: '\u001b', after: '' }, 65_536)).toBeUndefined();
  });

  it('says the beginning of a number that is too long, and not all of it', () => {
    const long = `0.1${'0'.repeat(120_000)}1`;
    const error = (() => {
      try {
        return parseJson(`{"title":${long}}`, 'The body');
      } catch (caught) {
        return caught;
      }
    })() as ForgeError;
    expect(error.message).toContain('0.1000');
    expect(error.message).toContain('(120004 characters)');
    expect(error.message.length).toBeLessThan(LIMITS.error_value_length + 200);
  });
});

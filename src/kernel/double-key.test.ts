import { describe, expect, it } from 'vitest';
import { findDoubleKey } from './double-key.ts';

describe('findDoubleKey', () => {
  it.each([
    ['{"a":1,"a":1}', 'a'],
    ['{"a":{"b":{"c":1,"d":2,"c":3}}}', 'a.b.c'],
    ['{"a":[1,[2,3],{"b":1},{"b":1,"b":2}]}', 'a[3].b'],
    ['{"title":"x","t\\u0069tle":"y"}', 'title'],
    ['{ "a" : "\\"}" , "a" : 2 }', 'a'],
    ['[{"a":1},{"a":1,"a":1}]', '[1].a'],
    ['{"":1,"":2}', ''],
    ['{"a":{"a":1},"a":2}', 'a'],
  ])('finds it in %s', (text, path) => {
    expect(JSON.parse(text)).toBeDefined();
    expect(findDoubleKey(text)).toBe(path);
  });

  it.each([
    '{}',
    '[]',
    '"a"',
    '1',
    '{"a":{"a":{"a":1}}}',
    '[{"a":1},{"a":1}]',
    '{"a":"\\"a\\":1,\\"a\\":2","b":["a","a"]}',
    '{"a":"{\\\\","b":"a"}',
  ])('finds none in %s', (text) => {
    expect(JSON.parse(text)).toBeDefined();
    expect(findDoubleKey(text)).toBeUndefined();
  });

  it('keeps its place over a text of megabytes', () => {
    const long = JSON.stringify({ a: '\\"x'.repeat(500_000), b: 'x'.repeat(1_000_000) });
    expect(findDoubleKey(long)).toBeUndefined();
    expect(findDoubleKey(`${long.slice(0, -1)},"b":1}`)).toBe('b');
  });
});

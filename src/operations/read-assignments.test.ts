import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readAssignments } from './read-assignments.ts';

const read = (...texts: string[]) => readAssignments(texts, '--meta-set');
const valueOf = (text: string): unknown => read(`k=${text}`).values['k'];

describe('readAssignments', () => {
  const values: readonly [string, unknown][] = [
    ['true', true],
    ['false', false],
    ['null', null],
    ['0', 0],
    ['-3', -3],
    ['1.5', 1.5],
    ['1e3', 1000],
    ['9007199254740991', Number.MAX_SAFE_INTEGER],
    ['"true"', 'true'],
    ['{"a":[1]}', { a: [1] }],
    ['[1, "x"]', [1, 'x']],
    ['', ''],
    ['text', 'text'],
    ['True', 'True'],
    ['007', '007'],
    ['+1', '+1'],
    ['1.', '1.'],
    ['.5', '.5'],
    ['0x10', '0x10'],
    ['NaN', 'NaN'],
    ['a=b=c', 'a=b=c'],
    [' true', ' true'],
    ['@@text', '@text'],
    ['@@', '@'],
    ['x@y', 'x@y'],
  ];
  it.each(values)('reads %s', (text, value) => {
    expect(valueOf(text)).toStrictEqual(value);
  });

  it('records files and standard input instead of reading them', () => {
    expect(read('log=@build.log', 'b=@-', 'c=1')).toEqual({
      values: { c: 1 },
      files: [
        { key: 'log', path: 'build.log' },
        { key: 'b', path: '-' },
      ],
    });
  });
  it('lets the last one of a key count, between values and files too', () => {
    expect(read('a=1', 'a=2').values).toEqual({ a: 2 });
    expect(read('a=1', 'a=@f')).toEqual({ values: {}, files: [{ key: 'a', path: 'f' }] });
    expect(read('a=@f', 'a=1')).toEqual({ values: { a: 1 }, files: [] });
  });
  it('keeps keys that a prototype would swallow', () => {
    const { values: record } = read('__proto__={"polluted":true}', 'constructor=1', 'toString=x');
    expect(Object.keys(record)).toEqual(['__proto__', 'constructor', 'toString']);
    expect(record['__proto__']).toEqual({ polluted: true });
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined();
    expect(JSON.stringify(record)).toBe('{"__proto__":{"polluted":true},"constructor":1,"toString":"x"}');
  });
  it('keeps such keys inside JSON values', () => {
    expect(JSON.stringify(read('a={"__proto__":1}').values)).toBe('{"a":{"__proto__":1}}');
  });

  const refused: readonly [string, RegExp][] = [
    ['key', /--meta-set wants key=value, not "key"/],
    ['', /wants key=value/],
    ['=x', /wants key=value/],
    ['k={x', /--meta-set k is not valid JSON/],
    ['k=[1', /not valid JSON/],
    ['k="x', /not valid JSON/],
    ['k=[wip] later', /not valid JSON/],
    ['k=9007199254740993', /cannot keep exactly/],
    ['k={"n":12345678901234567890}', /cannot keep exactly/],
    ['k=1e999', /cannot keep exactly/],
    ['k=@', /names no file/],
  ];
  it.each(refused)('refuses %s', (text, message) => {
    expect(() => read(text)).toThrow(message);
  });
  it('says how plain text is written when it looks like JSON', () => {
    expect(() => read('k=[wip] later')).toThrow(
      expect.objectContaining({ hint: expect.stringMatching(/JSON string/) as string }) as Error,
    );
  });
  it('reads back every JSON value that was written into it', () => {
    fc.assert(
      fc.property(fc.jsonValue({ noUnicodeString: false }), (value) => {
        const text = JSON.stringify(value);
        fc.pre(!/\d{16}|e\+|-0(?!\.)/.test(text));
        expect(valueOf(text)).toEqual(JSON.parse(text));
      }),
    );
  });
});

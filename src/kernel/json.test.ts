import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ForgeError } from './errors.ts';
import { canonicalJson, checkJsonDepth, emptyObject, jsonDepth, parseJson, type Json } from './json.ts';

describe('parseJson', () => {
  it.each([
    ['null', null],
    ['"x"', 'x'],
    ['9007199254740991', Number.MAX_SAFE_INTEGER],
    ['-9007199254740991', Number.MIN_SAFE_INTEGER],
    ['0.1', 0.1],
    ['1e3', 1000],
    ['5e-324', 5e-324],
    ['[1,{"a":[]}]', [1, { a: [] }]],
  ])('reads %s', (text, value) => {
    expect(parseJson(text, 'It')).toEqual(value);
  });

  it.each([
    '9007199254740992',
    '9007199254740993',
    '-9007199254740993',
    '1e400',
    '-1e400',
    '123456789012345678901234567890',
    '{"a":[1e999]}',
    '[-0,1e400]',
    '{"a":-0.0,"b":9007199254740993}',
  ])('refuses %s, which would be written back as another number', (text) => {
    expect(codeOf(() => parseJson(text, 'It'))).toBe('invalid_input');
  });

  it('names the number as it was written and says what to do', () => {
    expect(() => parseJson('{"a":9007199254740993}', 'Metadata "a"')).toThrow(
      'Metadata "a" holds the number 9007199254740993',
    );
    expect(hintOf(() => parseJson('1e400', 'It'))).toContain('string');
  });

  it.each(['-0', '[-0]', '-0.0', '-0e5'])(
    'reads %s as 0, because that is how it is written again',
    (text) => {
      const value = parseJson(text, 'It');
      expect(Array.isArray(value) ? value[0] : value).toBe(0);
    },
  );

  it.each(['', ' ', '{', '[1,]', "{'a':1}", 'undefined', 'NaN', '01', '"\n"', '{"a":1}x'])(
    'refuses %j',
    (text) => {
      expect(codeOf(() => parseJson(text, 'It'))).toBe('invalid_input');
      expect(() => parseJson(text, 'The input')).toThrow('The input is not valid JSON: ');
    },
  );

  it('refuses what is too deep to walk, instead of failing', () => {
    const deep = '['.repeat(100_000) + ']'.repeat(100_000);
    expect(codeOf(() => parseJson(deep, 'It'))).toBe('invalid_input');
  });

  it('keeps __proto__ and the like as plain data', () => {
    const value = parseJson(
      '{"__proto__":{"polluted":true},"constructor":1,"toString":null}',
      'It',
    ) as object;
    expect(Object.keys(value)).toEqual(['__proto__', 'constructor', 'toString']);
    expect(Object.getPrototypeOf(value)).toBe(Object.prototype);
    expect('polluted' in {}).toBe(false);
    expect(JSON.stringify(value)).toBe('{"__proto__":{"polluted":true},"constructor":1,"toString":null}');
  });

  it('gives what JSON.parse gives wherever it does not refuse', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 3 }), (value) => {
        const text = JSON.stringify(value);
        try {
          expect(JSON.stringify(parseJson(text, 'It'))).toBe(text);
        } catch (error) {
          if (!(error instanceof ForgeError)) throw error;
        }
      }),
      { numRuns: 500 },
    );
  });
});

describe('jsonDepth', () => {
  it.each([
    ['1', 0],
    ['"[[["', 0],
    ['null', 0],
    ['[]', 1],
    ['{}', 1],
    ['[[],{"a":[]}]', 3],
    ['{"a":1,"b":{"c":{}}}', 3],
  ])('of %s is %i', (text, depth) => {
    expect(jsonDepth(JSON.parse(text) as Json)).toBe(depth);
  });

  it('counts 100,000 levels without overflowing the stack', () => {
    expect(jsonDepth(nested(100_000))).toBe(100_000);
  });

  it('counts a wide value', () => {
    expect(jsonDepth([Array.from({ length: 200_000 }, () => [])])).toBe(3);
  });
});

describe('checkJsonDepth', () => {
  it('lets 64 levels pass and refuses 65', () => {
    expect(() => checkJsonDepth(nested(64), 'It')).not.toThrow();
    expect(() => checkJsonDepth(nested(65), 'It')).toThrow('It is nested 65 levels deep; the limit is 64');
    expect(codeOf(() => checkJsonDepth(nested(65), 'It'))).toBe('invalid_input');
  });
});

describe('canonicalJson', () => {
  it.each([
    ['{"b":1,"a":2}', '{"a":2,"b":1}'],
    ['{"10":1,"9":2}', '{"10":1,"9":2}'],
    ['[{"b":[],"a":{}},null,true,"é"]', '[{"a":{},"b":[]},null,true,"é"]'],
    ['{"__proto__":1,"Z":2,"a":3}', '{"Z":2,"__proto__":1,"a":3}'],
    ['"\\ud800"', '"\\ud800"'],
    ['{"":0}', '{"":0}'],
  ])('of %s is %s', (text, canonical) => {
    expect(canonicalJson(JSON.parse(text) as Json)).toBe(canonical);
  });

  it('is the same text for the same value, whatever the order of its keys, and reads back as that value', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const json = value as Json;
        const text = canonicalJson(json);
        expect(canonicalJson(reverseKeys(json))).toBe(text);
        expect(canonicalJson(JSON.parse(text) as Json)).toBe(text);
        expect(JSON.parse(text)).toEqual(JSON.parse(JSON.stringify(json)));
      }),
      { numRuns: 1_000 },
    );
  });
});

describe('emptyObject', () => {
  it('has no prototype to find words in or to overwrite', () => {
    const map = emptyObject<number>();
    expect(map.constructor).toBeUndefined();
    map['__proto__'] = 1;
    expect(Object.keys(map)).toEqual(['__proto__']);
    expect(JSON.stringify(map)).toBe('{"__proto__":1}');
  });
});

function nested(levels: number): Json {
  let value: Json = [];
  for (let i = 1; i < levels; i += 1) value = i % 2 === 0 ? [value] : { a: value };
  return value;
}

function reverseKeys(value: Json): Json {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return (value as readonly Json[]).map(reverseKeys);
  const entries = Object.entries(value).map(([key, inner]) => [key, reverseKeys(inner as Json)] as const);
  return Object.fromEntries(entries.reverse());
}

function codeOf(run: () => unknown): string {
  return errorOf(run).code;
}

function hintOf(run: () => unknown): string | undefined {
  return errorOf(run).hint;
}

function errorOf(run: () => unknown): ForgeError {
  try {
    run();
  } catch (error) {
    if (error instanceof ForgeError) return error;
    throw error;
  }
  throw new Error('nothing was thrown');
}

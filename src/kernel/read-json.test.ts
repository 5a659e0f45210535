import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { canonicalJson, parseJson, type Json } from './json.ts';
import { readJson } from './read-json.ts';

/** After the first, the parser of Node 24 reads the key of the second as `k\`. */
const POISON = String.raw`{"poisoned":0,"k\\":1}`;
const VICTIM = String.raw`{"poisoned":0,"k\n":2}`;

function isFaultHere(): boolean {
  JSON.parse(POISON);
  return 'k\\' in (JSON.parse(VICTIM) as object);
}

describe('readJson', () => {
  it.skipIf(!isFaultHere())('is needed: the parser alone reads a key that is not there', () => {
    JSON.parse(POISON);
    expect(JSON.parse(VICTIM)).toEqual({ poisoned: 0, 'k\\': 2 });
    expect(JSON.parse(VICTIM, (_key, value: unknown) => value)).toEqual({ poisoned: 0, 'k\\': 2 });
  });

  it('keeps a key that follows one with a backslash', () => {
    JSON.parse(POISON);
    expect(readJson(VICTIM)).toEqual({ poisoned: 0, 'k\n': 2 });
    expect(parseJson(VICTIM, 'x')).toEqual({ poisoned: 0, 'k\n': 2 });
    const deep = String.raw`[{"a":{"k\u0041":[1,{"k\"\\":"v\n"}],"k\t": -0.5e1}}, "\"k\":"]`;
    expect(readJson(deep)).toEqual([{ a: { kA: [1, { 'k"\\': 'v\n' }], 'k\t': -5 } }, '"k":']);
  });

  it('reads what the parser reads where no key is written with an escape', () => {
    fc.assert(
      fc.property(fc.json(), fc.constantFrom('', ' ', '\n\t'), (text, space) => {
        const spaced = JSON.stringify(JSON.parse(text), null, space);
        expect(readJson(spaced)).toEqual(JSON.parse(spaced));
      }),
    );
  });

  it('gives back every key as it was written, in any order of reading', () => {
    const word = fc.array(fc.constantFrom('k', '\\', '"', '\n', ':', '"k":', 'é'), { maxLength: 4 });
    const key = word.map((parts) => parts.join(''));
    const { tree } = fc.letrec<{ tree: Json }>((tie) => ({
      tree: fc.oneof(
        { maxDepth: 3 },
        fc.constantFrom<Json>(1, true, null, 'v\n', '"k\\n":'),
        fc.array(tie('tree'), { maxLength: 3 }),
        fc.dictionary(key, tie('tree'), { maxKeys: 3, noNullPrototype: true }),
      ),
    }));
    fc.assert(
      fc.property(tree, (value) => {
        const text = canonicalJson(value);
        expect(canonicalJson(readJson(text) as Json)).toBe(text);
        expect(canonicalJson(parseJson(text, 'x'))).toBe(text);
      }),
      { numRuns: 500 },
    );
  });

  it('keeps __proto__, the last of two values, and the refusals of parseJson', () => {
    const odd = readJson(String.raw`{"\n":1,"__proto__":{"x":1},"\n":2}`) as object;
    expect(Object.entries(odd)).toEqual([
      ['\n', 2],
      ['__proto__', { x: 1 }],
    ]);
    expect(Object.getPrototypeOf(odd)).toBe(Object.prototype);
    expect(() => readJson(String.raw`{"\n":1,}`)).toThrow(SyntaxError);
    expect(() => parseJson(String.raw`{"\n":12345678901234567890}`, 'x')).toThrow(/cannot keep exactly/);
    expect(parseJson(String.raw`{"\n":-0}`, 'x')).toEqual({ '\n': 0 });
  });
});

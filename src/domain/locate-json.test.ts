import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { LIMITS } from '#kernel/limits.ts';
import { locateJson, type PathStep, placeAt, toPath, walkJson } from './locate-json.ts';

const ignore = () => undefined;

function placeOf(text: string, ...steps: PathStep[]): string {
  const [place] = locateJson(text, [steps]);
  return `${place?.line}:${place?.column}`;
}

describe('toPath', () => {
  it.each<[PathStep[], string]>([
    [[], ''],
    [['states'], 'states'],
    [['states', 3, 'next', 1], 'states[3].next[1]'],
    [['a', 'b c'], 'a["b c"]'],
    [['a', ''], 'a[""]'],
    [['a.b'], '["a.b"]'],
    [['a', '__proto__'], 'a.__proto__'],
    [['a', '"]\n'], 'a["\\"]\\n"]'],
  ])('%j is %s', (steps, path) => {
    expect(toPath(steps)).toBe(path);
  });

  it('cuts a key that would fill the screen', () => {
    expect(toPath(['x'.repeat(1_000_000)])).toHaveLength(84);
  });
});

describe('locateJson', () => {
  const text = '{\n  "roles": ["a",\n    "b"],\n  "states": [{ "name": "x" }, {"next":["y", "z"]}]\n}\n';

  it.each<[PathStep[], string]>([
    [['roles'], '2:3'],
    [['roles', 0], '2:13'],
    [['roles', 1], '3:5'],
    [['states', 0], '4:14'],
    [['states', 0, 'name'], '4:16'],
    [['states', 1, 'next', 1], '4:45'],
    [[], '1:1'],
  ])('%j is at %s', (steps, place) => {
    expect(placeOf(text, ...steps)).toBe(place);
  });

  it('finds what is around where the thing itself is missing', () => {
    expect(placeOf(text, 'states', 1, 'kind')).toBe(placeOf(text, 'states', 1));
    expect(placeOf(text, 'states', 7, 'kind', 'x')).toBe(placeOf(text, 'states'));
    expect(placeOf(text, 'cancellation_state')).toBe('1:1');
    expect(placeOf('\n\n  {}', 'states')).toBe('3:3');
  });

  it('reads keys as JSON does: escaped, and the last of two', () => {
    expect(placeOf('{"\\u0061": 1}', 'a')).toBe('1:2');
    expect(placeOf('{"a": 1,\n"a": 2}', 'a')).toBe('2:1');
  });

  it('counts lines as editors do', () => {
    expect(placeAt('a\r\nb\nc', 0)).toEqual({ line: 1, column: 1 });
    expect(placeAt('a\r\nb\nc', 3)).toEqual({ line: 2, column: 1 });
    expect(placeAt('a\r\nb\nc', 5)).toEqual({ line: 3, column: 1 });
  });

  it('leads to the value, for any JSON', () => {
    fc.assert(
      fc.property(fc.json({ maxDepth: 3 }), fc.nat(3), (json, indent) => {
        const pretty = JSON.stringify(JSON.parse(json), null, indent);
        const lines = pretty.split('\n');
        walkJson(pretty, (steps, offset) => {
          const key = steps.at(-1);
          const { line, column } = placeAt(pretty, offset);
          const there = lines[line - 1]?.slice(column - 1) ?? '';
          const fits =
            typeof key === 'string'
              ? there.startsWith(`${JSON.stringify(key)}:`)
              : /^(?:["[{tfn\d-])/.test(there);
          expect([steps, fits]).toEqual([steps, true]);
        });
      }),
      { numRuns: 300 },
    );
  });
});

describe('walkJson', () => {
  it.each<[string, string, number]>([
    ['', 'the text ends too early: a value is missing', 0],
    ['{', 'the text ends too early: a key in double quotes is missing', 1],
    ['{"a"', 'the text ends too early: ":" is missing behind the key', 4],
    ['{"a":1', 'the text ends too early: "," or "}" is missing', 6],
    ['{"a" 1}', '":" is missing behind the key', 5],
    ["{'a': 1}", 'a key in double quotes is missing', 1],
    ['{"a\n": 1}', 'this text is not closed, or not well formed', 1],
    ['{a: 1}', 'a key in double quotes is missing', 1],
    ['[1, 2,]', 'no "," may stand before "]"', 6],
    ['{"a": 1,}', 'no "," may stand before "}"', 8],
    ['[1 2]', '"," or "]" is missing', 3],
    ['[1] x', 'nothing more may follow', 4],
    ['["a\nb"]', 'this text is not closed, or not well formed', 1],
    ['["a', 'this text is not closed, or not well formed', 1],
    ['["\\x"]', 'this text is not closed, or not well formed', 1],
    ['[01]', '"," or "]" is missing', 2],
    ['[undefined]', 'a value is missing', 1],
    ['// a comment\n{}', 'a value is missing', 0],
    ['<<<<<<< ours\n{}', 'a value is missing', 0],
  ])('%j: %s', (text, message, offset) => {
    expect(walkJson(text, ignore)).toEqual({ message, offset });
  });

  it('stops at a depth that no reader of ours needs', () => {
    const nest = (depth: number): string => '['.repeat(depth) + ']'.repeat(depth);
    expect(walkJson(nest(LIMITS.metadata_depth), ignore)).toBeUndefined();
    expect(walkJson(nest(1_000_000), ignore)).toEqual({
      message: `nested deeper than ${LIMITS.metadata_depth} levels`,
      offset: LIMITS.metadata_depth,
    });
  });

  it('ends with what its visitor says', () => {
    expect(walkJson('[1, [2, 3]]', (steps) => (steps.length > 1 ? 'enough' : undefined))).toEqual({
      message: 'enough',
      offset: 5,
    });
  });

  it('holds for texts of a megabyte', () => {
    expect(walkJson(`"${'a'.repeat(1_000_000)}"`, ignore)).toBeUndefined();
    expect(walkJson(`"${'\\n'.repeat(500_000)}"`, ignore)).toBeUndefined();
    expect(walkJson(`[${'1,'.repeat(500_000)}1]`, ignore)).toBeUndefined();
  });

  it('agrees with JSON.parse on what is JSON', () => {
    const damage = fc.tuple(
      fc.json({ maxDepth: 3 }),
      fc.nat(),
      fc.constantFrom('', ',', '"', '}', ']', ' ', '\\', '1', '-', 'e'),
    );
    let broken = 0;
    fc.assert(
      fc.property(damage, ([json, at, mark]) => {
        const cut = at % (json.length + 1);
        const text = json.slice(0, cut) + mark + json.slice(cut + (mark === '' ? 1 : 0));
        const mine = walkJson(text, ignore) === undefined;
        expect([text, mine]).toEqual([text, parses(text)]);
        if (!mine) broken += 1;
      }),
      { numRuns: 1_000 },
    );
    expect(broken).toBeGreaterThan(100);
  });
});

function parses(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

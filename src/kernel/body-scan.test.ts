import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { BodyScan, boundText } from './body-scan.ts';
import { countMembers } from './double-key.ts';
import { isForgeError } from './errors.ts';
import { type Json, parseJson, parseScanned } from './json.ts';
import { LIMITS } from './limits.ts';

const DEEPEST = 64;
const LONGEST = LIMITS.json_number_length;

/** `fine`, or the code of the refusal; the body comes in pieces of that many bytes. */
function scan(text: string, piece: number = text.length): { verdict: string; members: number } {
  const bytes = new TextEncoder().encode(text);
  const seen = new BodyScan(DEEPEST);
  try {
    for (let at = 0; at < bytes.length; at += piece) seen.take(bytes.subarray(at, at + piece));
    return { verdict: 'fine', members: seen.members };
  } catch (error) {
    return { verdict: isForgeError(error) ? error.code : 'thrown', members: 0 };
  }
}

describe('the scan of a body', () => {
  const list = (count: number): string => `[${Array(count).fill('1').join(',')}]`;
  const keys = (count: number): string =>
    `{${Array.from({ length: count }, (_, at) => `"k${at}":1`).join(',')}}`;

  it.each([
    ['the deepest list', `${'['.repeat(DEEPEST)}${']'.repeat(DEEPEST)}`, 'fine'],
    ['one level more', `${'['.repeat(DEEPEST + 1)}${']'.repeat(DEEPEST + 1)}`, 'invalid_input'],
    ['objects too deep', `${'{"a":'.repeat(DEEPEST + 1)}1${'}'.repeat(DEEPEST + 1)}`, 'invalid_input'],
    ['lists beside each other', `[${'[],'.repeat(100)}[]]`, 'fine'],
    ['as many values as may be', list(LIMITS.body_values), 'fine'],
    ['one value more', list(LIMITS.body_values + 1), 'too_large'],
    ['as many keys as may be', keys(LIMITS.body_keys), 'fine'],
    ['one key more', keys(LIMITS.body_keys + 1), 'too_large'],
    ['the longest number', `{"a":${'1'.repeat(LONGEST)}}`, 'fine'],
    ['one digit more', `{"a":${'1'.repeat(LONGEST + 1)}}`, 'invalid_input'],
    ['a long word', `{"a":${'t'.repeat(LONGEST + 1)}}`, 'invalid_input'],
    ['a long text', `{"a":"${'1'.repeat(LONGEST * 3)}"}`, 'fine'],
    ['a long text of commas, colons and braces', `{"a":"${',:[{'.repeat(30_000)}"}`, 'fine'],
    ['a text of escaped quotes', `{"a":"${'\\"'.repeat(5_000)}"}`, 'fine'],
    ['many blanks', `{"a":1${' \n\t'.repeat(LONGEST)}}`, 'fine'],
    ['many short numbers', `[${'12 ,'.repeat(2_000)}1]`, 'fine'],
  ])('%s: however it is cut into pieces', (_, text, verdict) => {
    for (const piece of [text.length, 1, 7, 4_096]) expect(scan(text, piece).verdict).toBe(verdict);
  });

  it.each([
    ['{"a":1e5}', ['1e5']],
    ['{"a":-0,"b":-1,"c":0}', ['-0']],
    ['[-0.0 , 1.5E-3]', ['-0.0', '1.5E-3']],
    ['[123456789012345,1234567890123456]', ['1234567890123456']],
    ['[true,false,null,"1e5","-0"]', []],
    ['{"1e5":[ 1E400\n]}', ['1E400']],
  ])('finds the odd numbers of %s, however it is cut into pieces', (text, odd) => {
    const bytes = new TextEncoder().encode(text);
    for (let piece = 1; piece <= bytes.length; piece += 1) {
      const seen = new BodyScan(DEEPEST);
      for (let at = 0; at < bytes.length; at += piece) seen.take(bytes.subarray(at, at + piece));
      expect(seen.oddNumbers.map(([from, to]) => text.slice(from, to))).toEqual(odd);
    }
  });

  it('finds no more odd numbers than JSON can have', () => {
    const seen = new BodyScan(DEEPEST);
    seen.take(new TextEncoder().encode('-0 '.repeat(LIMITS.body_values * 2)));
    expect(seen.oddNumbers.length).toBe(LIMITS.body_values + 1);
  });

  it.each([
    ['{"a":"\\n"}', false],
    ['{"a\\n":1}', true],
    ['{"a\\n" : 1}', true],
    ['["\\n",{"b":2}]', false],
    ['{"a":"x\\"","b":1}', false],
  ])('tells whether a key of %s holds an escape', (text, escaped) => {
    const bytes = new TextEncoder().encode(text);
    for (let piece = 1; piece <= bytes.length; piece += 1) {
      const seen = new BodyScan(DEEPEST);
      for (let at = 0; at < bytes.length; at += piece) seen.take(bytes.subarray(at, at + piece));
      expect(seen.hasEscapedKey).toBe(escaped);
    }
  });

  it('has the same value read from it as the whole text would, or the same refusal', () => {
    const number = fc.oneof(
      fc.constantFrom('-0', '0', '1e5', '1E400', '-0.0e3', '9007199254740993', '0.1', '-12', '1.50e1'),
      fc.integer().map(String),
      fc.double({ noNaN: true, noDefaultInfinity: true }).map(String),
    );
    const text = fc
      .array(fc.tuple(fc.constantFrom('a', 'b\\n', '"'.replace('"', '\\"'), 'ü'), number), { maxLength: 4 })
      .map((members) => `{${members.map(([key, value], at) => `"${key}${at}": ${value}`).join(' ,')}}`);
    fc.assert(
      fc.property(text, (json) => {
        const bytes = Buffer.from(json);
        const seen = new BodyScan(DEEPEST);
        seen.take(bytes);
        const sources = seen.oddNumbers.map(([from, to]) => bytes.toString('latin1', from, to));
        const read = (): unknown =>
          parseScanned(json, 'It', { has_escaped_key: seen.hasEscapedKey, sources });
        expect(outcome(read)).toEqual(outcome(() => parseJson(json, 'It')));
      }),
      { numRuns: 500 },
    );
  });

  it('counts the members of any JSON, however it is cut into pieces', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 5 }), fc.integer({ min: 1, max: 40 }), (value, piece) => {
        expect(scan(JSON.stringify(value), piece)).toEqual({
          verdict: 'fine',
          members: countMembers(value as Json),
        });
      }),
    );
  });
});

function outcome(read: () => unknown): unknown {
  try {
    return { value: read() };
  } catch (error) {
    return { refused: isForgeError(error) ? error.message : error };
  }
}

describe('a text that is parsed in turn', () => {
  it('has the same bounds, and says which text it is', () => {
    const many = (one: string, times: number): string => `[${Array(times).fill(one).join(',')}]`;
    expect(() => boundText(many('{}', LIMITS.body_values), 'The workflow')).toThrow(
      `The workflow has more than ${LIMITS.body_values} values`,
    );
    expect(() => boundText(many('{"a":1}', LIMITS.body_keys + 1), 'The value')).toThrow(
      `The value has more than ${LIMITS.body_keys} keys`,
    );
    expect(() => boundText(many('0', LIMITS.body_values - 1), 'The value')).not.toThrow();
    // What is wrong with a text otherwise is for its parser to say.
    // A number that is too long does not end the count.
    const long = `[${'1'.repeat(LIMITS.json_number_length + 1)},${many('{}', LIMITS.body_values)}]`;
    expect(() => boundText(long, 'The value')).toThrow('The value has more than');
    expect(() => boundText('x'.repeat(LIMITS.json_number_length * 2), 'The value')).not.toThrow();
    expect(() => boundText('ü:€,'.repeat(100), 'The value')).not.toThrow();
    expect(() => boundText('['.repeat(LIMITS.json_depth), 'The value')).not.toThrow();
    expect(() => boundText('['.repeat(LIMITS.body_values), 'The value')).toThrow(
      'The value is nested too deep',
    );
    expect(() => boundText(`"${','.repeat(LIMITS.body_values * 2)}"`, 'The value')).not.toThrow();
  });
});

import { describe, expect, it } from 'vitest';
import { isForgeError } from '#kernel/errors.ts';
import type { Json } from '#kernel/json.ts';
import { LIMITS } from '#kernel/limits.ts';
import { checkMetadata, checkMetadataSize, checkSize } from './metadata.ts';

describe('checkMetadata', () => {
  it('gives the entries back, prototype names too', () => {
    const values = JSON.parse('{"a":null,"__proto__":{"x":1},"constructor":[1],"10":"x"}') as Record<
      string,
      unknown
    >;
    expect(checkMetadata(values)).toEqual(
      new Map<string, Json>([
        ['10', 'x'],
        ['a', null],
        ['__proto__', { x: 1 }],
        ['constructor', [1]],
      ]),
    );
    expect(checkMetadata({})).toEqual(new Map());
  });

  it('lets values pass that are 64 levels deep and refuses 65', () => {
    expect(checkMetadata({ a: nested(64) }).size).toBe(1);
    expect(messageOf(() => checkMetadata({ a: nested(65) }))).toBe(
      'Metadata "a" is nested 65 levels deep; the limit is 64',
    );
    expect(messageOf(() => checkMetadata({ a: nested(100_000) }))).toContain('100000 levels');
  });

  it('lets a value of exactly 1 MiB pass and refuses one byte more', () => {
    const largest = 'x'.repeat(LIMITS.metadata_bytes - 2); // two quotes
    expect(checkMetadata({ a: largest }).get('a')).toBe(largest);
    expect(messageOf(() => checkMetadata({ a: `${largest}x` }))).toBe(
      'Metadata "a" takes 1048577 bytes; the limit is 1048576',
    );
  });

  it('counts bytes, not characters', () => {
    const count = Math.floor((LIMITS.metadata_bytes - 2) / 4);
    expect(checkMetadata({ a: '👍'.repeat(count) }).size).toBe(1);
    expect(messageOf(() => checkMetadata({ a: '👍'.repeat(count + 1) }))).toContain('the limit is 1048576');
  });

  it.each([
    ['an empty key', ''],
    ['a key with NUL', 'a\u0000'],
    ['a key that is too long', 'x'.repeat(LIMITS.metadata_key_length + 1)],
  ])('refuses %s', (_name, key) => {
    expect(messageOf(() => checkMetadata({ [key]: 1 }))).toBe(
      'A metadata key has 1 to 200 characters and no NUL',
    );
  });

  it.each([1e21, 9_007_199_254_740_992, -(2 ** 60)])(
    'refuses %d: a line with it could not be read again',
    (number) => {
      expect(messageOf(() => checkMetadata({ a: { b: [number] } }))).toContain('cannot keep exactly');
    },
  );

  it.each([0.1, -1.5e-7, 9_007_199_254_740_991, 1e15])('lets %d pass', (number) => {
    expect(checkMetadata({ a: [number] }).get('a')).toEqual([number]);
  });

  it('takes the longest key', () => {
    expect(checkMetadata({ ['x'.repeat(LIMITS.metadata_key_length)]: 1 }).size).toBe(1);
  });
});

describe('checkMetadataSize', () => {
  it('limits what a whole task may hold', () => {
    expect(() => checkMetadataSize('x'.repeat(LIMITS.metadata_bytes))).not.toThrow();
    expect(messageOf(() => checkMetadataSize('x'.repeat(LIMITS.metadata_bytes + 1)))).toBe(
      'The metadata of a task takes 1048577 bytes; the limit is 1048576',
    );
  });
});

describe('checkSize', () => {
  it.each([
    ['abc', 3],
    ['é', 2],
    ['名', 3],
    ['👍', 4],
    ['\ud800', 3],
    ['\ud800é', 5],
  ])('%j takes %i bytes', (text, bytes) => {
    expect(() => checkSize(text, 'It', bytes)).not.toThrow();
    expect(messageOf(() => checkSize(text, 'It', bytes - 1))).toContain(`It takes ${bytes} bytes`);
  });
});

function nested(levels: number): Json {
  let value: Json = {};
  for (let i = 1; i < levels; i += 1) value = i % 2 === 0 ? [value] : { a: value };
  return value;
}

function messageOf(run: () => unknown): string {
  try {
    run();
  } catch (error) {
    if (isForgeError(error) && error.code === 'invalid_input') return error.message;
    throw error;
  }
  return 'nothing was thrown';
}

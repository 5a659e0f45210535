import { randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { generateTaskId, idLength, isIdPrefix, isTaskId, randomBase36, type RandomBytes } from './ids.ts';
import { LIMITS } from './limits.ts';

const ALPHABET = '0123456789abcdefghijklmnopqrstuvwxyz';

describe('idLength', () => {
  it.each([
    [0, 4],
    [1, 4],
    [183, 4],
    [184, 5],
    [1_102, 5],
    [1_103, 6],
    [6_614, 6],
    [6_615, 7],
    [39_688, 7],
    [39_689, 8],
    [238_130, 8],
    [238_131, 9],
  ])('a project with %i tasks gets ids of %i characters', (count, length) => {
    expect(idLength(count)).toBe(length);
  });

  it('is the shortest length whose birthday odds stay within the limit', () => {
    const odds = (count: number, length: number): number => 1 - Math.exp(-(count ** 2) / (2 * 36 ** length));
    for (let count = 1; count < 10_000_000; count = Math.ceil(count * 1.01)) {
      const length = idLength(count);
      expect(odds(count, length)).toBeLessThanOrEqual(LIMITS.id_collision_odds);
      expect(length === 4 || odds(count, length - 1) > LIMITS.id_collision_odds).toBe(true);
    }
  });
});

describe('randomBase36', () => {
  it('gives every character the same chance: each byte once makes each character seven times', () => {
    const everyByte = Uint8Array.from({ length: 256 }, (_, byte) => byte);
    const text = randomBase36(252, () => everyByte);
    const counts = countCharacters(text);
    expect(ALPHABET.split('').map((character) => counts.get(character))).toEqual(Array<number>(36).fill(7));
  });

  it('stays near equal shares with real randomness', () => {
    const length = 360_000;
    const counts = countCharacters(randomBase36(length, randomBytes));
    const expected = length / 36;
    let chiSquare = 0;
    for (const character of ALPHABET) chiSquare += ((counts.get(character) ?? 0) - expected) ** 2 / expected;
    // 35 degrees of freedom: a fair source is beyond 110 about once in 10^9 runs; plain `byte % 36` gives 900.
    expect(chiSquare).toBeLessThan(110);
    expect([...counts.keys()].filter((character) => !ALPHABET.includes(character))).toEqual([]);
  });

  it.each([0, 1, 4, 10, 33])('gives exactly %i characters', (length) => {
    expect(randomBase36(length, randomBytes)).toHaveLength(length);
  });

  it('asks again when the bytes it got are thrown away', () => {
    const chunks = [[255, 254, 253, 252], [252, 35, 255, 0], [36]];
    const script: RandomBytes = () => Uint8Array.from(chunks.shift() ?? []);
    expect(randomBase36(3, script)).toBe('z00');
  });
});

describe('generateTaskId', () => {
  it('is the prefix, a dash and base36 characters', () => {
    for (let i = 0; i < 1_000; i += 1) {
      const id = generateTaskId('fg', 4, randomBytes);
      expect(id).toMatch(/^fg-[0-9a-z]{4}$/);
      expect(isTaskId(id)).toBe(true);
    }
    expect(generateTaskId('x1', 8, randomBytes)).toMatch(/^x1-[0-9a-z]{8}$/);
  });

  it('does not repeat itself in 10,000 ids of the length such a project gets and with a check for taken ones', () => {
    const taken = new Set<string>();
    let repeats = 0;
    while (taken.size < 10_000) {
      const id = generateTaskId('fg', idLength(taken.size), randomBytes);
      if (taken.has(id)) repeats += 1;
      taken.add(id);
    }
    expect(repeats).toBeLessThan(10);
  });
});

describe('the form of ids', () => {
  it.each(['fg-a3f8', 'fg-0000', 'abcd-zzzz', 'f1-a3f8k2', 'fg-a3f8q1w2e3'])('%s is a task id', (text) => {
    expect(isTaskId(text)).toBe(true);
  });

  it.each([
    'fg-a3f',
    'f-a3f8',
    'abcde-a3f8',
    'fg-A3F8',
    'FG-a3f8',
    'fg_a3f8',
    'fg-a3f8\n',
    ' fg-a3f8',
    'fg-a3f8 ',
    'fg-á3f8',
    'fg-',
    'a3f8',
    '',
  ])('%j is not', (text) => {
    expect(isTaskId(text)).toBe(false);
  });

  it.each(['fg', 'ab1', '0000'])('%s is a prefix', (text) => {
    expect(isIdPrefix(text)).toBe(true);
  });

  it.each(['', 'f', 'abcde', 'FG', 'f-', 'fg\n', 'é1'])('%j is no prefix', (text) => {
    expect(isIdPrefix(text)).toBe(false);
  });
});

function countCharacters(text: string): Map<string, number> {
  const counts = new Map<string, number>();
  for (const character of text) counts.set(character, (counts.get(character) ?? 0) + 1);
  return counts;
}

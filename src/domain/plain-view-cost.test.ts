import { describe, expect, it } from 'vitest';
import { measureGrowth } from '../../tests/support/measure-growth.ts';
import { shareOf } from '../../tests/support/share-of.ts';
import { maskSecrets } from './find-secrets.ts';
import { listPlainViews } from './plain-view.ts';

/** Characters that begin a code of a terminal, of one byte and of two. */
const INTRODUCERS: readonly (readonly [string, string])[] = [
  ...['90', '98', '9b', '9d', '9e', '9f', '85', '8d'].map(
    (code) => [`U+00${code}`, String.fromCharCode(Number.parseInt(code, 16))] as const,
  ),
  ...['[', ']', 'P', 'X', '^', '_', '(', '#', ' ', ''].map(
    (letter) => [`ESC ${letter}`, `\u001b${letter}`] as const,
  ),
];

const SHAPES: readonly (readonly [string, (one: string) => string])[] = [
  ['alone', (one) => one],
  ['before a letter', (one) => `${one}a`],
  ['before parameters', (one) => `${one}1;2`],
  ['twice before another', (one) => `${one}${one}\u009d`],
  ['in a string', (one) => `\u009d0;${one}`],
  ['before a string that ends', (one) => `${one}\u009d0;x\u0007`],
  ['overwritten', (one) => `a${one}\b`],
];

const CASES = INTRODUCERS.flatMap(([name, one]) =>
  SHAPES.map(([shape, toPart]) => [`${name} ${shape}`, toPart(one)] as const),
);

/** The best of three: another process may run in between. */
function measureMs(work: () => void): number {
  const once = (): number => {
    const before = process.cpuUsage();
    work();
    const { user, system } = process.cpuUsage(before);
    return (user + system) / 1_000;
  };
  return Math.min(once(), once(), once());
}

const LENGTH = 32_768;
const fill = (part: string): string => part.repeat(Math.ceil(LENGTH / part.length)).slice(0, LENGTH);

describe('[C2] characters that begin a code of a terminal', () => {
  it.each(shareOf(CASES, 4))('take twice as long for twice the text: %s', (_, part) => {
    const text = { before: 'x', repeated: part, after: 'y' };
    expect(measureGrowth((one) => listPlainViews(one), text, 8_192)).toBeUndefined();
  });

  it('cost at most as much as any other text that hides letters', { timeout: 60_000 }, () => {
    const usual = measureMs(() => maskSecrets(fill('%41\\u0042\u200b')));
    const slow = CASES.flatMap(([name, part]) => {
      const ms = measureMs(() => maskSecrets(fill(part)));
      return ms > Math.max(usual, 3) * 6 ? [`${name}: ${ms} ms against ${usual} ms`] : [];
    });
    expect(slow).toEqual([]);
  });
});

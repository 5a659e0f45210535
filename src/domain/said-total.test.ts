import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { LIMITS } from '#kernel/limits.ts';
import { growTotal, isBelievable, sumTotal, toOwnPart, type SaidTotal } from './said-total.ts';

function grow(said: readonly number[]): SaidTotal {
  return said.reduce<SaidTotal | undefined>(growTotal, undefined) ?? { last: 0, fallen: 0 };
}

describe('[S2-F8] a total that is said over and over', () => {
  it.each([
    ['grows', [1, 3, 3, 4], 4],
    ['begins anew', [5, 1], 6],
    ['falls to nothing again and again', [2, 0, 2, 0, 2, 0], 6],
    ['is nothing', [0, 0], 0],
  ])('%s', (_name, said, sum) => {
    expect(sumTotal(grow(said))).toBe(sum);
  });

  it('never makes less of what was counted, nor more than was said in all', () => {
    fc.assert(
      fc.property(fc.array(fc.nat()), fc.nat(), (said, next) => {
        const counted = sumTotal(grow(said));
        const after = sumTotal(grow([...said, next]));
        expect(after).toBeGreaterThanOrEqual(counted);
        expect(after).toBeLessThanOrEqual(counted + next);
      }),
    );
  });

  it.each([
    [[5], 2, 3],
    [[2], 2, 0],
    [[1], 2, 1],
    [[5, 1], 2, 4],
  ])('%j counts, after %d in earlier runs, for %d', (said, before, own) => {
    expect(toOwnPart(grow(said), before)).toBe(own);
  });
});

it.each([
  [LIMITS.usage_usd, 'usd', true],
  [LIMITS.usage_usd + 0.01, 'usd', false],
  [1e300, 'usd', false],
  [-0.01, 'usd', false],
  [Number.POSITIVE_INFINITY, 'usd', false],
  [LIMITS.usage_tokens, 'tokens', true],
  [LIMITS.usage_tokens + 1, 'tokens', false],
  [-1, 'tokens', false],
] as const)('[S2-F8] a report of %d %s is believed: %s', (amount, unit, believed) => {
  expect(isBelievable(amount, unit)).toBe(believed);
});

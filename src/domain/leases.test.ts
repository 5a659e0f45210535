import { describe, expect, it } from 'vitest';
import { isExpired, watchLeases, type LeaseWatch } from './leases.ts';

const TTL = 60_000;
const NOON = Date.UTC(2026, 1, 10, 12);

/** Looks at these times, in ms after noon, one after the other; gives for each whether somebody may be judged. */
function look(watch: LeaseWatch, ...times: readonly number[]): boolean[] {
  let now = watch;
  return times.map((at) => {
    const { may_judge, ...next } = watchLeases(now, NOON + at, TTL);
    now = next;
    return may_judge;
  });
}

describe('watchLeases', () => {
  it('judges nobody within the first lease time after a start', () => {
    expect(look({ seen: 0, since: 0 }, 0, 30_000, 59_999, 60_000)).toEqual([false, false, false, true]);
  });

  it('goes on judging while somebody looks often enough', () => {
    const watched = { seen: NOON - 1_000, since: NOON - 2 * TTL };
    expect(look(watched, 0, 50_000, 100_000, 150_000)).toEqual([true, true, true, true]);
  });

  it('begins again after the machine slept', () => {
    const watched = { seen: NOON, since: NOON - 100 * TTL };
    expect(look(watched, 8 * 3_600_000, 8 * 3_600_000 + TTL - 1, 8 * 3_600_000 + TTL)).toEqual([
      false,
      false,
      true,
    ]);
  });

  it('lets somebody who comes back every few minutes take over in the end', () => {
    expect(look({ seen: 0, since: 0 }, 0, 180_000)).toEqual([false, true]);
    // But not for ever: after eleven lease times it is a new gap.
    expect(look({ seen: 0, since: 0 }, 0, 12 * TTL)).toEqual([false, false]);
  });

  it('survives a clock that jumps', () => {
    const watched = { seen: NOON, since: NOON - TTL };
    expect(look(watched, 365 * 86_400_000, 1_000, 1_000 + TTL)).toEqual([false, false, true]);
  });

  it('a short lease does not spend the grace time of a long one', () => {
    const first = watchLeases({ seen: 0, since: 0 }, NOON, 1_000);
    const second = watchLeases(first, NOON + 1_000, 1_000);
    expect(second.may_judge).toBe(true);
    expect(watchLeases(second, NOON + 1_500, TTL).may_judge).toBe(false);
  });
});

describe('isExpired', () => {
  it.each([
    [0, false],
    [TTL - 1, false],
    [TTL, true],
    [-1, true], // given out by a clock that was ahead
  ])('after %i ms: %s', (after, expected) => {
    expect(isExpired({ expires_at: NOON + TTL, ttl_ms: TTL }, NOON + after)).toBe(expected);
  });
});

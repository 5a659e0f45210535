import { describe, expect, it } from 'vitest';
import { adoptWatch, isExpired, watchLeases, type LeaseWatch } from './leases.ts';

const TTL = 60_000;
const NOON = Date.UTC(2026, 1, 10, 12);

/** Somebody asks at these times, in ms after noon, one after the other; gives for each whether one may be judged. */
function look(watch: LeaseWatch, ...times: readonly number[]): boolean[] {
  let now = watch;
  return times.map((at) => {
    const { may_judge, ...next } = watchLeases(now, { at: NOON + at }, { ttl: TTL, look: 'judge' });
    now = next;
    return may_judge;
  });
}

/** After a holder was there at this time, in ms after noon. */
function hold(watch: LeaseWatch, at: number): LeaseWatch {
  const { may_judge: _, ...next } = watchLeases(watch, { at: NOON + at }, { ttl: TTL, look: 'hold' });
  return next;
}

const NEVER: LeaseWatch = { seen: 0, since: 0, asked: 0 };

describe('watchLeases', () => {
  it('judges nobody within the first lease time after a start', () => {
    expect(look(NEVER, 0, 30_000, 59_999, 60_000)).toEqual([false, false, false, true]);
  });

  it('goes on judging while somebody looks often enough', () => {
    const watched = { seen: NOON - 1_000, since: NOON - 2 * TTL, asked: 0 };
    expect(look(watched, 0, 50_000, 100_000, 150_000)).toEqual([true, true, true, true]);
  });

  it('begins again after the machine slept', () => {
    const watched = { seen: NOON, since: NOON - 100 * TTL, asked: 0 };
    expect(look(watched, 8 * 3_600_000, 8 * 3_600_000 + TTL - 1, 8 * 3_600_000 + TTL)).toEqual([
      false,
      false,
      true,
    ]);
  });

  it.each([1.1, 2, 4, 10, 12, 100])(
    '[M7] begins again after %f lease times in which nobody was there, however short the claim had been',
    (times) => {
      const claimed = hold(NEVER, 0);
      const woken = times * TTL;
      expect(look(claimed, woken, woken + TTL - 1, woken + TTL)).toEqual([false, false, true]);
      // Also where somebody had asked before: since then a holder was heard of.
      const asked = watchLeases(NEVER, { at: NOON - 5_000 }, { ttl: TTL, look: 'judge' });
      expect(look(hold(asked, 0), woken, woken + TTL - 1, woken + TTL)).toEqual([false, false, true]);
    },
  );

  it('lets somebody who comes back every few minutes take over in the end', () => {
    expect(look(NEVER, 0, 180_000)).toEqual([false, true]);
    // But not for ever: after eleven lease times it is a new gap.
    expect(look(NEVER, 0, 12 * TTL)).toEqual([false, false]);
  });

  it('survives a clock that jumps', () => {
    const watched = { seen: NOON, since: NOON - TTL, asked: 0 };
    expect(look(watched, 365 * 86_400_000, 1_000, 1_000 + TTL)).toEqual([false, false, true]);
  });

  it('a short lease does not spend the grace time of a long one', () => {
    const short = { ttl: 1_000, look: 'judge' } as const;
    const first = watchLeases(NEVER, { at: NOON }, short);
    const second = watchLeases(first, { at: NOON + 1_000 }, short);
    expect(second.may_judge).toBe(true);
    const long = watchLeases(second, { at: NOON + 1_500 }, { ttl: TTL, look: 'judge' });
    expect(long.may_judge).toBe(false);
  });

  describe('by a process that stays', () => {
    const judge = (watch: LeaseWatch, at: number, awake: number): boolean =>
      watchLeases(watch, { at: NOON + at, awake: NOON + awake }, { ttl: TTL, look: 'judge' }).may_judge;

    it('finds no gap where it ran all the time since a holder was there', () => {
      const claimed = hold(NEVER, 0);
      expect(judge(claimed, TTL, -TTL)).toBe(true);
      expect(judge(claimed, 1.5 * TTL, -TTL)).toBe(true);
      expect(judge(claimed, 100 * TTL, -1)).toBe(true);
    });

    it('[M7] finds one where it was started since then, however long it has been there', () => {
      const claimed = hold(NEVER, 0);
      expect(judge(claimed, 100 * TTL, 1)).toBe(false);
      expect(judge(claimed, 100 * TTL, 50 * TTL)).toBe(false);
    });

    it('[M7] judges nobody for one lease time after it was stopped, however short that was', () => {
      const watched = { seen: NOON - 1_000, since: NOON - 100 * TTL, asked: 0 };
      expect(judge(watched, 0, -90 * TTL)).toBe(true);
      expect(judge(watched, 0, 0)).toBe(false);
      const woken = { ...watched, seen: NOON };
      expect(judge(woken, TTL - 1, 0)).toBe(false);
      expect(judge(woken, TTL, 0)).toBe(true);
    });
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

describe('adoptWatch', () => {
  it.each<[string, LeaseWatch | undefined, LeaseWatch]>([
    ['a clock that counts for the first time', undefined, { since: 100, seen: 100, asked: 100 }],
    ['one that comes back in time', { since: 10, seen: 95, asked: 0 }, { since: 10, seen: 100, asked: 0 }],
    [
      'one that was away for too long',
      { since: 10, seen: 20, asked: 0 },
      { since: 100, seen: 100, asked: 100 },
    ],
  ])('%s', (_, known, watch) => {
    expect(adoptWatch(known, { clock: 1, at: 100 }, 30)).toEqual(watch);
  });
});

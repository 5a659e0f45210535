import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { parseIso, systemClock, toIso } from './clock.ts';

describe('parseIso', () => {
  it.each([
    ['1970-01-01T00:00:00.000Z', 0],
    ['2026-02-10T09:00:00.000Z', Date.UTC(2026, 1, 10, 9)],
    ['2026-02-10T09:00:00Z', Date.UTC(2026, 1, 10, 9)],
    ['2026-02-10T09:00Z', Date.UTC(2026, 1, 10, 9)],
    ['2026-02-10', Date.UTC(2026, 1, 10)],
    ['2026-02-10T09:00:00+01:00', Date.UTC(2026, 1, 10, 8)],
    ['2026-02-10T09:00:00.123456+00:00', Date.UTC(2026, 1, 10, 9, 0, 0, 123)],
  ])('reads %s', (text, ms) => {
    expect(parseIso(text)).toBe(ms);
  });

  it.each(['2026-02-10T09:00:00', '2026-02-10 09:00:00', '2026-02-10T09:00'])(
    'reads %s as UTC, so that machines in different time zones read the same time',
    (text) => {
      onTestFinished(() => void vi.unstubAllEnvs());
      for (const zone of ['America/New_York', 'Asia/Tokyo', 'UTC']) {
        vi.stubEnv('TZ', zone);
        expect(parseIso(text)).toBe(Date.UTC(2026, 1, 10, 9));
      }
    },
  );

  // JavaScript's Date.parse takes each of the first five for a day in 2001.
  it.each([
    '1',
    'task 5',
    'fg-1',
    'Feb 3',
    'x 1',
    '',
    'now',
    '2026',
    '2026-13-01',
    '2026-02-10T25:00:00Z',
    '+010000-01-01',
  ])('does not take %j for a time', (text) => {
    expect(parseIso(text)).toBeUndefined();
  });

  it('reads what toIso writes', () => {
    for (const ms of [0, 1, 999, 1_770_714_000_000, 7_258_118_399_999]) expect(parseIso(toIso(ms))).toBe(ms);
  });
});

describe('systemClock', () => {
  it('gives integer milliseconds of the wall clock', () => {
    const before = Date.now();
    const now = systemClock.now();
    expect(Number.isInteger(now)).toBe(true);
    expect(now).toBeGreaterThanOrEqual(before);
    expect(now).toBeLessThanOrEqual(Date.now());
  });
});

import { describe, expect, it } from 'vitest';
import { parseMoment, type Days } from './parse-moment.ts';

/** Two hours east of Greenwich, all year. */
const EAST: Days = {
  toDay(ms) {
    const date = new Date(ms + 7_200_000);
    return [date.getUTCFullYear(), date.getUTCMonth() + 1, date.getUTCDate()];
  },
  toMoment: (year, month, day, [hours, minutes, seconds] = [0, 0, 0]) =>
    Date.UTC(year, month - 1, day, hours, minutes, seconds) - 7_200_000,
};
// The first of March to this person, and still February in Greenwich.
const now = Date.parse('2026-02-28T23:30:00.000Z');
const parse = (text: string): string =>
  new Date(parseMoment(text, { now, days: EAST })).toISOString().replace('.000', '');

describe('a moment in words', () => {
  it.each([
    ['now', '2026-02-28T23:30:00Z'],
    ['today', '2026-02-28T22:00:00Z'],
    ['yesterday', '2026-02-27T22:00:00Z'],
    [' Yesterday ', '2026-02-27T22:00:00Z'],
    ['90m', '2026-02-28T22:00:00Z'],
    ['90 min', '2026-02-28T22:00:00Z'],
    ['12h', '2026-02-28T11:30:00Z'],
    ['12h ago', '2026-02-28T11:30:00Z'],
    ['7d', '2026-02-21T23:30:00Z'],
    ['2w', '2026-02-14T23:30:00Z'],
    ['2026-02-01', '2026-01-31T22:00:00Z'],
    ['2026-02-01T08:30', '2026-02-01T06:30:00Z'],
    ['2026-02-01 08:30:15', '2026-02-01T06:30:15Z'],
    ['2026-02-01T08:30:00Z', '2026-02-01T08:30:00Z'],
    ['2026-02-01T08:30:00.123Z', '2026-02-01T08:30:00Z'],
    ['2026-02-01T08:30+01:00', '2026-02-01T07:30:00Z'],
    ['2026-02-01T08:30-0530', '2026-02-01T14:00:00Z'],
    ['2024-02-29', '2024-02-28T22:00:00Z'],
  ])('%s is %s', (text, moment) => {
    expect(parse(text)).toBe(moment);
  });

  it.each([
    '',
    'tomorrow',
    'h',
    '-3h',
    '1.5h',
    '12x',
    '9999999d',
    '2026',
    '2026-02',
    '2026-02-30',
    '2026-13-01',
    '2026-00-10',
    '2026-02-01T25:00',
    '2026-02-01T10:61',
    '01/02/2026',
    'last friday',
  ])('%j is refused, with what would do', (text) => {
    expect(() => parse(text)).toThrow(
      expect.objectContaining({ code: 'invalid_input', hint: expect.stringContaining('yesterday') }),
    );
  });
});

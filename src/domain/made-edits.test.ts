import { describe, expect, it } from 'vitest';
import { countMade, MADE_AGAIN, nameMade } from './made-edits.ts';

const LINE = { seal: 'abc', shows: 'def' };

/** A record that has taken in the edit under the names of these numbers. */
const taken = (...times: number[]) => ({ hand: new Map(times.map((one) => [nameMade(LINE, one), 1])) });

describe('an edit of a line without stamps', () => {
  // The names stand in the files of a project: another name would be another edit.
  it.each([
    [1, 'abc:def'],
    [2, 'abcz2:def'],
    [10, 'abcza:def'],
    [35, 'abczz:def'],
  ])('that is made %i times is named %s', (times, name) => {
    expect(nameMade(LINE, times)).toBe(name);
  });

  it.each<[string, Parameters<typeof countMade>[0], number]>([
    ['by a record without edits', { hand: undefined }, 0],
    ['that was taken in once', taken(1), 1],
    ['that was taken in three times', taken(1, 2, 3), 3],
    ['up to the first number that is missing', taken(1, 3), 1],
    ['of which only a later one is known', taken(2), 0],
  ])('is counted: %s', (_name, record, times) => {
    expect(countMade(record, LINE)).toBe(times);
  });

  it('is told from itself as long as one sign is enough for the number, and not further', () => {
    expect(MADE_AGAIN.toString(36)).toBe('z');
    const all = Array.from({ length: MADE_AGAIN + 1 }, (_, at) => at + 1);
    expect(countMade(taken(...all), LINE)).toBe(MADE_AGAIN);
  });

  it('is not counted with that of another line', () => {
    expect(countMade(taken(1, 2), { ...LINE, seal: 'abd' })).toBe(0);
    expect(countMade(taken(1, 2), { ...LINE, shows: 'de' })).toBe(0);
  });
});

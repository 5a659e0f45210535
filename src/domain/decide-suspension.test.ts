import { describe, expect, it } from 'vitest';
import { RUN_OUTCOMES, type Run } from '#contract/attempt.ts';
import { describeSuspension, FAULT_RULES, findSuspension, isAgentFault } from './decide-suspension.ts';

const START = Date.parse('2026-03-01T12:00:00.000Z');
const RULES = { first_ms: 1_000, last_ms: 8_000 };
const at = (s: number): string => new Date(START + s * 1_000).toISOString();

type Row = readonly [outcome: Run['outcome'], from: number, to: number, more?: Partial<Run>];

const rows = (...all: readonly Row[]): Run[] =>
  all.map(([outcome, from, to, more]) => {
    const times = { created_at: at(from), ended_at: outcome === null ? null : at(to) };
    // Only what the decision looks at.
    return { agent: 'ada', outcome, message: `${outcome}`, retry_after: null, ...times, ...more } as Run;
  });

const find = (runs: readonly Run[], more: { resumed_at?: string; mended_at?: string } = {}) =>
  findSuspension(runs, { name: 'ada', ...more }, RULES);

describe('[A16] a suspension', () => {
  it('comes of faults of the agent or the world, and of nothing that says something about the task', () => {
    const faults = RUN_OUTCOMES.filter((outcome) => find(rows([outcome, 0, 1])) !== undefined);
    expect(faults).toEqual(['usage_limit', 'unavailable', 'auth', 'not_installed']);
    expect(faults).toEqual(RUN_OUTCOMES.filter(isAgentFault));
  });

  it('lasts twice as long with each fault in a row, up to a bound', () => {
    const many = (count: number) =>
      find(rows(...Array.from({ length: count }, (_, n): Row => ['unavailable', n * 100, n * 100 + 1])));
    const lasted = [1, 2, 3, 4, 9].map((count) => (many(count)?.until ?? 0) - START - (count - 1) * 100_000);
    expect(lasted).toEqual([2_000, 3_000, 5_000, 9_000, 9_000]);
  });

  it('lasts half a minute at first and a quarter of an hour at most', () => {
    const row = (count: number) =>
      findSuspension(
        rows(...Array.from({ length: count }, (_, n): Row => ['unavailable', n * 2, n * 2 + 1])),
        { name: 'ada' },
        FAULT_RULES,
      );
    expect((row(1)?.until ?? 0) - START - 1_000).toBe(30_000);
    expect((row(9)?.until ?? 0) - START - 17_000).toBe(900_000);
  });

  it('counts runs that met a fault at the same time as one', () => {
    const together = rows(['unavailable', 0, 10], ['unavailable', 1, 11], ['unavailable', 2, 12]);
    expect(find(together)).toMatchObject({ until: START + 13_000, since: at(10) });
  });

  it('goes by when runs ended, in whichever order they come', () => {
    const runs = rows(['completed', 0, 1], ['unavailable', 2, 3], ['unavailable', 4, 5]);
    expect(find(runs.toReversed())).toEqual(find(runs));
    expect(find(runs)).toMatchObject({ since: at(3) });
  });

  it('counts runs as one only where they were under way together', () => {
    const touching = rows(['unavailable', 0, 10], ['unavailable', 10, 20]);
    expect(find(touching)?.until).toBe(START + 22_000);
    const one = rows(['unavailable', 0, 10]);
    expect(find(one)?.until).toBe(START + 11_000);
  });

  it('takes the first of a row that ended at the same time as it stands', () => {
    const [a, b] = rows(['unavailable', 0, 5], ['auth', 1, 5]);
    if (a === undefined || b === undefined) throw new Error('two runs');
    expect(find([a, b])?.fault).toBe('auth');
    expect(find([b, a])?.fault).toBe('unavailable');
  });

  it('lasts until the time that was said, where one was', () => {
    expect(find(rows(['usage_limit', 0, 1, { retry_after: at(500) }]))?.until).toBe(START + 500_000);
  });

  it.each<[string, Row[], boolean]>([
    ['a run that got anywhere', [['completed', 2, 3]], false],
    ['one that failed at the task', [['failed', 2, 3]], false],
    ['one that was stopped', [['stopped', 2, 3]], true],
    ['one that lost its watcher', [['crashed', 2, 3]], true],
    ['one at work', [[null, 2, 3]], true],
    ['a run of another agent', [['completed', 2, 3, { agent: 'bob' }]], true],
  ])('is ended, or not, by %s', (_what, later, stays) => {
    expect(find(rows(['auth', 0, 1], ...later)) !== undefined).toBe(stays);
  });

  it('is ended by a person, and what only a person can mend by a new start', () => {
    const runs = rows(['unavailable', 0, 1]);
    expect(find(runs, { resumed_at: at(0.5) })).toBeDefined();
    expect(find(runs, { resumed_at: at(1) })).toBeUndefined();
    expect(find(runs, { mended_at: at(2) })).toBeDefined();
    expect(find(rows(['not_installed', 0, 1]), { mended_at: at(2) })).toBeUndefined();
    expect(find(rows(['not_installed', 0, 1]), { mended_at: at(1) })).toBeUndefined();
    expect(find(rows(['not_installed', 3, 4]), { mended_at: at(2) })).toMatchObject({ mends: 'by_person' });
  });

  it('says who, until when, why, and what ends it', () => {
    const found = find(rows(['auth', 0, 1, { message: 'Not logged in.' }]));
    expect(found && describeSuspension(found)).toBe(
      'ada is suspended until 2026-03-01T12:00:02.000Z: Not logged in. Sooner: forge agent resume ada',
    );
  });
});

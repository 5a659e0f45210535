import { describe, expect, it } from 'vitest';
import {
  describeBudget,
  describeCap,
  describeSpent,
  findReachedCap,
  hasCap,
  splitRaise,
  sumRuns,
  toCaps,
  type Caps,
} from './caps.ts';
import { NO_USAGE } from './count-usage.ts';

const NONE: Caps = { run: {}, task: {}, night: {}, project: {} };
const SPENT = { usd: 1.5, tokens: 3_000, minutes: 30 };

describe('[A12] a cap', () => {
  it.each([
    ['run', { usd: 1.5 }, '$1.50 of $1.50'],
    ['run', { usd: 1.51 }, undefined],
    ['task', { tokens: 3_000 }, '3000 of 3000 tokens'],
    ['task', { tokens: 3_001 }, undefined],
    ['night', { minutes: 30 }, '30 of 30 minutes'],
    ['night', { minutes: 31 }, undefined],
    ['project', { usd: 1, tokens: 1 }, '$1.50 of $1.00'],
    ['project', { usd: 0 }, '$1.50 of $0.0000'],
    ['night', { minutes: 0.05 }, '30 of 0.05 minutes'],
  ] as const)('of the %s, %o', (scope, cap, told) => {
    const reached = findReachedCap({ ...NONE, [scope]: cap }, { [scope]: SPENT });
    expect(reached === undefined ? undefined : describeSpent(reached)).toBe(told);
  });

  it('is what the setting of its name says', () => {
    const caps = { run_usd: 1, run_tokens: 2, task_usd: 3, task_tokens: 4, task_minutes: 5 };
    const project = { project_usd: 6, project_tokens: 7, project_minutes: 8 };
    const scheduler = { budget_usd: 9, budget_tokens: 10, budget_minutes: 11 };
    expect(toCaps({ caps: { ...caps, ...project }, scheduler })).toEqual({
      run: { usd: 1, tokens: 2 },
      task: { usd: 3, tokens: 4, minutes: 5 },
      night: { usd: 9, tokens: 10, minutes: 11 },
      project: { usd: 6, tokens: 7, minutes: 8 },
    });
  });

  it('of what is not looked at is not reached', () => {
    expect(findReachedCap({ ...NONE, project: { usd: 1 } }, { run: SPENT })).toBeUndefined();
    expect(hasCap({ ...NONE, project: { usd: 1 } }, 'usd')).toBe(true);
    expect(hasCap({ ...NONE, project: { usd: 1 } }, 'tokens')).toBe(false);
  });

  it.each([
    ['task', 'usd', 'forge settings set caps.task_usd 2 && forge run fg-1 --agent ada'],
    ['run', 'tokens', 'forge settings set caps.run_tokens 2 && forge run fg-1 --agent ada'],
    ['night', 'minutes', 'forge settings set scheduler.budget_minutes 2 && forge run fg-1 --agent ada'],
  ] as const)('of the %s in %s says what raises it', (scope, unit, command) => {
    const text = describeCap({ scope, unit, spent: 1, most: 1 }, { task_id: 'fg-1', agent: 'ada' });
    expect(splitRaise(`The auditor: ${text}`)).toMatchObject({ command });
    expect(splitRaise('It failed')).toBeUndefined();
  });
});

it.each([
  [0.0112, 0.01, '0.02'],
  [50, 3, '6'],
  [0, 0, '1'],
  [1_201, 1_000, '2000'],
  [1e300, 2, '4'],
])('[S2-F8] a cap of which %d of %d is spent is raised to %s', (spent, most, next) => {
  const text = describeCap({ scope: 'run', unit: 'usd', spent, most }, { task_id: 'fg-1', agent: 'ada' });
  expect(text).toContain(` caps.run_usd ${next} &&`);
});

it.each([
  [0.5, 0.5, '$0.50 of $0.50'],
  [0.05, 0.1, '$0.0500 of $0.10'],
  [1, 0.02, '$1.00 of $0.0200'],
])('$%d of $%d is told in cents, and below ten of them in parts of a cent', (spent, most, told) => {
  expect(describeSpent({ scope: 'run', unit: 'usd', spent, most })).toBe(told);
});

describe('what runs used', () => {
  const at = (minutes: number): string => new Date(minutes * 60_000).toISOString();
  it('is added, what is unknown is nothing, and what is at work counts until now', () => {
    const usage = {
      ...NO_USAGE,
      input_tokens: 1_000,
      output_tokens: 500,
      cached_tokens: 900,
      cost_usd: 0.75,
    };
    const runs = [
      { usage, started_at: at(0), ended_at: at(10) },
      { usage: NO_USAGE, started_at: at(20), ended_at: null },
      { usage, started_at: null, ended_at: null },
    ];
    expect(sumRuns(runs, 30 * 60_000)).toEqual({ usd: 1.5, tokens: 3_000, minutes: 20 });
  });
});

it.each([
  [0.6213, 0.05, '0.6 of 0.05 minutes'],
  [0, 0, '0 of 0 minutes'],
  [10.9, 10, '10 of 10 minutes'],
])('%d of %d minutes are told as %s', (spent, most, told) => {
  const { message, command } = describeBudget({ scope: 'night', unit: 'minutes', spent, most });
  expect(message).toBe(`The budget is spent (${told} in 24 hours): nothing more is started`);
  expect(command).toMatch(/^forge settings set scheduler\.budget_minutes /);
});

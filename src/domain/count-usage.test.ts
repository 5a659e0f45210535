import { describe, expect, it } from 'vitest';
import type { RunUsage } from '#contract/attempt.ts';
import {
  countUsage,
  findSessionCost,
  hasBegunAnew,
  keepCounted,
  NO_USAGE,
  type SaidUsage,
} from './count-usage.ts';
import { LIMITS } from '#kernel/limits.ts';
import { findPrice } from './price-table.ts';

const SAID: SaidUsage = {
  input_tokens: 1_000_000,
  output_tokens: 100_000,
  cached_tokens: 400_000,
  cost: null,
  since_cost: null,
  model: null,
};

function count(said: Partial<SaidUsage>, before_usd = 0) {
  return countUsage({ ...SAID, ...said }, { before_usd, findPrice: (model) => findPrice(model) });
}

const session = (usd: number) => ({ cost: { usd, of: 'session' } }) as const;

describe('[A12] the cost of a run', () => {
  it('of four runs of one session is counted once', () => {
    const totals = [0.0016, 0.0024, 0.0032, 0.004];
    const runs: { id: string; session_id: string; usage: ReturnType<typeof count> }[] = [];
    for (const total of totals) {
      const run = { id: String(runs.length), session_id: 's', usage: NO_USAGE };
      const usage = count(session(total), findSessionCost(runs, run));
      runs.push({ ...run, usage });
    }
    expect(runs.map(({ usage }) => usage.cost_usd)).toEqual([0.0016, 0.0008, 0.0008, 0.0008]);
    expect(runs.at(-1)?.usage).toMatchObject({ cost_source: 'reported', session_cost_usd: 0.004 });
  });

  it('[S-H7] below nothing is unknown, and takes nothing off what others used', () => {
    const usage = count({ ...session(-50), input_tokens: -1_000, output_tokens: Number.NaN }, 0);
    expect(usage).toMatchObject({ cost_usd: null, input_tokens: null, output_tokens: null });
    expect(usage.session_cost_usd).toBeNull();
  });

  it.each([
    ['of a new session', 0, { usd: 1, fallen_usd: 1.9 }, 2.9],
    ['without what earlier runs had', 1.5, { usd: 1, fallen_usd: 1.9 }, 1.4],
    ['of nothing, where that is what it says now', 1.5, { usd: 0, fallen_usd: 1.9 }, 0.4],
  ])('[S2-F8] has what was said before a fall in it: %s', (_name, before, cost, usd) => {
    const said = { cost: { ...cost, of: 'session' } } as const;
    expect(count(said, before)).toMatchObject({ cost_usd: usd, session_cost_usd: cost.usd });
  });

  it.each([
    [0.5, undefined, 2, true],
    [2, undefined, 2, false],
    [0.5, 1.9, 2, false],
  ])('[S2-F8] of $%d after %s begins anew, from %d: %s', (usd, fallen_usd, before, isAnew) => {
    expect(hasBegunAnew({ ...SAID, cost: { usd, fallen_usd, of: 'session' } }, before)).toBe(isAnew);
    expect(hasBegunAnew({ ...SAID, cost: { usd, of: 'run' } }, before)).toBe(false);
  });

  it.each([1e300, LIMITS.usage_usd + 1, -1, Number.NaN])('[S2-F8] of %d is not believed', (usd) => {
    expect(count(session(usd))).toMatchObject({ cost_usd: null, session_cost_usd: null });
  });

  it.each([
    ['of a session begun afresh starts from nothing', session(0.5), 0, 0.5],
    ['of a session whose total began anew is that total', session(0.5), 2, 0.5],
    ['of a run that cost nothing more is nothing', session(2), 2, 0],
    ['that the program says of the run alone is that', { cost: { usd: 0.5, of: 'run' } } as const, 2, 0.5],
  ])('%s', (_name, said, before, cost_usd) => {
    expect(count(said, before)).toMatchObject({ cost_usd, cost_source: 'reported' });
  });

  it.each([
    [
      'by the list where the program says none',
      { model: 'gpt-5.5' },
      600_000 * 5 + 400_000 * 0.5 + 100_000 * 30,
    ],
    ['as all fresh where what was cached is not said', { model: 'gpt-5.5', cached_tokens: null }, 8_000_000],
    ['as all cached at most', { model: 'gpt-5.5', cached_tokens: 9_000_000 }, 500_000 + 3_000_000],
  ])('is estimated %s', (_name, said, millionths) => {
    expect(count(said)).toMatchObject({ cost_usd: millionths / 1_000_000, cost_source: 'estimated' });
  });

  it('is estimated for what was used after the program said it', () => {
    const since_cost = { input_tokens: 1_000, output_tokens: 100, cached_tokens: 0 };
    const said = { ...session(1.5), since_cost, model: 'claude-opus-5-5' };
    expect(count(said, 1)).toMatchObject({ cost_usd: 0.5 + 0.004 + 0.002, cost_source: 'estimated' });
    expect(count({ ...said, model: 'unheard-of' }, 1)).toMatchObject({
      cost_usd: 0.5,
      cost_source: 'reported',
    });
  });

  it.each([
    ['the model has no price', { model: 'unheard-of' }],
    ['the model is not said', {}],
    ['the tokens are not said', { model: 'gpt-5.5', input_tokens: null }],
    ['half of the tokens are not said', { model: 'gpt-5.5', output_tokens: null }],
  ])('is unknown, and not nothing, where %s', (_why, said) => {
    expect(count(said)).toMatchObject({ cost_usd: null, cost_source: null });
  });
});

describe('what a session had cost before', () => {
  const run = (id: string, session_id: string | null, usage: object) => ({
    id,
    session_id,
    usage: { ...NO_USAGE, ...usage },
  });
  const runs = [
    run('1', 'a', { cost_usd: 1, cost_source: 'reported', session_cost_usd: 1 }),
    run('2', 'b', { cost_usd: 9, cost_source: 'reported', session_cost_usd: 9 }),
    run('3', 'a', { cost_usd: 0.5, cost_source: 'reported', session_cost_usd: 1.5 }),
    // Killed before it said anything: an estimate is not what the program will count from.
    run('4', 'a', { cost_usd: 0.3, cost_source: 'estimated' }),
    // Of an older Forge, which kept the total as the cost of the run.
    run('5', 'old', { cost_usd: 7 }),
    run('6', null, { cost_usd: 3, cost_source: 'reported', session_cost_usd: 3 }),
  ];
  it.each([
    ['what its program last said', 'a', 1.5],
    ['nothing of another session', 'c', 0],
    ['what an older Forge kept', 'old', 7],
    ['nothing where it has no session', null, 0],
  ])('is %s', (_name, session_id, usd) => {
    expect(findSessionCost(runs, { id: 'now', session_id })).toBe(usd);
  });
  it('is nothing of the run itself', () => {
    expect(findSessionCost(runs, { id: '3', session_id: 'a' })).toBe(1);
  });
});

describe('[S2-F8] what was counted in a run', () => {
  const usage = ([cost_usd, cost_source]: readonly [number | null, RunUsage['cost_source']]) => ({
    ...NO_USAGE,
    cost_usd,
    cost_source,
  });
  it.each([
    ['an estimate gives way to what the program says', [3, 'estimated'], [2, 'reported'], [2, 'reported']],
    ['a cost that was said is not made less', [3, 'reported'], [2, 'reported'], [3, 'reported']],
    ['nor by an estimate', [3, 'reported'], [2, 'estimated'], [3, 'reported']],
    ['nor an estimate by another model', [3, 'estimated'], [2, 'estimated'], [3, 'estimated']],
    ['nor by silence', [3, 'reported'], [null, null], [3, 'reported']],
    ['more is more', [3, 'reported'], [4, 'estimated'], [4, 'estimated']],
    ['nothing is known at first', [null, null], [0, 'reported'], [0, 'reported']],
  ] as const)('%s', (_name, before, now, kept) => {
    expect(keepCounted(usage(before), usage(now))).toEqual(usage(kept));
  });

  it('stays known', () => {
    const counted = { ...NO_USAGE, input_tokens: 5, output_tokens: 4, cached_tokens: 3, session_cost_usd: 2 };
    expect(keepCounted(counted, NO_USAGE)).toEqual(counted);
    expect(keepCounted(counted, { ...NO_USAGE, input_tokens: 9 })).toEqual({ ...counted, input_tokens: 9 });
  });
});

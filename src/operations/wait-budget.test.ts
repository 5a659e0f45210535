import { describe, expect, it } from 'vitest';
import { OPERATIONS } from '#contract/operations.ts';
import { LIMITS } from '#kernel/limits.ts';
import { WaitBudget } from './wait-budget.ts';

const REFUSED = { code: 'too_many_requests', hint: /GET \/api\/v1\/events/ };

function begin(budget: WaitBudget, token: string): Disposable | { code: string; hint: string } {
  try {
    return budget.begin(token);
  } catch (error) {
    return error as { code: string; hint: string }; // it throws nothing else
  }
}

describe('[B8] waits', () => {
  it('are bounded for one token, and leave others theirs', () => {
    const budget = new WaitBudget({ a_token: 2, all: 10 });
    const first = budget.begin('a');
    budget.begin('a');
    expect(begin(budget, 'a')).toMatchObject({
      ...REFUSED,
      hint: expect.stringMatching(REFUSED.hint) as string,
    });
    expect(begin(budget, 'b')).not.toHaveProperty('code');
    first[Symbol.dispose]();
    first[Symbol.dispose]();
    expect(begin(budget, 'a')).not.toHaveProperty('code');
    expect(begin(budget, 'a')).toHaveProperty('code', 'too_many_requests');
  });

  it('are bounded in all', () => {
    const budget = new WaitBudget({ a_token: 2, all: 3 });
    const waits = ['a', 'a', 'b'].map((token) => budget.begin(token));
    expect(begin(budget, 'c')).toHaveProperty('details.limit', 3);
    waits[2]?.[Symbol.dispose]();
    expect(begin(budget, 'c')).not.toHaveProperty('code');
  });

  it('are those of operations that say so, and one token has a part of them', () => {
    expect(OPERATIONS.filter(({ waits }) => waits === true).map(({ name }) => name)).toEqual(['task.wait']);
    expect(LIMITS.waits).toBeGreaterThanOrEqual(4 * LIMITS.waits_a_token);
  });
});

import { expect, it } from 'vitest';
import { toIso } from '#kernel/clock.ts';
import { LIMITS } from '#kernel/limits.ts';
import { forgottenStepsUntil, reuseStep } from './kept-steps.ts';

it('a result says where it comes from', () => {
  const result = { command: 'make', exit_code: 0, duration_ms: 1, output: '', outcome: 'passed' } as const;
  const created_at = toIso(1);
  expect(reuseStep({ result, review_id: 'v-1', created_at })).toEqual({
    ...result,
    reused_from: { review_id: 'v-1', at: created_at },
  });
});

it('what is older than a week is forgotten', () => {
  expect(forgottenStepsUntil(LIMITS.step_cache_ms + 5)).toBe(toIso(5));
});

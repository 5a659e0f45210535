import { describe, expect, it } from 'vitest';
import { failureTarget, listPlanners, passTarget, rejectionTarget, submitTarget } from './gate-targets.ts';
import { DEFAULT_RESOLVED } from './workflow.ts';

describe('where the gates of the default workflow lead', () => {
  it('follows from the kinds of the states behind them', () => {
    expect(submitTarget(DEFAULT_RESOLVED, 'in_progress')).toBe('review');
    expect(submitTarget(DEFAULT_RESOLVED, 'planning')).toBe('in_progress');
    expect(rejectionTarget(DEFAULT_RESOLVED, 'review')).toBe('in_progress');
    expect(passTarget(DEFAULT_RESOLVED, 'review')).toBe('merging');
    expect(passTarget(DEFAULT_RESOLVED, 'merging')).toBe('done');
    expect(failureTarget(DEFAULT_RESOLVED, 'merging')).toBe('merge_failed');
  });

  it('is nowhere for a state without a way on', () => {
    expect(passTarget(DEFAULT_RESOLVED, 'done')).toBeUndefined();
    expect(rejectionTarget(DEFAULT_RESOLVED, 'merging')).toBeUndefined();
  });
});

it('those who plan are the roles of states that lead on to work', () => {
  expect(listPlanners(DEFAULT_RESOLVED)).toEqual(['planner']);
});

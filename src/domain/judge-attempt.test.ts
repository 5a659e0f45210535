import { describe, expect, it } from 'vitest';
import type { Attempt, Review, Run, StepResult } from '#contract/attempt.ts';
import { judgeAttempt } from './judge-attempt.ts';

// Only what is looked at: the rest of the rows has nothing to say about it.
const attempt = { head_commit: 'h2' } as Attempt;
const run = (state: Run['state'], outcome: Run['outcome'] = null, message: string | null = null): Run =>
  ({ state, outcome, message }) as Run;
const review = (status: Review['status'], more: Partial<Review> = {}): Review =>
  ({ status, head_commit: 'h2', step_results: [], verdict: null, ...more }) as Review;
const step = (outcome: StepResult['outcome'], more: Partial<StepResult> = {}): StepResult => ({
  command: 'npm test',
  outcome,
  exit_code: null,
  output: '',
  duration_ms: 1,
  ...more,
});
const DONE = [run('completed', 'completed')];

const judge = (runs: readonly Run[], reviews: readonly Review[] = []) =>
  judgeAttempt({ attempt, runs, reviews });

describe('how far an attempt has come', () => {
  it('is said by its last run, and by a review of exactly its head', () => {
    const result = (...rows: Parameters<typeof judge>): string => judge(...rows).result;
    expect(result([])).toBe('unbegun');
    expect(result([run('failed', 'failed'), run('running')])).toBe('working');
    expect(result([run('failed', 'crashed')])).toBe('cut_off');
    expect(result([run('failed')])).toBe('cut_off');
    expect(result([run('failed', 'usage_limit')])).toBe('unavailable');
    expect(result([run('failed', 'no_change')], [review('passed')])).toBe('failed');
    expect(result(DONE)).toBe('unchecked');
    expect(result(DONE, [review('passed', { head_commit: 'h1' })])).toBe('unchecked');
    expect(result(DONE, [review('passed'), review('void')])).toBe('green');
    expect(result(DONE, [review('passed'), review('running')])).toBe('unchecked');
    expect(result(DONE, [review('passed'), review('failed')])).toBe('red');
  });

  it('is green where only the word of a person is missing, and unchecked where no check ran', () => {
    expect(judge(DONE, [review('waiting', { step_results: [step('passed')] })]).result).toBe('green');
    expect(judge(DONE, [review('waiting')]).result).toBe('unchecked');
    expect(judge(DONE, [review('passed')]).result).toBe('green');
  });
});

describe('why an attempt has come no further', () => {
  it.each<[string, Run, string | null]>([
    ['what its run says', run('failed', 'timeout', 'It took too long'), 'It took too long'],
    ['how its run ended, where it says no more', run('failed', 'timeout'), 'timeout'],
    ['nothing while it works', run('running', null, 'Began'), null],
    ['nothing where it is done', run('completed', 'completed', 'Done'), null],
  ])('is %s', (_, last, message) => {
    expect(judge([last]).message).toBe(message);
  });

  it.each<[string, Partial<StepResult> & Pick<StepResult, 'outcome'>, string]>([
    ['with its code', { outcome: 'failed', exit_code: 2, output: 'No' }, 'npm test: exit 2'],
    ['that was ended before it had a code', { outcome: 'failed' }, 'npm test: failed'],
    ['that ended otherwise', { outcome: 'output_limit', exit_code: 1 }, 'npm test: output limit'],
    ['that did not start, and why', { outcome: 'start_failed', output: 'no npm' }, 'npm test: no npm'],
    ['that did not start, for no known reason', { outcome: 'start_failed' }, 'npm test: start failed'],
  ])('is the first check %s', (_, { outcome, ...more }, message) => {
    const step_results = [
      step('passed', { command: 'npm run lint' }),
      step(outcome, more),
      step('failed', { command: 'npm run other', exit_code: 9 }),
    ];
    expect(judge(DONE, [review('failed', { step_results })])).toEqual({ result: 'red', message });
  });

  it('is the word of the reviewer where all checks passed', () => {
    const step_results = [step('passed')];
    const verdict: Review['verdict'] = { verdict: 'reject', summary: 'Not so', findings: [] };
    expect(judge(DONE, [review('failed', { step_results, verdict })]).message).toBe('Not so');
    expect(judge(DONE, [review('failed', { step_results })]).message).toBeNull();
  });
});

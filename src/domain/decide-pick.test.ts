import { describe, expect, it } from 'vitest';
import type { Attempt, AttemptView, Review, Run } from '#contract/attempt.ts';
import { decidePick, needsWork, type Candidate } from './decide-pick.ts';
import { judgeAttempt } from './judge-attempt.ts';

function candidate(number: number, result: AttemptView['result'], more: Partial<Candidate> = {}): Candidate {
  return { id: `a${number}`, number, result, changes: null, green_at: null, ...more };
}

const green = (number: number, lines: number | null, at = '2026-01-01'): Candidate =>
  candidate(number, 'green', {
    green_at: at,
    changes: lines === null ? null : { files: 1, insertions: lines, deletions: 0 },
  });

const pick = (...args: Parameters<typeof decidePick<Candidate>>): string => {
  const decided = decidePick(...args);
  return decided.outcome === 'picked' ? `picked ${decided.candidate.number}` : decided.outcome;
};

describe('the choice between attempts', () => {
  it('takes the first that was green, whatever the others do', () => {
    const all = [green(1, 1, '2026-01-02'), green(2, 9, '2026-01-01'), candidate(3, 'working')];
    expect(pick('first_green', all)).toBe('picked 2');
    expect(pick('first_green', [green(2, 1), green(1, 1)])).toBe('picked 1');
    expect(pick('first_green', [candidate(1, 'red'), candidate(2, 'cut_off')])).toBe('unfinished');
  });

  it('takes the smallest green diff, by number where they are as small', () => {
    expect(pick('smallest_green', [green(1, 3), green(2, 2), candidate(3, 'red')])).toBe('picked 2');
    expect(pick('smallest_green', [green(2, 2), green(1, 2)])).toBe('picked 1');
    expect(pick('smallest_green', [green(1, null), green(2, 2)])).toBe('picked 2');
  });

  it('asks whoever is to choose, and nobody where there is no choice', () => {
    expect(pick('person', [green(1, 1), green(2, 2)])).toBe('ask_person');
    expect(pick('person', [green(1, 1), candidate(2, 'red')])).toBe('ask_person');
    expect(pick('person', [green(1, 1)])).toBe('picked 1');
    expect(pick('reviewer', [green(1, 1), green(2, 2)])).toBe('ask_reviewer');
    expect(pick('reviewer', [green(1, 1), candidate(2, 'failed')])).toBe('picked 1');
  });

  it('waits for what is not finished, and tells red from failed', () => {
    for (const result of ['unbegun', 'working', 'cut_off', 'unchecked'] as const)
      expect(pick('smallest_green', [green(1, 1), candidate(2, result)])).toBe('unfinished');
    expect(pick('smallest_green', [candidate(1, 'failed'), candidate(2, 'red')])).toBe('none_green');
    expect(pick('smallest_green', [candidate(1, 'failed'), candidate(2, 'failed')])).toBe('all_failed');
  });

  it('lets go on what was cut off, and what is red only where nothing is green', () => {
    const results = ['unbegun', 'working', 'cut_off', 'failed', 'unchecked', 'red', 'green'] as const;
    expect(results.filter((result) => needsWork(result, true))).toEqual(['unbegun', 'cut_off']);
    expect(results.filter((result) => needsWork(result, false))).toEqual([
      'unbegun',
      'cut_off',
      'failed',
      'red',
    ]);
  });
});

describe('how far an attempt has come', () => {
  // Only what is looked at: the rest of the rows has nothing to say about it.
  const attempt = { head_commit: 'h2' } as Attempt;
  const run = (state: Run['state'], outcome: Run['outcome'] = null): Run =>
    ({ state, outcome, message: null }) as Run;
  const review = (status: Review['status'], head_commit = 'h2'): Review =>
    ({ status, head_commit, step_results: [], verdict: null }) as unknown as Review;
  const judge = (runs: Run[], reviews: Review[] = []): string =>
    judgeAttempt({ attempt, runs, reviews }).result;

  it('is said by its last run, and by a review of exactly its head', () => {
    const done = [run('completed', 'completed')];
    expect(judge([])).toBe('unbegun');
    expect(judge([run('failed', 'failed'), run('running')])).toBe('working');
    expect(judge([run('failed', 'crashed')])).toBe('cut_off');
    expect(judge([run('failed', 'no_change')], [review('passed')])).toBe('failed');
    expect(judge(done)).toBe('unchecked');
    expect(judge(done, [review('passed', 'h1')])).toBe('unchecked');
    expect(judge(done, [review('passed'), review('void')])).toBe('green');
    expect(judge(done, [review('passed'), review('running')])).toBe('unchecked');
    expect(judge(done, [review('passed'), review('failed')])).toBe('red');
  });
});

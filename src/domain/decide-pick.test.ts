import { describe, expect, it } from 'vitest';
import type { AttemptView } from '#contract/attempt.ts';
import { decidePick, needsWork, type Candidate } from './decide-pick.ts';

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

  it('says that no agent was able to work only where none was', () => {
    expect(pick('smallest_green', [candidate(1, 'unavailable')])).toBe('unavailable');
    expect(pick('smallest_green', [candidate(1, 'unavailable'), candidate(2, 'unavailable')])).toBe(
      'unavailable',
    );
    expect(pick('smallest_green', [candidate(1, 'unavailable'), candidate(2, 'failed')])).toBe('all_failed');
    expect(pick('smallest_green', [])).toBe('all_failed');
  });

  it('counts what was taken away as what was added', () => {
    const cut = candidate(1, 'green', { green_at: 'x', changes: { files: 1, insertions: 1, deletions: 9 } });
    expect(pick('smallest_green', [cut, green(2, 5)])).toBe('picked 2');
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

import { describe, expect, it } from 'vitest';
import type { Review } from '#contract/attempt.ts';
import type { SuspendedAgent } from '#contract/suspension.ts';
import type { WorkedTask } from '#contract/run-task-operations.ts';
import type { Task } from '#contract/task.ts';
import { DEFAULT_RESOLVED } from '#domain/workflow.ts';
import { findSpentBudget } from '#domain/plan-transition.ts';
import { describeSuspended, suspendedLines } from './agent-entry.ts';
import { inboxList } from './inbox-list.ts';
import type { TextView } from './operation.ts';
import { taskReview } from './task-review.ts';
import { workedText } from './worked-text.ts';

const NOW = Date.UTC(2026, 2, 1);
const view: TextView = { color: false, columns: 80, now: NOW };
/** Only what is looked at. */
const task = (more: Partial<Task> = {}): Task =>
  ({ id: 'fg-a', status: 'in_progress', state: 'review', assignee: 'ada', ...more }) as Task;

const WAIT = { message: 'it stands still', command: 'forge run fg-a --agent ada --merge' };

describe('an answer names the next command', () => {
  it.each([
    ['passed', task(), undefined, 'Next: forge run fg-a --merge'],
    ['failed', task({ state: 'in_progress' }), WAIT, 'Next: forge run fg-a --agent ada --merge'],
    // A process that stays has started its agent again.
    ['failed', task({ state: 'in_progress' }), undefined, undefined],
    ['passed', task({ status: 'closed', state: 'done' }), undefined, undefined],
  ] as const)('of a review that %s', (status, of, wait, next) => {
    const review = { status, verdict_by: 'user:ann', verdict: null } as Review;
    expect(taskReview.text({ task: of, review, wait }, view).split('\n')[1]).toBe(next);
  });

  it('of a run that ended with a review that passed', () => {
    const passed = task({ review_passed_at: '2026-03-01T00:00:00.000Z' });
    const none = { attempt: null, review: null, merge: null, wait: null };
    const worked = { ...none, task: passed, reached: true } as unknown as WorkedTask;
    expect(workedText([worked], view)).toBe('fg-a is in review: it passed (forge run fg-a --merge)');
    expect(workedText([{ ...worked, task: task() }], view)).toBe('fg-a is in review');
    const halted = { ...worked, task: task({ state: 'in_progress' }), reached: false, wait: WAIT };
    expect(workedText([halted], view)).toBe(
      'fg-a is in in_progress: it stands still (forge run fg-a --agent ada --merge)',
    );
  });

  it('of a request for permission: both answers', () => {
    const item = {
      kind: 'approval',
      task_id: 'fg-a',
      title: 'A',
      run_id: 'ab12',
      since: null,
      message: 'ada asks for npm test',
      command: 'forge runs approve ab12',
    } as const;
    expect(inboxList.text([item], view)).toContain('try: forge runs approve ab12, or forge runs deny ab12');
    const long = { ...item, kind: 'stuck', message: 'word '.repeat(40).trim() } as const;
    expect(
      inboxList
        .text([long], view)
        .split('\n')
        .every((line) => line.length <= 80),
    ).toBe(true);
  });
});

describe('a suspension', () => {
  const one = (until: number): SuspendedAgent =>
    ({
      agent: 'ada',
      until: new Date(until).toISOString(),
      reason: 'not logged in',
      command: 'forge agent resume ada',
    }) as SuspendedAgent;

  it('whose time has passed is told as such', () => {
    expect(describeSuspended(one(NOW + 1), NOW)).toMatch(/^suspended until 2026-03-01T/);
    expect(suspendedLines(one(NOW), view)).toEqual([
      'ada is suspended, may be tried again: not logged in',
      '  try: forge agent resume ada',
    ]);
  });
});

describe('a gate that said no too often', () => {
  it.each([
    ['`npm test` ended with 1: \n\n  1 failed\n', '. The last time: `npm test` ended with 1: 1 failed'],
    [
      '`npm test` ended with 1: \n\n> test\n1 of 2\n1 failed: adds',
      '. The last time: `npm test` ended with 1: > test … 1 failed: adds',
    ],
    ['too slow', '. The last time: too slow'],
    [null, ''],
  ])('names the last reason, %o', (reason, told) => {
    const spent = findSpentBudget(DEFAULT_RESOLVED, 'review', { said: 4, last: reason });
    expect(spent?.annotation.message).toBe(`review said no 4 times; 3 are allowed${told}`);
  });
});

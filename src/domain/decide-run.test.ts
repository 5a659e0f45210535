import { describe, expect, it } from 'vitest';
import { RUN_STATES } from '#contract/attempt.ts';
import { toIso } from '#kernel/clock.ts';
import { keptAttempt, keptRun } from '../../tests/support/kept-work.ts';
import { decideRunOpen, decideRunStart, decideRunStep } from './decide-run.ts';
import { isEnded } from './run-states.ts';

const NOW = Date.UTC(2026, 1, 10, 9);

describe('decideRunStart, the whole table', () => {
  const task = { id: 'fg-a1b2', state: 'in_progress', assignee: 'bot', archived: false, fence: 3 };
  const other = { id: 'r-0', agent: 'old' };
  it.each([
    ['a task that is its own', task, undefined, undefined],
    ['a second run', task, other, { outcome: 'at_work', run: other }],
    ['a deleted task', undefined, undefined, { outcome: 'task_lost', loss: { code: 'deleted' } }],
    ['an archived task', { ...task, archived: true }, undefined, { loss: { code: 'archived' } }],
    ['a task with another claim', { ...task, fence: 4 }, undefined, { fence: 3, loss: { code: 'taken' } }],
    ['a task in another state', { ...task, state: 'todo' }, undefined, { loss: { code: 'moved' } }],
    ['a lost task with a second run', { ...task, fence: 4 }, other, { outcome: 'task_lost' }],
  ])('%s', (_, now, second, expected) => {
    const facts = { attempt: keptAttempt(), task: now, other: second };
    const refusal = decideRunStart(facts, { fence: 3, in_state: 'in_progress' });
    expect({ refusal }).toMatchObject({ refusal: expected });
  });
});

describe('decideRunStep', () => {
  it.each(RUN_STATES.flatMap((state) => RUN_STATES.map((asked) => [state, asked] as const)))(
    'of a run that is %s, thought to be %s',
    (state, asked) => {
      const to = state === 'running' ? 'verifying' : 'draft';
      const { outcome } = decideRunStep(keptRun({ state }), { from: asked, to }, NOW);
      expect(outcome === 'run_moved').toBe(state !== asked);
    },
  );

  it('notes when it began and when it ended, once each', () => {
    const scheduled = keptRun({ state: 'scheduled', started_at: null });
    expect(decideRunStep(scheduled, { to: 'running' }, NOW)).toMatchObject({
      run: { started_at: toIso(NOW), ended_at: null },
      ended: false,
    });
    const running = keptRun();
    expect(decideRunStep(running, { to: 'failed', message: 'red' }, NOW)).toMatchObject({
      run: { started_at: running.started_at, ended_at: toIso(NOW), message: 'red' },
      ended: true,
    });
    const again = keptRun({ state: 'verifying' });
    expect(decideRunStep(again, { to: 'running' }, NOW)).toMatchObject({
      run: { started_at: again.started_at },
    });
  });

  it('forgets the end of a run that is begun anew, and a wish to stop it', () => {
    const over = { outcome: 'failed', message: 'red', retry_after: toIso(1) } as const;
    const ended = keptRun({ state: 'failed', ...over, ended_at: toIso(1), stop_asked_at: toIso(1) });
    expect(decideRunStep(ended, { to: 'draft' }, NOW)).toMatchObject({
      run: {
        outcome: null,
        message: null,
        retry_after: null,
        started_at: null,
        ended_at: null,
        stop_asked_at: null,
      },
      ended: false,
    });
  });

  it('keeps what a step does not speak of', () => {
    const run = keptRun({ message: 'was', stop_asked_at: toIso(1) });
    expect(decideRunStep(run, { to: 'verifying' }, NOW)).toMatchObject({
      run: { ...run, state: 'verifying' },
    });
    expect(decideRunStep(run, { to: 'verifying', message: null }, NOW)).toMatchObject({
      run: { message: null },
    });
  });
});

describe('decideRunOpen', () => {
  it.each(RUN_STATES)('%s', (state) => {
    const run = keptRun({ state, ended_at: isEnded(state) ? toIso(1) : null });
    for (const wants of ['stop', 'approval'] as const)
      expect(decideRunOpen(run, wants)).toEqual(
        isEnded(state) ? { outcome: 'run_ended', id: 'r-1', state, wants } : undefined,
      );
  });
});

import { describe, expect, it } from 'vitest';
import { toIso } from '#kernel/clock.ts';
import { keptAttempt, keptMerge } from '../../tests/support/kept-work.ts';
import { decideLandingStart, decideMergeEnd, decideQueue, decideTurn } from './decide-merge.ts';

const NOW = Date.UTC(2026, 1, 10, 9);
const STATES = [
  'queued',
  'started',
  'landed',
  'conflict',
  'ci_failed',
  'refused',
  'postponed',
  'dropped',
] as const;
const ENDS = ['landed', 'conflict', 'ci_failed', 'refused', 'postponed', 'dropped'] as const;

describe('decideMergeEnd, the whole table', () => {
  it.each(STATES.flatMap((state) => ENDS.map((end) => ({ state, end }))))(
    '$state to $end',
    ({ state, end }) => {
      const decision = decideMergeEnd(keptMerge({ state }), { state: end, message: 'so' }, NOW);
      const may = state === 'started' || (state === 'queued' && (end === 'dropped' || end === 'refused'));
      const merge = { state: end, message: 'so', finished_at: toIso(NOW) };
      const refused = { outcome: state === 'queued' ? 'merge_not_begun' : 'merge_over' };
      expect(decision).toMatchObject(
        may
          ? {
              outcome: 'save',
              merge,
              keeps_landing: end === 'landed',
              events: [{ type: 'merge.finished', task_id: 'fg-a1b2', data: { merge } }],
            }
          : refused,
      );
    },
  );

  it('keeps what the end does not speak of', () => {
    const conflicts = [{ path: 'a', kind: 'content' }];
    const before = keptMerge({ candidate: 'cafe', message: 'was', conflicts });
    expect(decideMergeEnd(before, { state: 'landed' }, NOW)).toMatchObject({
      merge: { candidate: 'cafe', message: 'was', conflicts },
    });
  });
});

describe('decideQueue', () => {
  const wish = { id: 'm-1', target: 'main', strategy: 'merge', head_commit: 'c0ffee' } as const;
  it('takes an attempt with nothing but what was wished, and tells of it', () => {
    const merge = keptMerge({ state: 'queued', queued_at: toIso(NOW) });
    expect(decideQueue(keptAttempt(), undefined, { wish, now: NOW })).toEqual({
      outcome: 'save',
      merge,
      events: [{ type: 'merge.queued', task_id: 'fg-a1b2', data: { merge } }],
    });
  });

  it('takes an attempt once', () => {
    const merge = { id: 'm-0', state: 'queued' } as const;
    expect(decideQueue(keptAttempt(), merge, { wish, now: NOW })).toEqual({
      outcome: 'in_queue',
      task_id: 'fg-a1b2',
      attempt_id: 'a-1',
      merge,
    });
  });
});

describe('decideTurn, the whole table', () => {
  const queues = [
    { busy: false, first: 'm-1' },
    { busy: false, first: 'm-0' },
    { busy: false, first: undefined },
    { busy: true, first: 'm-1' },
  ];
  it.each(STATES.flatMap((state) => queues.map((queue) => ({ state, ...queue }))))(
    '$state, busy $busy, first $first',
    ({ state, busy, first }) => {
      const decision = decideTurn(keptMerge({ state }), { busy, first });
      const turn = busy || first !== 'm-1' ? 'waits' : 'save';
      expect(decision.outcome).toBe(state === 'queued' ? turn : state === 'started' ? 'begun' : 'merge_over');
      if (decision.outcome !== 'save') return;
      const merge = keptMerge({ state: 'started' });
      const events = [{ type: 'merge.started', task_id: 'fg-a1b2', data: { merge } }];
      expect(decision).toEqual({ outcome: 'save', merge, events });
    },
  );
});

describe('decideLandingStart', () => {
  const task = { id: 'fg-a1b2', state: 'merging', assignee: 'bob', archived: false, fence: 9 };
  it.each(STATES)('of one that is %s', (state) => {
    const outcome = state === 'started' ? 'lands' : state === 'queued' ? 'merge_not_begun' : 'merge_over';
    expect(decideLandingStart(keptMerge({ state }), 'merging', task).outcome).toBe(outcome);
  });

  it.each([
    ['a deleted task', undefined, 'deleted'],
    ['an archived task', { ...task, archived: true }, 'archived'],
    ['a task in another state', { ...task, state: 'done' }, 'moved'],
  ])('%s', (_, now, code) => {
    expect(decideLandingStart(keptMerge(), 'merging', now)).toMatchObject({
      outcome: 'lost',
      loss: { code },
    });
  });
});

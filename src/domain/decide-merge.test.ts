import { describe, expect, it } from 'vitest';
import { toIso } from '#kernel/clock.ts';
import { keptMerge } from '../../tests/support/kept-work.ts';
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
        may ? { outcome: 'save', merge, keeps_landing: end === 'landed' } : refused,
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

describe('turns and landings', () => {
  it.each(STATES)('%s', (state) => {
    const merge = keptMerge({ state });
    const outcome = state === 'queued' ? 'waits' : state === 'started' ? 'begun' : 'merge_over';
    expect(decideTurn(merge).outcome).toBe(outcome);
    const refusal = state === 'started' ? undefined : state === 'queued' ? 'merge_not_begun' : 'merge_over';
    expect(decideLandingStart(merge)?.outcome).toBe(refusal);
  });

  it('an attempt is in the queue once', () => {
    const attempt = { task_id: 'fg-a1b2', attempt_id: 'a-1' };
    expect(decideQueue(attempt, undefined)).toBeUndefined();
    const merge = { id: 'm-0', state: 'queued' } as const;
    expect(decideQueue(attempt, merge)).toEqual({ outcome: 'in_queue', ...attempt, merge });
  });
});

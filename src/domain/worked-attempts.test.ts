import { describe, expect, it } from 'vitest';
import { keptAttempt } from '../../tests/support/kept-work.ts';
import { findUnfinished, hasGivenUp, type WorkedAttempt } from './worked-attempts.ts';

const [EARLY, MIDDLE, LATE] = ['2026-01-01', '2026-01-02', '2026-01-03'];

function worked(more: Partial<WorkedAttempt> = {}): WorkedAttempt {
  return { ...keptAttempt(), roles: [], ...more };
}

describe('findUnfinished', () => {
  it.each([
    ['none where there is none', [], undefined],
    ['none where all are over', [worked({ state: 'merged' }), worked({ state: 'archived' })], undefined],
    [
      'the newest of several',
      [
        worked({ id: 'a-2', name: 'two', number: 2 }),
        worked({ id: 'a-3', name: 'three', number: 3 }),
        worked({ id: 'a-4', number: 4, state: 'archived' }),
        worked({ id: 'a-1', number: 1 }),
      ],
      { id: 'a-3', name: 'three' },
    ],
  ])('%s', (_, attempts, expected) => {
    expect(findUnfinished(attempts)).toEqual(expected);
  });
});

describe('hasGivenUp', () => {
  const given = worked({ state: 'archived', created_at: MIDDLE });
  const merged = (finished_at: string) => worked({ state: 'merged', created_at: EARLY, finished_at });
  it.each([
    ['none', [], false],
    ['one that is at work', [worked({ created_at: MIDDLE })], false],
    ['one that was given up', [given], true],
    ['one before a merge', [given, merged(LATE)], false],
    ['one that began as a merge ended', [given, merged(MIDDLE)], false],
    ['one after a merge', [merged(EARLY), given], true],
    ['one after the first of two merges', [merged(LATE), given, merged(EARLY)], false],
    ['one that holds only a plan', [{ ...given, roles: ['planner', 'planner'] }], false],
    ['one that was planned and worked on', [{ ...given, roles: ['planner', 'coder'] }], true],
    ['one beside another that holds only a plan', [{ ...given, roles: ['planner'] }, given], true],
  ])('%s', (_, attempts, expected) => {
    expect(hasGivenUp(attempts, ['planner'])).toBe(expected);
  });
});

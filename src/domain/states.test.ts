import { describe, expect, it } from 'vitest';
import { STATUSES } from '#contract/task.ts';
import { closedState, defaultState, isParkedState, kindOfState, STATE_FOR_STATUS } from './states.ts';

describe('the kind of a state', () => {
  it.each([
    ['backlog', 'backlog'],
    ['todo', 'initial'],
    ['planning', 'active'],
    ['in_progress', 'active'],
    ['review', 'gate'],
    ['merging', 'gate'],
    ['merge_failed', 'custom'],
    ['blocked', 'custom'],
    ['done', 'terminal'],
    ['cancelled', 'terminal'],
  ])('of %s is %s', (state, kind) => {
    expect(kindOfState(state)).toBe(kind);
  });

  it.each(['qa', '', '__proto__', 'constructor', 'toString', 'Backlog'])(
    'of %j, which nobody defined, is custom',
    (state) => {
      expect(kindOfState(state)).toBe('custom');
      expect(isParkedState(state)).toBe(false);
    },
  );

  it('says what is parked', () => {
    expect(isParkedState('backlog')).toBe(true);
    expect(isParkedState('todo')).toBe(false);
  });
});

describe('the state that a status means', () => {
  it('is there for every status and of a fitting kind', () => {
    const kinds = STATUSES.map((status) => kindOfState(STATE_FOR_STATUS[status]));
    expect(kinds).toEqual(['initial', 'active', 'terminal']);
    for (const status of STATUSES) expect(defaultState(status, null)).toBe(STATE_FOR_STATUS[status]);
  });

  it('does not look at the reason of a task that is not closed', () => {
    expect(defaultState('open', 'cancelled')).toBe('todo');
    expect(defaultState('in_progress', 'cancelled')).toBe('in_progress');
    expect(defaultState('closed', 'cancelled')).toBe('cancelled');
  });
});

describe('where a close ends', () => {
  it.each([
    'cancelled',
    'Cancelled: not needed',
    'duplicate of fg-b2c1',
    'DUPLICATE',
    'wontfix',
    'wontfix, see fg-b2c1',
  ])('%j is a cancellation', (reason) => {
    expect(closedState(reason)).toBe('cancelled');
  });

  it.each(['done', '', 'Implemented in 3a9f1c2', 'removed the duplicate', ' cancelled', 'cancel'])(
    '%j is done',
    (reason) => {
      expect(closedState(reason)).toBe('done');
    },
  );
});

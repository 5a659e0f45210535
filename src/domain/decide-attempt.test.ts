import { describe, expect, it } from 'vitest';
import { toIso } from '#kernel/clock.ts';
import { keptApproval, keptAttempt } from '../../tests/support/kept-work.ts';
import { decideAnswer } from './decide-approval.ts';
import { decideAttemptChange, decideAttemptStart } from './decide-attempt.ts';

const NOW = Date.UTC(2026, 1, 10, 9);

describe('decideAttemptStart', () => {
  it.each([
    ['open', 'todo', undefined],
    ['in_progress', 'in_progress', undefined],
    ['closed', 'done', 'task_closed'],
  ] as const)('%s: %s', (status, state, outcome) => {
    expect(decideAttemptStart({ id: 'fg-a1b2', status, state })?.outcome).toBe(outcome);
  });
});

describe('decideAttemptChange', () => {
  it.each([
    ['nothing', {}, {}, { outcome: 'unchanged' }],
    ['what it is already', {}, { agent: 'bot', port: undefined }, { outcome: 'unchanged' }],
    ['its head', {}, { head_commit: 'beef' }, { outcome: 'save', events: [], takes_port: false }],
    ['another branch', {}, { strayed: 'main' }, { events: ['attempt.strayed'] }],
    ['back again', { strayed: 'main' }, { strayed: null }, { events: ['attempt.returned'] }],
    [
      'merged',
      {},
      { state: 'merged', merge_commit: 'beef' },
      { events: ['attempt.finished'], attempt: { finished_at: toIso(NOW) } },
    ],
    ['merged into nothing', {}, { state: 'merged' }, { outcome: 'nothing_merged' }],
    [
      'archived while it strayed',
      { strayed: 'main' },
      { state: 'archived' },
      { events: ['attempt.finished'], attempt: { strayed: null } },
    ],
    ['removed', {}, { removed_at: toIso(NOW) }, { events: ['attempt.removed'], takes_port: false }],
    [
      'archived and removed',
      {},
      { state: 'archived', removed_at: toIso(NOW) },
      { events: ['attempt.finished', 'attempt.removed'] },
    ],
    ['another port', {}, { port: 4200 }, { takes_port: true }],
    [
      'there again',
      { removed_at: toIso(1), state: 'archived', finished_at: toIso(1) },
      { removed_at: null },
      { takes_port: true, events: [] },
    ],
    [
      'active again',
      { state: 'archived', finished_at: toIso(1) },
      { state: 'active' },
      { attempt: { finished_at: null }, events: [] },
    ],
  ] as const)('%s', (_, before, wished, expected) => {
    expect(decideAttemptChange(keptAttempt(before), wished, NOW)).toMatchObject(expected);
  });
});

describe('decideAnswer', () => {
  it.each(['pending', 'allowed', 'denied', 'expired'] as const)('of one that is %s', (state) => {
    const before = keptApproval({ state });
    const saved = keptApproval({ state: 'allowed', answered_at: toIso(NOW), answered_by: 'user:ann' });
    expect(decideAnswer(before, { state: 'allowed' }, { by: 'user:ann', now: NOW })).toEqual(
      state === 'pending' ? { outcome: 'save', approval: saved } : { outcome: 'answered', approval: before },
    );
  });
});

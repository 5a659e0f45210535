import { describe, expect, it } from 'vitest';
import { deciding, NOW, seenTask } from '../../tests/support/seen-task.ts';
import { decideRelease } from './decide-release.ts';

describe('decideRelease, the whole table', () => {
  const STATES = [
    'backlog',
    'todo',
    'in_progress',
    'review',
    'merging',
    'blocked',
    'done',
    'cancelled',
  ] as const;
  const OPEN = ['backlog', 'todo', 'done', 'cancelled'];
  const GATES = ['review', 'merging'];
  const all = STATES.flatMap((state) =>
    ['me', 'ann', null].flatMap((owner) =>
      [true, false].flatMap((force) => [undefined, 2].map((fence) => ({ state, owner, force, fence }))),
    ),
  );

  it('has 96 rows', () => {
    expect(all).toHaveLength(96);
  });

  it.each(all)('$state of $owner, force $force, fence $fence', ({ state, owner, force, fence }) => {
    const task = seenTask({ state, owner });
    const decision = decideRelease(task, { owner: 'me', force, fence, reason: 'tired' }, deciding());
    const outcome = OPEN.includes(state)
      ? 'not_claimed'
      : fence === 2
        ? 'other_claim'
        : owner !== 'me' && !force
          ? 'not_the_owner'
          : GATES.includes(state) && !force
            ? 'in_gate'
            : 'save';
    expect(decision.outcome).toBe(outcome);
    if (decision.outcome !== 'save') return;
    expect(decision.after.life).toMatchObject({
      status: 'open',
      state: 'todo',
      assignee: null,
      written: NOW,
    });
    expect(decision.happening).toEqual({
      type: 'task.released',
      changed: ['status', 'state', 'assignee'],
      reason: 'tired',
      forced: owner !== 'me',
    });
  });

  it.each([
    ['by force and without a reason says so', 'ann', true, null, 'forced'],
    ['by force has the reason that was given', 'ann', true, 'gone', 'gone'],
    ['of the own, with --force, was not forced', 'me', true, null, null],
    ['of the own has no reason', 'me', false, null, null],
  ] as const)('%s in the log', (_, owner, force, reason, logged) => {
    const task = seenTask({ state: 'in_progress', owner });
    const decision = decideRelease(task, { owner: 'me', force, reason }, deciding());
    expect(decision.outcome === 'save' && decision.happening.reason).toBe(logged);
  });
});

import { describe, expect, it } from 'vitest';
import { deciding, seenTask } from '../../tests/support/seen-task.ts';
import { decideClose, decideReopen, decideReopening } from './decide-close.ts';

const ATTEMPT = { id: 'a-1', name: 'a1b2-one' };

describe('decideClose, the whole table', () => {
  const STATES = ['backlog', 'todo', 'in_progress', 'review', 'blocked', 'done', 'cancelled'] as const;
  const all = STATES.flatMap((state) =>
    [undefined, ATTEMPT].flatMap((unfinished) =>
      [undefined, true].flatMap((force) =>
        [undefined, 6].map((version) => ({ state, unfinished, force, version })),
      ),
    ),
  );

  it('has 56 rows', () => {
    expect(all).toHaveLength(56);
  });

  it.each(all)('$state, attempt $unfinished.id, force $force, version $version', (row) => {
    const { state, unfinished, force, version } = row;
    const task = seenTask({ state, owner: 'me' });
    const decision = decideClose(task, { reason: 'done', unfinished, force, version }, deciding());
    const isClosed = state === 'done' || state === 'cancelled';
    const isLeft = !isClosed && unfinished !== undefined;
    // A task that is closed stays as it is, to the record.
    const life = isClosed ? task.record.life : { status: 'closed', state: 'done', close_reason: 'done' };
    const saved = {
      outcome: 'save',
      after: { life },
      happening: { forced: force === true, more: isLeft ? { forced: true, attempt_id: 'a-1' } : {} },
    };
    const expected =
      version === 6
        ? { outcome: 'other_version', asked: 6 }
        : isLeft && force !== true
          ? { outcome: 'unfinished', attempt: ATTEMPT }
          : saved;
    expect(decision).toMatchObject(expected);
    expect(decision.outcome === 'save' && decision.after === task.record).toBe(isClosed && version !== 6);
  });

  it.each([
    ['done', 'done'],
    ['cancelled: not wanted', 'cancelled'],
    ['duplicate of fg-1', 'cancelled'],
    ['wontfix', 'cancelled'],
  ])('because of "%s" leads to %s', (reason, state) => {
    const decision = decideClose(seenTask(), { reason, unfinished: undefined }, deciding());
    expect(decision.outcome === 'save' && decision.after.life.state).toBe(state);
  });
});

describe('decideReopen', () => {
  const reopen = { reason: 'again', closed_from: undefined };

  it.each(['todo', 'in_progress', 'review', 'backlog'])('refuses a task in %s', (state) => {
    expect(decideReopen(seenTask({ state, owner: 'me' }), reopen, deciding()).outcome).toBe('not_closed');
  });

  it.each(['done', 'cancelled'])(
    'brings one that is %s back to the first state, without an owner',
    (state) => {
      const decision = decideReopen(seenTask({ state, owner: 'me' }), reopen, deciding());
      if (decision.outcome !== 'save') throw new Error(decision.outcome);
      expect(decision.after.life).toMatchObject({ status: 'open', state: 'todo', assignee: null });
      expect(decision.happening).toMatchObject({ type: 'task.reopened', reason: 'again' });
    },
  );

  it('says that the task changed before it says that it is not closed', () => {
    const open = seenTask({ state: 'todo' });
    expect(decideReopen(open, { ...reopen, version: 6 }, deciding()).outcome).toBe('other_version');
    expect(decideReopen(open, reopen, deciding()).outcome).toBe('not_closed');
  });

  it.each([
    ['agent', 'backlog', true],
    ['agent', 'todo', false],
    ['agent', 'in_progress', false],
    ['agent', undefined, false],
    ['user', 'backlog', false],
    ['system', 'backlog', false],
  ] as const)('an %s, of what was closed in %s: kept %s', (who, closed_from, isKept) => {
    const kept = isKept ? { outcome: 'kept_parked_in', state: 'backlog' } : undefined;
    expect(decideReopening({ closed_from }, deciding(who))).toEqual(kept);
    const outcome = decideReopen(
      seenTask({ state: 'done' }),
      { ...reopen, closed_from },
      deciding(who),
    ).outcome;
    expect(outcome).toBe(isKept ? 'kept_parked_in' : 'save');
  });
});

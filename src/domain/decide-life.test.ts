import { describe, expect, it } from 'vitest';
import type { Status } from '#contract/task.ts';
import { toIso } from '#kernel/clock.ts';
import { findIllegality, requestRecord } from '../../tests/support/record-steps.ts';
import { decideLife, type LifeDecision, type LifeRequest } from './decide-life.ts';
import { newRecord } from './task-changes.ts';
import type { Life, TaskRecord } from './task-record.ts';

const NOW = Date.UTC(2026, 1, 10, 9);
const ME = { kind: 'user', name: 'me' } as const;

describe('decideLife', () => {
  const open = (assignee: string | null = null, state = 'todo'): Life => life('open', state, assignee);
  const inProgress = (assignee = 'ann', state = 'in_progress'): Life => life('in_progress', state, assignee);
  const closed = (assignee: string | null = 'ann'): Life => life('closed', 'done', assignee);

  it.each<[string, Life, Partial<LifeRequest>, LifeDecision]>([
    ['nothing asked', open(), {}, { outcome: 'keep' }],
    [
      'start a free task: the asker owns it',
      open(),
      { status: 'in_progress' },
      claim('me', { named: false }),
    ],
    [
      'start a task reserved for somebody: that one owns it',
      open('ann'),
      { status: 'in_progress' },
      claim('ann', { named: false }),
    ],
    ['claim a free task', open(), { status: 'in_progress', assignee: 'bob' }, claim('bob')],
    [
      'claim a task reserved for oneself',
      open('bob'),
      { status: 'in_progress', assignee: 'bob' },
      claim('bob'),
    ],
    [
      'claim a task reserved for another',
      open('ann'),
      { status: 'in_progress', assignee: 'bob' },
      claim('bob'),
    ],
    [
      'claim a task another works on',
      inProgress('ann'),
      { status: 'in_progress', assignee: 'bob' },
      claim('bob'),
    ],
    ['claim a closed task', closed(), { status: 'in_progress', assignee: 'bob' }, claim('bob')],
    ['start a closed task', closed(), { status: 'in_progress' }, claim('ann', { named: false })],
    ['claim a parked task', open(null, 'backlog'), { status: 'in_progress', assignee: 'bob' }, claim('bob')],
    ['claim a task one has', inProgress('bob'), { status: 'in_progress', assignee: 'bob' }, claim('bob')],
    [
      'claim a task one has in review',
      inProgress('bob', 'review'),
      { status: 'in_progress', assignee: 'bob' },
      claim('bob'),
    ],
    ['start what is started', inProgress('ann'), { status: 'in_progress' }, { outcome: 'keep' }],
    ['hand over', inProgress('ann'), { assignee: 'bob' }, claim('bob', { way: 'hand_over' })],
    ['hand over to the owner', inProgress('ann'), { assignee: 'ann' }, { outcome: 'keep' }],
    ['take the owner away: a release', inProgress('ann'), { assignee: null }, move('open', 'todo', null)],
    ['back to open: a release', inProgress('ann'), { status: 'open' }, move('open', 'todo', null)],
    [
      'back to open for somebody',
      inProgress('ann'),
      { status: 'open', assignee: 'bob' },
      move('open', 'todo', 'bob'),
    ],
    [
      'back to the backlog',
      inProgress('ann'),
      { status: 'open', state: 'backlog' },
      move('open', 'backlog', null),
    ],
    ['reserve', open(), { assignee: 'bob' }, move('open', 'todo', 'bob')],
    ['reserve a parked task', open(null, 'backlog'), { assignee: 'bob' }, move('open', 'backlog', 'bob')],
    ['park', open('ann'), { state: 'backlog' }, move('open', 'backlog', 'ann')],
    ['unpark', open(null, 'backlog'), { state: 'todo' }, move('open', 'todo', null)],
    ['park and free', open('ann'), { state: 'backlog', assignee: null }, move('open', 'backlog', null)],
    ['open what is open', open('ann', 'backlog'), { status: 'open' }, move('open', 'backlog', 'ann')],
    ['close', inProgress('ann'), { status: 'closed' }, { outcome: 'close', reason: 'done', assignee: 'ann' }],
    [
      'close with a reason',
      open(),
      { status: 'closed', reason: 'wontfix' },
      { outcome: 'close', reason: 'wontfix', assignee: null },
    ],
    [
      'close and say who did it',
      open(),
      { status: 'closed', assignee: 'bob' },
      { outcome: 'close', reason: 'done', assignee: 'bob' },
    ],
    [
      'close a parked task',
      open(null, 'backlog'),
      { status: 'closed' },
      { outcome: 'close', reason: 'done', assignee: null },
    ],
    ['close what is closed', closed(), { status: 'closed', reason: 'again' }, { outcome: 'keep' }],
    ['reopen', closed('ann'), { status: 'open' }, { outcome: 'reopen', assignee: null, state: 'todo' }],
    [
      'reopen for somebody',
      closed('ann'),
      { status: 'open', assignee: 'bob' },
      { outcome: 'reopen', assignee: 'bob', state: 'todo' },
    ],
    [
      'reopen and park',
      closed('ann'),
      { status: 'open', state: 'backlog' },
      { outcome: 'reopen', assignee: null, state: 'backlog' },
    ],
    ['say who closed it', closed('ann'), { assignee: 'bob' }, move('closed', 'done', 'bob')],
  ])('%s', (_name, before, request, decision) => {
    expect(decideLife(before, { actor: ME, ...request })).toEqual(decision);
  });

  it.each<[string, Life, Partial<LifeRequest>, string]>([
    ['start without an owner', open(), { status: 'in_progress', assignee: null }, 'owner'],
    ['park a closed task', closed(), { state: 'backlog' }, 'reopen'],
    ['park a task in progress', inProgress(), { state: 'backlog' }, 'release'],
    ['park and start', open(), { status: 'in_progress', state: 'backlog' }, 'state'],
    ['park and close', open(), { status: 'closed', state: 'backlog' }, 'state'],
  ])('refuses to %s, and says what to do next', (_name, before, request, next) => {
    const decision = decideLife(before, { actor: ME, ...request });
    expect(decision).toEqual({
      outcome: 'refused',
      why: expect.stringMatching(/^(it is|a task) /) as string,
      next,
    });
  });

  it.each<[Partial<LifeRequest>]>([[{ state: 'todo' }], [{ status: 'open', state: 'todo' }]])(
    '[S398] puts a parked task into the queue for a person and for Forge, not for an agent: %j',
    (request) => {
      const parked = open('ann', 'backlog');
      for (const kind of ['user', 'system'] as const)
        expect(decideLife(parked, { actor: { kind, name: 'me' }, ...request })).toEqual(
          move('open', 'todo', 'ann'),
        );
      const agent = { kind: 'agent', name: 'ann' } as const;
      expect(decideLife(parked, { actor: agent, ...request })).toEqual({ outcome: 'kept_parked' });
      // It may park one, and reserve or close one that is parked.
      expect(decideLife(open(), { actor: agent, state: 'backlog' }).outcome).toBe('move');
      expect(decideLife(parked, { actor: agent, assignee: 'bob' }).outcome).toBe('move');
      expect(decideLife(parked, { actor: agent, status: 'closed' }).outcome).toBe('close');
    },
  );
});

describe('every combination of status, state and owner with every request', () => {
  const lives: Life[] = [
    ...['todo', 'backlog', 'qa'].flatMap((state) =>
      [null, 'ann', 'bob'].map((owner) => life('open', state, owner)),
    ),
    ...['in_progress', 'planning', 'review', 'merging', 'merge_failed', 'blocked', 'qa'].flatMap((state) =>
      ['ann', 'bob'].map((owner) => life('in_progress', state, owner)),
    ),
    ...['done', 'cancelled'].flatMap((state) =>
      [null, 'ann', 'bob'].map((owner) => life('closed', state, owner)),
    ),
  ];
  const requests: LifeRequest[] = ([undefined, 'open', 'in_progress', 'closed'] as const).flatMap((status) =>
    ([undefined, 'todo', 'backlog'] as const).flatMap((state) =>
      [undefined, null, 'ann', 'bob', 'cy'].flatMap((assignee) =>
        [undefined, 'wontfix'].flatMap((reason) =>
          ['ann', 'me'].map((name) => ({
            status,
            state,
            assignee,
            reason,
            actor: { kind: 'user', name } as const,
          })),
        ),
      ),
    ),
  );
  const cases = lives.flatMap((before) => requests.map((request) => ({ before, request })));

  it('is many', () => {
    expect(cases).toHaveLength(29 * 240);
  });

  it('starts legal and stays legal', () => {
    const illegal = cases.filter(({ before, request }) => {
      const record = withLife(before);
      return findIllegality(record) !== undefined || findIllegality(after(before, request)) !== undefined;
    });
    expect(illegal).toEqual([]);
  });

  it('changes nothing when it is refused or kept', () => {
    const still = cases.filter(({ before, request }) =>
      ['refused', 'keep'].includes(decideLife(before, request).outcome),
    );
    expect(still.length).toBeGreaterThan(1_000);
    expect(still.filter(({ before, request }) => after(before, request).life !== before)).toEqual([]);
  });

  it('reaches what was asked, unless it is refused or a claim that is', () => {
    const missed = cases.filter(({ before, request }) => {
      const { outcome } = decideLife(before, request);
      const { life: reached } = after(before, request);
      if (outcome === 'refused' || (outcome === 'claim' && reached === before)) return false;
      // A task that is closed already stays as it was closed, whatever is asked with it.
      if (before.status === 'closed' && request.status === 'closed') return false;
      return (
        (request.status !== undefined && reached.status !== request.status) ||
        (request.state !== undefined && reached.state !== request.state) ||
        (request.assignee !== undefined && reached.assignee !== request.assignee) ||
        (request.reason !== undefined &&
          request.status === 'closed' &&
          reached.close_reason !== request.reason)
      );
    });
    expect(missed).toEqual([]);
  });

  it('never takes a task from its owner by a claim', () => {
    const claims = cases.filter(
      ({ before, request }) => before.status === 'in_progress' && request.status === 'in_progress',
    );
    expect(claims.length).toBeGreaterThan(500);
    expect(
      claims.filter(({ before, request }) => after(before, request).life.assignee !== before.assignee),
    ).toEqual([]);
  });

  function after(before: Life, request: LifeRequest): TaskRecord {
    return requestRecord(withLife(before), request, NOW);
  }
});

function life(status: Status, state: string, assignee: string | null): Life {
  const closing =
    status === 'closed'
      ? { close_reason: state, closed_at: toIso(NOW) }
      : { close_reason: null, closed_at: null };
  return { status, state, assignee, ...closing, n: 3, began: NOW, written: NOW };
}

function claim(
  assignee: string,
  { way = 'claim', named = true }: { way?: 'claim' | 'hand_over'; named?: boolean } = {},
): LifeDecision {
  return { outcome: 'claim', way, assignee, named };
}

function move(status: Status, state: string, assignee: string | null): LifeDecision {
  return { outcome: 'move', to: { status, state, assignee } };
}

function withLife(before: Life): TaskRecord {
  const task = {
    id: 'fg-a3f8',
    created_by: 'ann',
    fields: {},
    assignee: null,
    state: 'todo',
    labels: [],
    dependencies: [],
  };
  return { ...newRecord({ ...task, metadata: new Map() }, NOW), life: before };
}

import { describe, expect, it } from 'vitest';
import type { Status } from '#contract/task.ts';
import { toIso } from '#kernel/clock.ts';
import { findIllegality } from '../../tests/support/record-steps.ts';
import { applyLife } from './apply-life.ts';
import {
  decideClaim,
  decideLife,
  type ClaimDecision,
  type LifeDecision,
  type LifeRequest,
} from './decide-life.ts';
import { newRecord } from './task-changes.ts';
import type { Life, TaskRecord } from './task-record.ts';

const NOW = Date.UTC(2026, 1, 10, 9);

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
      { outcome: 'claim', assignee: 'me' },
    ],
    [
      'start a task reserved for somebody: that one owns it',
      open('ann'),
      { status: 'in_progress' },
      { outcome: 'claim', assignee: 'ann' },
    ],
    [
      'claim a free task',
      open(),
      { status: 'in_progress', assignee: 'bob' },
      { outcome: 'claim', assignee: 'bob', claimed: true },
    ],
    [
      'claim a task reserved for oneself',
      open('bob'),
      { status: 'in_progress', assignee: 'bob' },
      { outcome: 'claim', assignee: 'bob', claimed: true },
    ],
    [
      'claim a task reserved for another',
      open('ann'),
      { status: 'in_progress', assignee: 'bob' },
      { outcome: 'lost' },
    ],
    [
      'claim a task another works on',
      inProgress('ann'),
      { status: 'in_progress', assignee: 'bob' },
      { outcome: 'lost' },
    ],
    ['claim a closed task', closed(), { status: 'in_progress', assignee: 'bob' }, { outcome: 'lost' }],
    [
      'claim a task one has',
      inProgress('bob'),
      { status: 'in_progress', assignee: 'bob' },
      { outcome: 'keep', claimed: true },
    ],
    [
      'claim a task one has in review',
      inProgress('bob', 'review'),
      { status: 'in_progress', assignee: 'bob' },
      { outcome: 'keep', claimed: true },
    ],
    ['start what is started', inProgress('ann'), { status: 'in_progress' }, { outcome: 'keep' }],
    ['hand over', inProgress('ann'), { assignee: 'bob' }, { outcome: 'claim', assignee: 'bob' }],
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
    expect(decideLife(before, { actor: 'me', ...request })).toEqual(decision);
  });

  it.each<[string, Life, Partial<LifeRequest>, string]>([
    ['start without an owner', open(), { status: 'in_progress', assignee: null }, 'owner'],
    ['start a closed task', closed(), { status: 'in_progress' }, 'reopen'],
    ['start a parked task', open(null, 'backlog'), { status: 'in_progress' }, 'unpark'],
    ['claim a parked task', open(null, 'backlog'), { status: 'in_progress', assignee: 'bob' }, 'unpark'],
    ['park a closed task', closed(), { state: 'backlog' }, 'reopen'],
    ['park a task in progress', inProgress(), { state: 'backlog' }, 'release'],
    ['park and start', open(), { status: 'in_progress', state: 'backlog' }, 'state'],
    ['park and close', open(), { status: 'closed', state: 'backlog' }, 'state'],
  ])('refuses to %s, and says what to do next', (_name, before, request, next) => {
    const decision = decideLife(before, { actor: 'me', ...request });
    expect(decision).toEqual({
      outcome: 'refused',
      why: expect.stringMatching(/^(it is|a task) /) as string,
      next,
    });
  });
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
          ['ann', 'me'].map((actor) => ({ status, state, assignee, reason, actor })),
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

  it('changes nothing when it is lost, refused or kept', () => {
    const still = cases.filter(({ before, request }) =>
      ['lost', 'refused', 'keep'].includes(decideLife(before, request).outcome),
    );
    expect(still.length).toBeGreaterThan(1_000);
    expect(still.filter(({ before, request }) => after(before, request).life !== before)).toEqual([]);
  });

  it('reaches what was asked, unless it is lost or refused', () => {
    const missed = cases.filter(({ before, request }) => {
      const { outcome } = decideLife(before, request);
      if (outcome === 'lost' || outcome === 'refused') return false;
      // A task that is closed already stays as it was closed, whatever is asked with it.
      if (before.status === 'closed' && request.status === 'closed') return false;
      const { life: reached } = after(before, request);
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

  it('is lost only by a claim that names its owner, and only to another owner or to a closing', () => {
    const lost = cases.filter(({ before, request }) => decideLife(before, request).outcome === 'lost');
    expect(lost.length).toBeGreaterThan(100);
    const wrong = lost.filter(({ before, request }) => {
      const claim = request.status === 'in_progress' && typeof request.assignee === 'string';
      return (
        !claim || (before.status !== 'closed' && (before.assignee ?? request.assignee) === request.assignee)
      );
    });
    expect(wrong).toEqual([]);
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

  it('tells a claim that succeeded, and only that', () => {
    const wrong = cases.filter(({ before, request }) => {
      const decision = decideLife(before, request);
      const told = 'claimed' in decision && decision.claimed === true;
      const { status, assignee } = after(before, request).life;
      const asked = request.status === 'in_progress' && typeof request.assignee === 'string';
      const owned = status === 'in_progress' && assignee === request.assignee;
      return told !== (asked && owned && decision.outcome !== 'refused');
    });
    expect(wrong).toEqual([]);
  });

  function after(before: Life, request: LifeRequest): TaskRecord {
    return applyLife(withLife(before), decideLife(before, request), NOW);
  }
});

describe('decideClaim, the whole table', () => {
  // status, owner, parked, blocked, force → outcome; * is any.
  const TABLE = `
    closed       *       *        *        *      closed
    in_progress  me      *        *        *      mine
    in_progress  other   *        *        -      taken
    in_progress  other   *        *        force  claim
    in_progress  nobody  parked   *        -      parked
    in_progress  nobody  -        blocked  -      blocked
    in_progress  nobody  -        -        -      claim
    in_progress  nobody  *        *        force  claim
    open         other   *        *        -      taken
    open         nobody  parked   *        -      parked
    open         me      parked   *        -      parked
    open         nobody  -        blocked  -      blocked
    open         me      -        blocked  -      blocked
    open         nobody  -        -        -      claim
    open         me      -        -        -      claim
    open         *       *        *        force  claim
  `;
  const rows = TABLE.trim()
    .split('\n')
    .map((line) => line.trim().split(/\s+/));
  const combinations = (['open', 'in_progress', 'closed'] as const).flatMap((status) =>
    ['nobody', 'me', 'other'].flatMap((owner) =>
      ['parked', '-'].flatMap((parked) =>
        ['blocked', '-'].flatMap((blocked) =>
          ['force', '-'].map((force) => [status, owner, parked, blocked, force] as const),
        ),
      ),
    ),
  );

  it('has 72 rows', () => {
    expect(combinations).toHaveLength(72);
  });

  it.each(combinations)('%s, owner %s, %s, %s, %s', (status, owner, parked, blocked, force) => {
    const given = [status, owner, parked, blocked, force];
    const matching = rows.filter((row) => given.every((value, i) => row[i] === '*' || row[i] === value));
    expect(matching).toHaveLength(1);
    const before = life(status, parked === 'parked' ? 'backlog' : 'todo', owner === 'nobody' ? null : owner);
    const decision = decideClaim(before, {
      assignee: 'me',
      open_blockers: blocked === 'blocked' ? 2 : 0,
      force: force === 'force',
    });
    const outcome = matching[0]?.[5] as ClaimDecision['outcome'];
    expect(decision).toEqual(outcome === 'taken' ? { outcome, owner: 'other' } : { outcome });
  });
});

function life(status: Status, state: string, assignee: string | null): Life {
  const closing =
    status === 'closed'
      ? { close_reason: state, closed_at: toIso(NOW) }
      : { close_reason: null, closed_at: null };
  return { status, state, assignee, ...closing, n: 3, began: NOW, written: NOW };
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

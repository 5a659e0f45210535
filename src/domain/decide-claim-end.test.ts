import { describe, expect, it } from 'vitest';
import { NOW, seenTask } from '../../tests/support/seen-task.ts';
import { decideClaimEnd, type ClaimEndDecision } from './decide-claim-end.ts';
import { claimRecord, closeRecord, editRecord, moveRecord, reopenRecord } from './task-changes.ts';
import type { TaskRecord } from './task-record.ts';
import { DEFAULT_RESOLVED } from './workflow.ts';
import { roleField } from './workflow-fields.ts';

/** Nina's task, and every write that ends her claim of it or leaves it. */
const OWNER = 'nina';

type Write = (before: TaskRecord) => TaskRecord | undefined;

const to =
  (state: string, status: 'open' | 'in_progress', assignee: string | null = null): Write =>
  (before) =>
    moveRecord(before, { status, state, assignee }, NOW);
const edit =
  (name: string, value: string): Write =>
  (before) =>
    editRecord(before, { fields: new Map([[name, value]]) }, NOW);

/** Writes that end it or take it, and the command that an agent is told of. */
const ENDING: readonly (readonly [name: string, write: Write, next: string])[] = [
  ['release, --status open, a move to todo', to('todo', 'open'), 'release'],
  ['a move to backlog', to('backlog', 'open'), 'release'],
  ['back to the queue, reserved for another', to('todo', 'open', 'worker-2'), 'claim'],
  ['close', (before) => closeRecord(before, 'done', NOW, 'done'), 'close'],
  ['cancel', (before) => closeRecord(before, 'cancelled', NOW, 'cancelled'), 'close'],
  ['claim --force', (before) => claimRecord(before, 'worker-8', NOW, 'in_progress'), 'claim'],
  ['a hand-over', (before) => claimRecord(before, 'worker-2', NOW, before.life.state), 'claim'],
  ['archive', edit('archived_at', '2026-02-10T09:00:00.000Z'), 'release'],
  ['delete', () => undefined, 'release'],
];

const LEAVING: readonly (readonly [name: string, write: Write])[] = [
  ['another title', edit('title', 'Two')],
  ['a move to review', to('review', 'in_progress', OWNER)],
  ['a move to blocked', to('blocked', 'in_progress', OWNER)],
  ['nothing', (before) => before],
];

type Who = 'owner' | 'person' | 'agent' | 'system';
const WHO: Readonly<Record<Who, { kind: 'user' | 'agent' | 'system'; name: string }>> = {
  owner: { kind: 'agent', name: OWNER },
  person: { kind: 'user', name: 'ann' },
  agent: { kind: 'agent', name: 'worker-8' },
  system: { kind: 'system', name: '' },
};
const EVERYBODY = Object.keys(WHO) as Who[]; // the keys that are written above

interface Asked {
  readonly who: Who;
  readonly forced?: boolean;
  readonly claimed?: boolean;
}

function decide(
  before: TaskRecord,
  write: Write,
  { who, forced = false, claimed = false }: Asked,
): ClaimEndDecision {
  const facts = { actor: WHO[who], before, after: write(before), forced, claimed };
  return decideClaimEnd(facts, DEFAULT_RESOLVED);
}

function taskIn(state: string, owner: string | null = OWNER): TaskRecord {
  return seenTask({ state, owner }).record;
}

/** By hand, not by the code that is tested. */
function expectedEnd({ who, forced, claimed }: Asked, next: string): object {
  if (who === 'owner' || who === 'system') return { outcome: 'none' };
  if (who === 'person' || forced === true || claimed === true) return { outcome: 'ends', owner: OWNER };
  return { outcome: 'not_the_owner', owner: 'worker-8', next };
}

const ASKED: readonly Asked[] = EVERYBODY.flatMap((who) =>
  [false, true].flatMap((forced) => [false, true].map((claimed) => ({ who, forced, claimed }))),
);

describe('decideClaimEnd of a task that nina works on', () => {
  const all = ENDING.flatMap(([name, write, next]) =>
    ASKED.map((asked) => ({ name, write, next, ...asked })),
  );

  it.each(all)('$name by $who, force $forced, claimed $claimed', ({ write, next, ...asked }) => {
    for (const state of ['in_progress', 'planning', 'blocked', 'merge_failed'])
      expect(decide(taskIn(state), write, asked)).toEqual(expectedEnd(asked, next));
  });

  it.each(LEAVING.flatMap(([name, write]) => ASKED.map((asked) => ({ name, write, ...asked }))))(
    '$name by $who, force $forced, claimed $claimed ends nothing',
    ({ write, ...asked }) => {
      expect(decide(taskIn('in_progress'), write, asked)).toEqual({ outcome: 'none' });
    },
  );
});

describe('decideClaimEnd of a task that is reserved for nina', () => {
  const RESERVED: readonly (readonly [string, Write, string])[] = [
    ['reserved for another', to('todo', 'open', 'worker-8'), 'claim'],
    ['reserved for no agent', to('todo', 'open'), 'claim'],
    ['claimed by force', (before) => claimRecord(before, 'worker-8', NOW, 'in_progress'), 'claim'],
    ['closed', (before) => closeRecord(before, 'done', NOW, 'done'), 'close'],
    ['deleted', () => undefined, 'claim'],
  ];

  it.each(RESERVED.flatMap(([name, write, next]) => ASKED.map((asked) => ({ name, write, next, ...asked }))))(
    '$name by $who, force $forced, claimed $claimed',
    ({ write, next, ...asked }) => {
      expect(decide(taskIn('todo'), write, asked)).toEqual(expectedEnd(asked, next));
    },
  );

  it.each(EVERYBODY)('parked by %s it stays hers', (who) => {
    expect(decide(taskIn('todo'), to('backlog', 'open', OWNER), { who })).toEqual({ outcome: 'none' });
  });
});

describe('decideClaimEnd of what waits in a gate', () => {
  const given = (role: string, agent: string, before: TaskRecord): TaskRecord =>
    editRecord(before, { fields: new Map([[roleField(role), { agent }]]) }, NOW);
  const close: Write = (before) => closeRecord(before, 'done', NOW, 'done');
  const back: Write = (before) => claimRecord(before, 'worker-2', NOW, 'in_progress');

  it.each(EVERYBODY)('%s follows an edge of the gate: it is what the gate says', (who) => {
    expect(decide(taskIn('review'), back, { who })).toEqual({ outcome: 'none' });
    expect(decide(taskIn('merging'), close, { who })).toEqual({ outcome: 'none' });
  });

  it.each([
    ['closes it, who holds the role of the gate', 'worker-8', close, 'none'],
    ['closes it, where another holds the role', 'worker-3', close, 'not_the_owner'],
    ['archives it, who holds the role', 'worker-8', edit('archived_at', 'now'), 'not_the_owner'],
    ['deletes it, who holds the role', 'worker-8', () => undefined, 'not_the_owner'],
    [
      'gives it back to the queue, where another holds the role',
      'worker-3',
      to('todo', 'open'),
      'not_the_owner',
    ],
    [
      'takes it over, who holds the role',
      'worker-8',
      to('review', 'in_progress', 'worker-8'),
      'not_the_owner',
    ],
  ] as const)('an agent %s', (_, holder, write, outcome) => {
    const before = given('reviewer', holder, taskIn('review'));
    expect(decide(before, write, { who: 'agent' }).outcome).toBe(outcome);
  });

  it('an agent closes it where the role has no holder: not unless it is its own', () => {
    expect(decide(taskIn('review'), close, { who: 'agent' }).outcome).toBe('not_the_owner');
    expect(decide(taskIn('review', 'worker-8'), close, { who: 'agent' }).outcome).toBe('none');
  });
});

describe('decideClaimEnd of a task without an owner', () => {
  it.each(ENDING.flatMap(([name, write]) => EVERYBODY.map((who) => ({ name, write, who }))))(
    '$name by $who',
    ({ write, who }) => {
      expect(decide(taskIn('todo', null), write, { who })).toEqual({ outcome: 'none' });
    },
  );

  it.each(EVERYBODY)('a closed task, by %s: the name on it says who did the work', (who) => {
    const reopened: Write = (before) => reopenRecord(before, null, NOW, 'todo');
    for (const write of [reopened, edit('archived_at', 'now'), () => undefined])
      expect(decide(taskIn('done'), write, { who })).toEqual({ outcome: 'none' });
  });
});

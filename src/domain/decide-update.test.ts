import { describe, expect, it } from 'vitest';
import { LIMITS } from '#kernel/limits.ts';
import { plainClaim } from '../../tests/support/plain-claim.ts';
import { deciding, seenTask } from '../../tests/support/seen-task.ts';
import type { ClaimFacts } from './decide-claim.ts';
import { decideUpdate, listUpdateNeeds, planUpdate, type TaskUpdateWish } from './decide-update.ts';
import type { SeenTask, UnfinishedAttempt } from './task-plan.ts';
import { fieldValue } from './task-record.ts';

const ATTEMPT = { id: 'a-1', name: 'a1b2-one' };

interface World {
  readonly unfinished?: UnfinishedAttempt;
  readonly closed_from?: string;
  readonly claim?: Partial<ClaimFacts>;
}

/** With the facts that are needed, and no others. */
function decide(task: SeenTask, wish: TaskUpdateWish, who: 'user' | 'agent' = 'user', world: World = {}) {
  const needs = listUpdateNeeds(task, wish, deciding(who));
  const facts = {
    unfinished: needs.unfinished ? world.unfinished : undefined,
    closed_from: needs.closed_from ? world.closed_from : undefined,
    claim:
      needs.claim === undefined
        ? undefined
        : {
            ...plainClaim(task.record.life, { assignee: needs.claim.assignee, way: needs.claim.way }),
            ...world.claim,
          },
  };
  return decideUpdate(task, wish, { facts, deciding: deciding(who) });
}

describe('decideUpdate', () => {
  it.each<[string, SeenTask, TaskUpdateWish, World, unknown]>([
    [
      'nothing about life',
      seenTask(),
      {},
      {},
      { outcome: 'change', life: { outcome: 'keep' }, claimed: false },
    ],
    [
      'a free task',
      seenTask(),
      { status: 'in_progress', assignee: 'bob' },
      {},
      { outcome: 'change', claimed: true },
    ],
    [
      'begun without a name',
      seenTask(),
      { status: 'in_progress' },
      {},
      { outcome: 'change', claimed: false },
    ],
    [
      'a task that another has',
      seenTask({ state: 'in_progress', owner: 'ann' }),
      { status: 'in_progress', assignee: 'bob' },
      {},
      { outcome: 'lost' },
    ],
    [
      'a task that is the own',
      seenTask({ state: 'in_progress', owner: 'bob' }),
      { status: 'in_progress', assignee: 'bob' },
      {},
      { outcome: 'change', life: { outcome: 'keep' }, claimed: true },
    ],
    [
      'a blocked task',
      seenTask(),
      { status: 'in_progress', assignee: 'bob' },
      { claim: { blockers: [{ in_gate: false, submitted_by: null }] } },
      { outcome: 'blocked' },
    ],
    [
      'a paused project',
      seenTask(),
      { status: 'in_progress', assignee: 'bob' },
      { claim: { pauses_agents: true, claimer: { name: 'bob', kind: 'agent', paused: false } } },
      { outcome: 'project_paused' },
    ],
    ['closed', seenTask(), { status: 'closed' }, {}, { outcome: 'change', life: { outcome: 'close' } }],
    [
      'closed with an attempt',
      seenTask(),
      { status: 'closed' },
      { unfinished: ATTEMPT },
      { outcome: 'unfinished' },
    ],
    [
      'closed twice',
      seenTask({ state: 'done' }),
      { status: 'closed' },
      { unfinished: ATTEMPT },
      { outcome: 'change', life: { outcome: 'keep' } },
    ],
    [
      'reopened',
      seenTask({ state: 'done' }),
      { status: 'open' },
      {},
      { outcome: 'change', life: { outcome: 'reopen' } },
    ],
    [
      'in progress without an owner',
      seenTask(),
      { status: 'in_progress', assignee: null },
      {},
      { outcome: 'refused' },
    ],
    [
      'another version',
      seenTask(),
      { version: 6, status: 'closed' },
      { unfinished: ATTEMPT },
      { outcome: 'other_version' },
    ],
    [
      'another claim',
      seenTask(),
      { fence: 2, status: 'in_progress', assignee: null },
      {},
      { outcome: 'other_claim' },
    ],
  ])('%s', (_, task, wish, world, expected) => {
    expect(decide(task, wish, 'user', world)).toMatchObject(expected as object);
  });

  it.each([
    ['agent', 'backlog', 'kept_parked_in'],
    ['agent', 'todo', 'change'],
    ['user', 'backlog', 'change'],
  ] as const)('an %s that reopens what was closed in %s: %s', (who, closed_from, outcome) => {
    const closed = seenTask({ state: 'done' });
    expect(decide(closed, { status: 'open' }, who, { closed_from }).outcome).toBe(outcome);
  });

  it.each([
    ['agent', 'kept_parked_in'],
    ['user', 'change'],
  ] as const)('an %s that puts a parked task into the queue: %s', (who, outcome) => {
    expect(decide(seenTask({ state: 'backlog' }), { status: 'open', state: 'todo' }, who).outcome).toBe(
      outcome,
    );
  });

  it('reads no facts where only fields change', () => {
    expect(listUpdateNeeds(seenTask(), {}, deciding('agent'))).toEqual({
      claim: undefined,
      unfinished: false,
      closed_from: false,
    });
  });
});

describe('planUpdate', () => {
  it('writes fields and life as one change', () => {
    const task = seenTask();
    const decision = decide(task, { status: 'closed', reason: 'wontfix' });
    if (decision.outcome !== 'change') throw new Error(decision.outcome);
    const edit = { fields: new Map([['title', 'Two']]) };
    const plan = planUpdate(task, { life: decision.life, edit }, deciding());
    expect(fieldValue(plan.after, 'title')).toBe('Two');
    expect(plan.after.life).toMatchObject({ status: 'closed', state: 'cancelled' });
    expect(plan.happening).toMatchObject({ type: 'task.closed', reason: 'wontfix' });
    expect(plan.happening.changed).toEqual(expect.arrayContaining(['title', 'status', 'state']));
  });

  it('of nothing is the record itself', () => {
    const task = seenTask();
    const plan = planUpdate(task, { life: { outcome: 'keep' }, edit: {} }, deciding());
    expect(plan.after).toBe(task.record);
  });
});

describe('planUpdate refuses what is too large', () => {
  const life = { outcome: 'keep' } as const;
  it.each([
    ['metadata', { metadata: new Map([['key', { value: 'x'.repeat(LIMITS.metadata_bytes) }]]) }, 'metadata'],
    [
      'labels',
      {
        labels: new Map(
          Array.from({ length: LIMITS.labels_per_task + 1 }, (_, at) => [`l${at}`, { value: true }]),
        ),
      },
      'labels; the limit is',
    ],
  ])('%s', (_, edit, message) => {
    expect(() => planUpdate(seenTask(), { life, edit }, deciding())).toThrow(message);
  });

  it('says that it is a claim only where it is one', () => {
    const claimed = (decided: Parameters<typeof planUpdate>[1]['life']) =>
      planUpdate(seenTask(), { life: decided, edit: {} }, deciding()).happening.claimed;
    expect(claimed({ outcome: 'claim', state: 'in_progress', assignee: 'bob' })).toBe(true);
    expect(claimed({ outcome: 'close', reason: 'done', assignee: null })).toBe(false);
  });

  it('wants the facts of a claim for a change of owner', () => {
    const facts = { claim: undefined, unfinished: undefined, closed_from: undefined };
    const wish = { status: 'in_progress', assignee: 'bob' } as const;
    expect(() => decideUpdate(seenTask(), wish, { facts, deciding: deciding() })).toThrow(
      'the facts of a claim',
    );
  });
});

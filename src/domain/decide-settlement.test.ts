import { describe, expect, it } from 'vitest';
import { toIso } from '#kernel/clock.ts';
import { deciding, NOW, seenTask } from '../../tests/support/seen-task.ts';
import { decideSettlement, listLost, type Settlement } from './decide-settlement.ts';
import { keepLostValues, type LostValue } from './lost-values.ts';
import { closeRecord, deleteRecord, editRecord } from './task-changes.ts';
import type { SeenTask } from './task-plan.ts';
import { fieldValue, type TaskRecord } from './task-record.ts';
import type { Json } from '#kernel/json.ts';

const AT = NOW - 10;
const lost = (name: string, value: Json): LostValue => ({ name, value, stamp: AT, beaten_at: AT + 1 });
const life = (more: object): Json => ({
  status: 'open',
  state: 'todo',
  assignee: null,
  close_reason: null,
  closed_at: null,
  ...more,
});

function having(values: readonly LostValue[], from = seenTask()): SeenTask {
  return { ...from, record: keepLostValues(from.record, values) };
}

function settle(task: SeenTask, settlement: Partial<Settlement>): { record: TaskRecord; decision: unknown } {
  const decision = decideSettlement(task, { take_lost: false, ...settlement }, deciding());
  return { record: decision.outcome === 'save' ? decision.after : task.record, decision };
}

describe('what a task has lost', () => {
  it('is told with what stands, in the order of keys', () => {
    const values = [lost('title', 'Lost'), lost('metadata.key', 'was'), lost('life', life({}))];
    const { record } = having(values, seenTask({ state: 'in_progress', owner: 'ann' }));
    const known = editRecord(record, { metadata: new Map([['key', { value: 'is' }]]) }, NOW);
    const told = listLost(known).map(({ name, stands, at }) => [name, stands, at]);
    const standing = life({ status: 'in_progress', state: 'in_progress', assignee: 'ann' });
    expect(told).toEqual([
      ['life', standing, toIso(AT)],
      ['metadata.key', 'is', toIso(AT)],
      ['title', 'One', toIso(AT)],
    ]);
    expect(listLost(record).find(({ name }) => name === 'metadata.key')?.stands).toBeNull();
    expect(listLost(record)[2]).toMatchObject({ id: 'fg-a1b2', title: 'One', lost: 'Lost' });
  });

  it('is nothing once it was settled', () => {
    expect(listLost(settle(having([lost('title', 'Lost')]), {}).record)).toEqual([]);
  });

  it('of a deleted task is what was written later', () => {
    const deleted = deleteRecord(seenTask().record, NOW);
    expect(listLost(deleted)).toEqual([]);
    const edited = editRecord(deleted, { fields: new Map([['title', 'Two']]) }, NOW + 1);
    expect(listLost(edited)).toEqual([
      {
        id: 'fg-a1b2',
        title: 'Two',
        name: 'deleted',
        key: 'deleted',
        lost: { title: 'Two' },
        stands: null,
        at: toIso(NOW),
      },
    ]);
  });
});

describe('decideSettlement', () => {
  const TWO = having([lost('title', 'Lost'), lost('metadata.key', 'was')]);

  it.each([
    ['all', {}, { settled: ['metadata.key', 'title'], left: 0 }],
    ['one', { field: 'title' }, { settled: ['title'], left: 1 }],
    [
      'none of that name',
      { field: 'x' },
      { outcome: 'nothing_lost', field: 'x', names: ['metadata.key', 'title'] },
    ],
    ['an old claim', { fence: 2 }, { outcome: 'other_claim', asked: 2 }],
    [
      'the claim',
      { fence: 3 },
      { outcome: 'save', happening: { type: 'task.updated', changed: ['metadata.key', 'title'] } },
    ],
  ])('settles %s', (_, settlement, expected) => {
    expect(settle(TWO, settlement).decision).toMatchObject(expected);
  });

  it('leaves what stands, or takes the lost value', () => {
    expect(fieldValue(settle(TWO, {}).record, 'title')).toBe('One');
    const { record } = settle(TWO, { take_lost: true });
    expect(fieldValue(record, 'title')).toBe('Lost');
    expect(record.metadata.elements.get('key')?.value).toBe('was');
  });

  it('takes a key away where none was there', () => {
    const task = having([lost('metadata.key', null)]);
    const known = {
      ...task,
      record: editRecord(task.record, { metadata: new Map([['key', { value: 1 }]]) }, NOW),
    };
    expect(settle(known, { take_lost: true }).record.metadata.elements.get('key')?.value).toBeUndefined();
  });

  const CLOSED = seenTask({ state: 'done', owner: 'ann' });
  it.each([
    [
      'a close',
      seenTask(),
      { status: 'closed', state: 'done', close_reason: 'why' },
      ['closed', 'done', null, 'why'],
    ],
    [
      'a close without a reason',
      seenTask(),
      { status: 'closed', state: 'done' },
      ['closed', 'done', null, 'done'],
    ],
    [
      'a claim',
      seenTask(),
      { status: 'in_progress', state: 'x', assignee: 'bob' },
      ['in_progress', 'in_progress', 'bob', null],
    ],
    ['a reservation', seenTask(), { state: 'backlog', assignee: 'bob' }, ['open', 'backlog', 'bob', null]],
    [
      'work of nobody',
      seenTask(),
      { status: 'in_progress', state: 'review' },
      ['open', 'review', null, null],
    ],
    ['the queue, of a closed task', CLOSED, { assignee: 'bob' }, ['open', 'todo', 'bob', null]],
  ])('takes %s', (_, from, more, [status, state, assignee, close_reason]) => {
    const { record } = settle(having([lost('life', life(more))], from), { take_lost: true });
    expect(record.life).toMatchObject({ status, state, assignee, close_reason });
  });

  it('begins anew what it reopens', () => {
    const closed = closeRecord(seenTask().record, 'done', NOW - 5);
    const task = having([lost('life', life({}))], { ...CLOSED, record: closed });
    expect(settle(task, { take_lost: true }).record.life.n).toBe(closed.life.n + 1);
  });
});

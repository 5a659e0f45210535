import { describe, expect, it } from 'vitest';
import { NOW, seenTask } from '../../tests/support/seen-task.ts';
import { numbersOfDeleted, planApplication } from './plan-application.ts';
import { claimRecord, deleteRecord, editRecord } from './task-changes.ts';
import { DEFAULT_RESOLVED } from './workflow.ts';

const TODO = seenTask().record;
const CLAIMED = claimRecord(TODO, 'bob', NOW);
const DELETED = deleteRecord(TODO, NOW);
const NUMBERS = { version: 7, fence: 3 };

describe('a record that takes the place of another, the whole table', () => {
  const RETITLED = editRecord(TODO, { fields: new Map([['title', 'Two']]) }, NOW);
  it.each([
    ['nothing', undefined, TODO, 'task.created', 1, 0, []],
    ['nothing, by one with an owner', undefined, CLAIMED, 'task.created', 1, 1, []],
    ['nothing, by a deleted one', undefined, DELETED, 'task.deleted', 1, 0, []],
    [
      'a task, by one with another title',
      { record: TODO, is_here: true },
      RETITLED,
      'task.updated',
      8,
      3,
      ['title'],
    ],
    [
      'a task, by its claim',
      { record: TODO, is_here: true },
      CLAIMED,
      'task.claimed',
      8,
      4,
      ['status', 'state', 'assignee'],
    ],
    [
      'a task, by its deletion',
      { record: TODO, is_here: true },
      DELETED,
      'task.deleted',
      8,
      3,
      ['deleted_at'],
    ],
    ['a deleted task, by what it was', { record: DELETED, is_here: false }, TODO, 'task.created', 7, 3, []],
    [
      'what went by another name',
      { record: TODO, is_here: false },
      CLAIMED,
      'task.created',
      7,
      4,
      ['status', 'state', 'assignee'],
    ],
  ] as const)('%s', (_, before, record, type, version, fence, changed) => {
    const known = before && { ...before, numbers: NUMBERS };
    const plan = planApplication(known, record, { workflow: DEFAULT_RESOLVED });
    expect(plan.numbers).toEqual({ version, fence });
    const [first] = plan.toEvents();
    expect(first.type).toBe(type);
    expect(first.data).toMatchObject({ changed, task: { id: TODO.id, version } });
  });

  it.each([
    [
      { version: 20, fence: 1 },
      { version: 20, fence: 3 },
    ],
    [
      { version: 2, fence: 9 },
      { version: 8, fence: 9 },
    ],
  ])('no number that was given out fits again: %j', (least, numbers) => {
    const known = { record: TODO, numbers: NUMBERS, is_here: true };
    expect(planApplication(known, RETITLED, { least, workflow: DEFAULT_RESOLVED }).numbers).toEqual(numbers);
  });

  it('a claim from elsewhere is told as a change of status too, a task that appears is not', () => {
    const types = (is_here: boolean): string[] =>
      planApplication({ record: TODO, numbers: NUMBERS, is_here }, CLAIMED, { workflow: DEFAULT_RESOLVED })
        .toEvents()
        .map(({ type }) => type);
    expect(types(true)).toEqual(['task.claimed', 'task.status_changed']);
    expect(types(false)).toEqual(['task.created']);
  });
});

describe('numbersOfDeleted', () => {
  it.each([
    ['what was deleted here', { version: 4, fence: 2 }, { version: 5, fence: 3 }],
    ['what was deleted elsewhere', undefined, { version: 1, fence: 1 }],
    ['what an older Forge kept', { version: 4 }, { version: 5, fence: 1 }],
  ])('of %s', (_, undo, numbers) => {
    expect(numbersOfDeleted(undo)).toEqual(numbers);
  });
});

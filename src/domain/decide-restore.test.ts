import { describe, expect, it } from 'vitest';
import { parseIso } from '#kernel/clock.ts';
import { NOW, seenTask } from '../../tests/support/seen-task.ts';
import type { Undo } from './decide-delete.ts';
import { findUndo, knowsOf, planRestore, type RememberedTask } from './decide-restore.ts';
import { encodeRecord } from './record-codec.ts';
import { deleteRecord, editRecord } from './task-changes.ts';
import { fieldValue, textValue, type TaskRecord } from './task-record.ts';

const BEFORE = editRecord(seenTask().record, { fields: new Map([['parent_id', 'fg-up']]) }, NOW - 1);
const DELETED = deleteRecord(BEFORE, NOW);
/** As versions did it that emptied the task. */
const EMPTIED: TaskRecord = {
  ...DELETED,
  fields: new Map(
    [...DELETED.fields].map(([name, field]) => [name, name === 'title' ? { value: '', stamp: NOW } : field]),
  ),
};
const OWN: Undo = {
  before: 'own',
  version: 5,
  fence: 2,
  children: ['fg-1'],
  dependents: [['fg-2', 'blocks']],
};
const ELSEWHERE: Undo = { ...OWN, children: [], dependents: [], elsewhere: true };
const GIT: RememberedTask = { line: 'git', children: ['fg-8'], dependents: [['fg-9', 'related']] };
const LINE = {
  before: encodeRecord(DELETED),
  version: 1,
  fence: 1,
  children: [],
  dependents: [],
  elsewhere: true,
};
const FROM_GIT = { children: GIT.children, dependents: GIT.dependents, elsewhere: true };

describe('findUndo, the whole table', () => {
  it.each([
    ['own memory', OWN, undefined, DELETED, OWN],
    ['own memory, git too', OWN, GIT, DELETED, OWN],
    ['own memory of an emptied task', OWN, undefined, EMPTIED, OWN],
    ['from elsewhere', ELSEWHERE, undefined, DELETED, ELSEWHERE],
    ['from elsewhere, git too', ELSEWHERE, GIT, DELETED, { ...ELSEWHERE, ...FROM_GIT }],
    ['only git', undefined, GIT, DELETED, { before: 'git', version: 1, fence: 1, ...FROM_GIT }],
    [
      'only git, of an emptied task',
      undefined,
      GIT,
      EMPTIED,
      { before: 'git', version: 1, fence: 1, ...FROM_GIT },
    ],
    ['only the line', undefined, undefined, DELETED, LINE],
    ['nothing', undefined, undefined, EMPTIED, undefined],
  ])('%s', (_, own, remembered, deleted, expected) => {
    expect(findUndo({ own, remembered, deleted })).toEqual(expected);
  });
});

describe('planRestore', () => {
  const restore = (undo: Undo, here: boolean) =>
    planRestore(DELETED, { undo, before: BEFORE, is_here: () => here }, { now: NOW + 5 });

  it('brings the task back with its numbers going on', () => {
    const plan = restore(OWN, true);
    expect(plan.numbers).toEqual({ version: 6, fence: 3 });
    expect(plan.happening).toEqual({ type: 'task.created', changed: [], more: { restored: true } });
    expect(textValue(plan.after, 'title')).toBe('One');
    expect(fieldValue(plan.after, 'deleted_at')).toBeNull();
    expect([...plan.ties.keys()]).toEqual(['fg-1', 'fg-2']);
  });

  it.each([
    [true, 'fg-up'],
    [false, null],
  ])('its parent is here: %s', (here, parent) => {
    expect(fieldValue(restore(OWN, here).after, 'parent_id')).toBe(parent);
  });

  it('of what git remembers only what the deletion took comes back', () => {
    expect(restore(OWN, true).since).toBe(0);
    expect(restore(ELSEWHERE, true).since).toBe(parseIso(textValue(DELETED, 'deleted_at')));
    const alive = planRestore(BEFORE, { undo: ELSEWHERE, before: BEFORE, is_here: () => true }, { now: NOW });
    expect(alive.since).toBe(0);
  });
});

it.each([
  ['nothing, where nobody kept anything', undefined, { content: false, links: false }],
  ['all of a task that was deleted here', {}, { content: true, links: true }],
  [
    'what it held alone, where it was deleted elsewhere',
    { elsewhere: true },
    { content: true, links: false },
  ],
])('a store knows %s', (_, undo, knows) => {
  expect(knowsOf(undo)).toEqual(knows);
});

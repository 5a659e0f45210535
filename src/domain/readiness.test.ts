import { expect, test } from 'vitest';
import { explainReadiness, isAskedFor, isReady, type ReadinessFacts } from './readiness.ts';

const ready: ReadinessFacts = {
  status: 'open',
  state: 'todo',
  type: 'task',
  assignee: null,
  open_blockers: 0,
  parked: false,
};

test.each<[string, Partial<ReadinessFacts>, string | null | undefined, boolean]>([
  ['open and nobody’s', {}, undefined, true],
  ['reserved for the one who asks', { assignee: 'ann' }, 'ann', true],
  ['reserved, and nobody asks', { assignee: 'ann' }, undefined, false],
  ['reserved, and for nobody is asked', { assignee: 'ann' }, null, false],
  ['reserved for another', { assignee: 'ann' }, 'bob', false],
  ['in progress with the one who asks', { status: 'in_progress', assignee: 'ann' }, 'ann', false],
  ['closed', { status: 'closed' }, undefined, false],
  ['waiting', { open_blockers: 1 }, undefined, false],
  ['parked', { parked: true }, undefined, false],
])('%s', (_, more, asker, expected) => {
  expect(isReady({ ...ready, ...more }, asker)).toBe(expected);
});

test.each<[string, Parameters<typeof isAskedFor>[1], boolean]>([
  ['nothing', {}, true],
  ['its type', { type: 'epic' }, true],
  ['another type', { type: 'task' }, false],
  ['without its type', { exclude_types: ['bug', 'epic'] }, false],
  ['its type, which the config leaves out', { type: 'epic', exclude_types: ['epic'] }, true],
  ['its label', { label: 'ui' }, true],
  ['another label', { label: 'u' }, false],
  ['work', { to_hand_out: true }, false],
  ['epics as work', { to_hand_out: true, type: 'epic' }, true],
])('an epic with open children, where is asked for %s', (_, filter, expected) => {
  const epic = { type: 'epic', labels: ['ui'], open_children: () => true } as const;
  expect(isAskedFor(epic, filter)).toBe(expected);
  expect(isAskedFor({ ...epic, open_children: () => false }, { to_hand_out: true })).toBe(true);
});

const none = { blockers: [], more: 0 };

test.each<[string, Partial<ReadinessFacts>, Parameters<typeof explainReadiness>[1], readonly string[]]>([
  ['a free one', {}, {}, ['open, unassigned, no open blocker']],
  ['one for me', { assignee: 'ann' }, { assignee: 'ann' }, ['open, reserved for ann, no open blocker']],
  ['one for another', { assignee: 'ann' }, { assignee: 'bob' }, ['reserved for ann']],
  ['one at work', { status: 'in_progress', assignee: 'ann' }, {}, ['in progress with ann']],
  ['one at work with nobody', { status: 'in_progress' }, {}, ['in progress with nobody']],
  ['a parked one', { parked: true, state: 'backlog' }, {}, ['parked in backlog']],
  ['one left out', {}, { exclude_types: ['task'] }, ['type task is left out by ready.excludeTypes']],
  [
    'one left out, but asked for',
    {},
    { type: 'task', exclude_types: ['task'] },
    ['open, unassigned, no open blocker'],
  ],
])('%s says why', (_, more, query, reasons) => {
  expect(explainReadiness({ ...ready, ...more }, query, none).reasons).toEqual(reasons);
});

test('what it waits for is told after all else', () => {
  const listed = {
    blockers: [
      { id: 'fg-1', status: 'open' },
      { id: 'zz-1', status: null },
    ],
    more: 3,
  } as const;
  expect(explainReadiness({ ...ready, parked: true }, {}, listed)).toEqual({
    ready: false,
    reasons: [
      'parked in todo',
      'waits for fg-1 (open)',
      'waits for zz-1 (not in this project)',
      'waits for 3 more',
    ],
  });
});

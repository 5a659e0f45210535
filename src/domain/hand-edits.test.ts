import { describe, expect, it } from 'vitest';
import { toIso } from '#kernel/clock.ts';
import type { Json } from '#kernel/json.ts';
import { lineOf, type Line } from '../../tests/support/foreign-lines.ts';
import { FORGE } from '../../tests/support/join-world.ts';
import { stampHandEdits } from './hand-edits.ts';
import { joinRecords } from './join-records.ts';
import { decodeRecord, encodeRecord, listDependencies, listLabels } from './record-codec.ts';
import { isSealed } from './record-seal.ts';
import {
  claimRecord,
  closeRecord,
  commentRecord,
  deleteRecord,
  editRecord,
  newRecord,
} from './task-changes.ts';
import { fieldValue, isDeleted, lastStamp, type TaskRecord } from './task-record.ts';

const NOW = Date.UTC(2026, 1, 10, 9);

/** With the `updated_at` that was there, with a later one, and without the stamps. */
const MANNERS = ['left', 'bumped', 'unstamped'] as const;
type Manner = (typeof MANNERS)[number];

/** Each edit of a line, and what the task must then show. */
const EDITS: readonly [string, (line: Line) => void, (task: TaskRecord) => Json, Json][] = [
  ['a title', (line) => void (line.title = 'A'), (task) => fieldValue(task, 'title'), 'A'],
  ['a number', (line) => void (line.priority = 0), (task) => fieldValue(task, 'priority'), 0],
  ['an emptied text', (line) => void (line.description = ''), (task) => fieldValue(task, 'description'), ''],
  ['a key that was taken out', (line) => void delete line.sprint, (task) => fieldValue(task, 'sprint'), null],
  ['a key that is new', (line) => void (line['x-new'] = [1]), (task) => fieldValue(task, 'x-new'), [1]],
  [
    'a key named __proto__',
    (line) => void (line['__proto__'] = 1),
    (task) => fieldValue(task, '__proto__'),
    1,
  ],
  [
    'a label more',
    (line) => void (line.labels = ['__proto__', 'late', 'a']),
    listLabels,
    ['__proto__', 'a', 'late'],
  ],
  ['a label less', (line) => void (line.labels = ['late']), listLabels, ['late']],
  ['a later label less', (line) => void (line.labels = ['__proto__']), listLabels, ['__proto__']],
  [
    'a label back',
    (line) => void (line.labels = ['__proto__', 'gone', 'late']),
    listLabels,
    ['__proto__', 'gone', 'late'],
  ],
  ['metadata less', (line) => void (line.metadata = { b: 2 }), metadataOf, { b: 2 }],
  ['metadata changed', (line) => void (line.metadata = { a: 9, b: 2 }), metadataOf, { a: 9, b: 2 }],
  ['an edge less', (line) => void (line.dependencies = []), listDependencies, []],
  ['an owner', (line) => void (line.assignee = 'bob'), ({ life }) => life.assignee, 'bob'],
  [
    'a status',
    (line) => void Object.assign(line, { status: 'open', assignee: null }),
    ({ life }) => life.status,
    'open',
  ],
  [
    'a closing',
    (line) => void Object.assign(line, { status: 'closed', close_reason: 'x' }),
    ({ life }) => life.close_reason,
    'x',
  ],
];

describe('a line edited by hand', () => {
  it.each(MANNERS.flatMap((manner) => EDITS.map((edit) => [edit[0], manner, edit] as const)))(
    'gives the task %s, updated_at %s',
    (_name, manner, [, edit, look, shows]) => {
      const base = someTask();
      expect(look(base)).not.toEqual(shows);
      const line = spoil(base, edit, manner);
      const joined = joinBothWays(base, stampHandEdits(decodeRecord(line), base, updatedOf(line)));
      expect(look(joined)).toEqual(shows);
      // What was not edited is as it was.
      const others = EDITS.filter(([, , other]) => other !== look && !touchesLife(look, other));
      for (const [name, , other] of others) expect([name, other(joined)]).toEqual([name, other(base)]);
    },
  );

  it.each(EDITS)('is not sealed any more: %s', (_name, edit) => {
    expect(isSealed(encodeRecord(someTask()))).toBe(true);
    expect(isSealed(JSON.stringify(spoil(someTask(), edit, 'left')))).toBe(false);
  });

  it.each(EDITS)('is read the same a second time: %s', (_name, edit) => {
    const base = someTask();
    const line = spoil(base, edit, 'left');
    const once = joinRecords(base, stampHandEdits(decodeRecord(line), base, updatedOf(line)));
    const twice = joinRecords(once, stampHandEdits(decodeRecord(line), once, updatedOf(line)));
    expect(encodeRecord(twice)).toBe(encodeRecord(once));
  });

  it('is one only where it has the stamps of what was known: a line of another clone keeps its own', () => {
    const base = claimRecord(someTask(), 'bob', NOW + 50);
    const newer = { ...base, life: { ...base.life, state: 'review', written: NOW + 90 } };
    for (const [line, known] of [
      [newer, base],
      [base, newer],
    ] as const)
      expect(stampHandEdits(line, known, NOW + 99).life).toBe(line.life);
  });

  it('follows a claim, because other tools know no numbers', () => {
    const base = claimRecord(someTask(), 'bob', NOW + 50);
    const line = spoil(
      base,
      (spoilt) => void Object.assign(spoilt, { status: 'open', assignee: null }),
      'unstamped',
    );
    const joined = joinBothWays(base, stampHandEdits(decodeRecord(line), base, updatedOf(line)));
    expect(joined.life).toMatchObject({ status: 'open', assignee: null, n: base.life.n + 1 });
  });

  it('can reopen a closed task by its status alone', () => {
    const base = closeRecord(someTask(), 'done', NOW + 50);
    const line = spoil(base, (spoilt) => void (spoilt.status = 'open'), 'left');
    const joined = joinBothWays(base, stampHandEdits(decodeRecord(line), base, updatedOf(line)));
    expect(joined.life).toMatchObject({ status: 'open', close_reason: null, closed_at: null });
  });
});

describe('a line that nobody edited', () => {
  it('is returned as it is: the same state, written with stamps or without', () => {
    const base = someTask();
    const same = decodeRecord(JSON.parse(encodeRecord(base)) as Json);
    expect(stampHandEdits(same, base, lastStamp(base))).toBe(same);
    const uniform = decodeRecord(JSON.parse(encodeRecord(newTask())) as Json);
    expect(stampHandEdits(uniform, newTask(), NOW)).toBe(uniform);
  });

  it('is left alone when it is older, however much has happened since', () => {
    const old = newTask();
    const line = lineOf(FORGE, old);
    for (const base of [
      editRecord(old, { fields: new Map([['title', 'B']]) }, NOW),
      editRecord(old, { fields: new Map<string, Json>([['sprint', 8]]) }, NOW + 5),
      editRecord(old, { labels: new Map([['a', { value: true }]]) }, NOW),
      editRecord(old, { labels: new Map([['__proto__', { value: undefined }]]) }, NOW),
      claimRecord(old, 'bob', NOW),
      closeRecord(old, 'x', NOW),
      deleteRecord(old, NOW),
    ]) {
      const read = decodeRecord(line);
      expect(stampHandEdits(read, base, NOW)).toBe(read);
      expect(encodeRecord(joinRecords(base, read))).toBe(encodeRecord(base));
    }
  });

  it('is left alone when it is newer', () => {
    const base = newTask();
    const newer = editRecord(
      claimRecord(base, 'bob', NOW + 5),
      { fields: new Map([['title', 'B']]) },
      NOW + 7,
    );
    const read = decodeRecord(JSON.parse(encodeRecord(newer)) as Json);
    expect(stampHandEdits(read, base, NOW + 7)).toBe(read);
  });

  it('does not take out a key that was added by hand after it was written', () => {
    const old = newTask();
    const line = lineOf(FORGE, old);
    const spoilt = decodeRecord({ ...line, 'x-new': 7 });
    const base = joinRecords(old, stampHandEdits(spoilt, old, NOW));
    const again = joinRecords(base, stampHandEdits(decodeRecord(line), base, NOW));
    expect(fieldValue(again, 'x-new')).toBe(7);
  });
});

describe('an edit by hand on a clone that knows less', () => {
  const old = editRecord(newTask(), { fields: new Map([['description', 'Later']]) }, NOW + 2);
  const line: Line = { ...lineOf(FORGE, old), title: 'By hand', updated_at: toIso(NOW + 90) };
  const fold = (base: TaskRecord): TaskRecord =>
    joinBothWays(base, stampHandEdits(decodeRecord(line), base, NOW + 90));

  it('does not take out a key that it never had', () => {
    const joined = fold(editRecord(old, { fields: new Map<string, Json>([['x-new', 7]]) }, NOW + 5));
    expect([fieldValue(joined, 'x-new'), fieldValue(joined, 'title')]).toEqual([7, 'By hand']);
  });

  it('does not undo a claim that it never saw', () => {
    expect(fold(claimRecord(old, 'bob', NOW + 5)).life).toMatchObject({
      status: 'in_progress',
      assignee: 'bob',
    });
  });

  it('does not undo a deletion that it never saw', () => {
    expect(isDeleted(fold(deleteRecord(old, NOW + 5)))).toBe(true);
  });
});

function newTask(): TaskRecord {
  return newRecord(
    {
      id: 'fg-a3f8',
      created_by: 'ann',
      assignee: null,
      state: 'todo',
      fields: { title: 'Fix it', description: 'Now' },
      labels: ['__proto__', 'gone'],
      dependencies: ['fg-b2c1:blocks'],
      metadata: new Map<string, Json>([['a', 1]]),
    },
    NOW,
  );
}

/** Every kind of value, some from the beginning and some later; one label removed. */
function someTask(): TaskRecord {
  const edited = editRecord(
    newTask(),
    {
      fields: new Map<string, Json>([['sprint', 7]]),
      labels: new Map([
        ['late', { value: true }],
        ['gone', { value: undefined }],
      ]),
      metadata: new Map([['b', { value: 2 }]]),
    },
    NOW + 20,
  );
  const created_at = toIso(NOW + 30);
  const spoken = commentRecord(edited, { id: 'c-1', author: 'ann', body: 'Hi', reply_to: null, created_at });
  return claimRecord(spoken, 'ann', NOW + 40);
}

function spoil(record: TaskRecord, edit: (line: Line) => void, manner: Manner): Line {
  const line = lineOf(FORGE, record);
  edit(line);
  if (manner === 'bumped') line.updated_at = toIso(lastStamp(record) + 1_000);
  if (manner === 'unstamped') delete line._v;
  return line;
}

function updatedOf(line: Line): number {
  return Date.parse(line.updated_at as string);
}

function metadataOf(task: TaskRecord): Json {
  return lineOf(FORGE, task).metadata ?? null;
}

/** Status, owner and closing are one value. */
function touchesLife(look: (task: TaskRecord) => Json, other: (task: TaskRecord) => Json): boolean {
  const ofLife = EDITS.slice(-3).map(([, , one]) => one);
  return ofLife.includes(look) && ofLife.includes(other);
}

function joinBothWays(a: TaskRecord, b: TaskRecord): TaskRecord {
  const joined = joinRecords(a, b);
  expect(encodeRecord(joinRecords(b, a))).toBe(encodeRecord(joined));
  return joined;
}

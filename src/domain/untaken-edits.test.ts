import { describe, expect, it } from 'vitest';
import type { Json, JsonObject } from '#kernel/json.ts';
import { lineOf } from '../../tests/support/foreign-lines.ts';
import { FORGE } from '../../tests/support/join-world.ts';
import { PLAIN_MADE, plainRecord } from '../../tests/support/plain-record.ts';
import { decodeRecord } from './record-codec.ts';
import { digestRecord } from './record-digests.ts';
import { claimRecord, editRecord } from './task-changes.ts';
import type { TaskRecord } from './task-record.ts';
import { findUntaken, isWrittenOver, takeBackEdit } from './untaken-edits.ts';

const NOW = PLAIN_MADE;
const record = plainRecord;
const shows = (title: string): string => digestRecord(record(title));

/** What the copy shows, and the edits that it took in: the seal of the line, what it showed then, and when. */
const CASES: readonly (readonly [string, string, readonly (readonly [string, string, number])[], boolean])[] =
  [
    [
      'another edit came after it, and stands',
      'two',
      [
        ['s', 'one', 5],
        ['s', 'two', 6],
      ],
      true,
    ],
    [
      'also after what stood there before',
      'two',
      [
        ['s', 'zero', 4],
        ['s', 'one', 5],
        ['s', 'two', 6],
      ],
      true,
    ],
    [
      'of the same moment as what stood there',
      'two',
      [
        ['s', 'zero', 5],
        ['s', 'one', 5],
        ['s', 'two', 6],
      ],
      true,
    ],
    ['no edit was taken in', 'two', [], false],
    ['only the other one was', 'two', [['s', 'two', 6]], false],
    ['no other came after it', 'one', [['s', 'one', 5]], false],
    [
      'the other came before',
      'two',
      [
        ['s', 'two', 4],
        ['s', 'one', 5],
      ],
      false,
    ],
    [
      'the other came in the same moment',
      'two',
      [
        ['s', 'one', 5],
        ['s', 'two', 5],
      ],
      false,
    ],
    [
      'the other does not stand any more',
      'three',
      [
        ['s', 'one', 5],
        ['s', 'two', 6],
      ],
      false,
    ],
    [
      'the other is of another line',
      'two',
      [
        ['s', 'one', 5],
        ['r', 'two', 6],
      ],
      false,
    ],
    [
      'the other line begins with the same letters',
      'two',
      [
        ['s', 'one', 5],
        ['st', 'two', 6],
      ],
      false,
    ],
    [
      'what stood there before was put there after it',
      'two',
      [
        ['s', 'zero', 7],
        ['s', 'one', 5],
        ['s', 'two', 6],
      ],
      false,
    ],
  ];

describe('[D1] an edited line that a copy took in before', () => {
  it.each(CASES)('is an old one or a new one: %s', (_name, title, taken, expected) => {
    const hand = new Map(taken.map(([seal, edit, at]) => [`${seal}:${shows(edit)}`, at]));
    const known: TaskRecord = { ...record(title), ...(hand.size > 0 && { hand }) };
    expect(isWrittenOver(known, { seal: 's', record: record('one') }, shows('zero'))).toBe(expected);
  });
});

type Taken = readonly (readonly [string, string, number])[];

/** The edits that a copy took in and shows, what another copy shows and took in, and what of it is found. */
const UNTAKEN: readonly (readonly [string, Taken, string, Taken, readonly string[]])[] = [
  ['it has nothing of it', [['s', 'two', 5]], 'one', [], ['s']],
  ['it has another edit of that line', [['s', 'two', 5]], 'one', [['s', 'three', 4]], []],
  ['it has the same edit of another line', [['s', 'two', 5]], 'one', [['st', 'two', 4]], ['s']],
  ['it shows the same', [['s', 'two', 5]], 'two', [], []],
  ['the edit does not stand any more', [['s', 'three', 5]], 'one', [], []],
  ['the line had no seal', [['~5', 'two', 5]], 'one', [], []],
  [
    'a later edit of the line does not stand',
    [
      ['s', 'three', 6],
      ['s', 'two', 5],
    ],
    'one',
    [],
    [],
  ],
  [
    'an earlier one does not',
    [
      ['s', 'two', 6],
      ['s', 'three', 5],
    ],
    'one',
    [],
    ['s'],
  ],
];

describe('an edit of which another copy has nothing', () => {
  it.each(UNTAKEN)('is found or not: %s', (_name, taken, title, there, found) => {
    const withHand = (shown: TaskRecord, edits: Taken): TaskRecord => ({
      ...shown,
      hand: new Map(edits.map(([seal, edit, at]) => [`${seal}:${shows(edit)}`, at])),
    });
    const untaken = findUntaken(withHand(record(title), there), withHand(record('two'), taken));
    expect(untaken.map(({ seal, last }) => [seal, last])).toEqual(found.map((seal) => [seal, shows('two')]));
  });

  it('is none where what was taken in cannot be read', () => {
    expect(findUntaken(record('one'), { ...record('two'), hand: new Map([['s:?', 5]]) })).toEqual([]);
    expect(findUntaken(record('one'), record('two'))).toEqual([]);
  });
});

/** An edit of a line, and what Forge may write in the same place. */
const EDITS: readonly (readonly [string, JsonObject, (task: TaskRecord) => TaskRecord])[] = [
  ['a title', { title: 'two' }, (task) => write(task, 'title', 'since')],
  ['an unknown key', { sprint: 5 }, (task) => write(task, 'sprint', 6)],
  ['a key that came', { mood: 1 }, (task) => write(task, 'mood', 2)],
  ['a label that came', { labels: ['a', 'b', 'c'] }, (task) => mark(task, 'c', true)],
  ['a label that went', { labels: ['a'] }, (task) => mark(task, 'b', undefined)],
  [
    'metadata',
    { metadata: { k: 2 } },
    (task) => editRecord(task, { metadata: new Map([['k', { value: 3 }]]) }, NOW + 60),
  ],
  ['an owner', { status: 'in_progress', assignee: 'bob' }, (task) => claimRecord(task, 'ann', NOW + 60)],
];

describe('an edited line, as a later copy left it that knows nothing of the edit', () => {
  const sprint = editRecord(record('one'), { fields: new Map<string, Json>([['sprint', 4]]) }, NOW);
  const base = editRecord(
    sprint,
    {
      labels: new Map(['a', 'b'].map((label) => [label, { value: true }])),
      metadata: new Map([['k', { value: 1 }]]),
    },
    NOW + 5,
  );
  const after = write(base, 'description', 'later');
  const edited = (values: JsonObject): TaskRecord => decodeRecord({ ...lineOf(FORGE, base), ...values });

  it.each(EDITS)('shows what it showed before, and nothing that was written since: %s', (_name, values) => {
    const back = takeBackEdit(edited(values), after);
    expect(back && digestRecord(back)).toBe(digestRecord(base));
  });

  it.each(EDITS)('is the same where Forge wrote there since: %s', (_name, values, since) => {
    expect(takeBackEdit(edited(values), since(base))).toBeUndefined();
  });

  it('is the same where nothing was edited', () => {
    expect(takeBackEdit(base, after)).toBeUndefined();
  });

  it('has a key again that the edit took out, whether the task was made with it or not', () => {
    const made = { ...base, fields: new Map([...base.fields, ['made', { value: 1, stamp: NOW }]]) };
    const { sprint: _sprint, made: _made, ...line } = lineOf(FORGE, made);
    const back = takeBackEdit(decodeRecord(line), write(made, 'description', 'later'));
    expect(back && digestRecord(back)).toBe(digestRecord(made));
  });
});

function write(task: TaskRecord, name: string, value: Json): TaskRecord {
  return editRecord(task, { fields: new Map([[name, value]]) }, NOW + 60);
}

function mark(task: TaskRecord, label: string, value: true | undefined): TaskRecord {
  return editRecord(task, { labels: new Map([[label, { value }]]) }, NOW + 60);
}

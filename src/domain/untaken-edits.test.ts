import { describe, expect, it } from 'vitest';
import { digestRecord } from './record-digests.ts';
import { newRecord } from './task-changes.ts';
import type { TaskRecord } from './task-record.ts';
import { isWrittenOver } from './untaken-edits.ts';

const record = (title: string): TaskRecord =>
  newRecord(
    {
      id: 'fg-a3f8',
      created_by: 'ann',
      assignee: null,
      state: 'todo',
      fields: { title },
      labels: [],
      dependencies: [],
      metadata: new Map(),
    },
    Date.UTC(2026, 1, 10, 9),
  );
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

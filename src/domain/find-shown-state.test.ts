import { describe, expect, it } from 'vitest';
import { NOW, seenTask } from '../../tests/support/seen-task.ts';
import { findShownState, nameUnsealed, updatedOf, type FeedFacts } from './find-shown-state.ts';
import { digestRecord } from './record-digests.ts';
import { editRecord } from './task-changes.ts';
import { lastStamp, type TaskRecord } from './task-record.ts';

const NOW_KNOWN = seenTask().record;
const OLD = editRecord(NOW_KNOWN, { fields: new Map([['title', 'Old']]) }, NOW);
const OLDER = editRecord(NOW_KNOWN, { fields: new Map([['title', 'Older']]) }, NOW);

/** Events 10 and 20 of the task. */
const STATES = [
  { seq: 10, has_foreign: false, record: OLDER },
  { seq: 20, has_foreign: false, record: OLD },
];

function find(
  facts: Partial<Pick<FeedFacts, 'seq' | 'newest'> & { oldest: number }>,
  more: { many?: number[]; states?: typeof STATES } = {},
) {
  return findShownState(NOW_KNOWN, {
    seq: 30,
    newest: 20,
    ...facts,
    oldest: () => facts.oldest ?? 1,
    listMany: () => more.many ?? [],
    listStates: () => more.states ?? STATES,
  });
}

const shown = (record: TaskRecord) => ({ digests: digestRecord(record), updated: lastStamp(record) });

describe('findShownState', () => {
  it.each([
    ['the newest state, where nothing came since', {}, {}, NOW_KNOWN],
    ['the newest state, where the file was read at its event', { seq: 20 }, {}, NOW_KNOWN],
    ['the one at the event of the file', { seq: 15 }, {}, OLDER],
    ['the one of exactly that event', { seq: 10 }, {}, OLDER],
    ['none of before the first event', { seq: 9 }, {}, undefined],
    ['the newest, where the event after it is known still', { seq: 30, oldest: 31 }, {}, NOW_KNOWN],
    ['nothing where that was forgotten', { seq: 30, oldest: 32 }, {}, undefined],
    ['nothing where very many changed since', {}, { many: [31] }, undefined],
    ['the newest where that was before', {}, { many: [30] }, NOW_KNOWN],
    ['nothing where very many changed in between', { seq: 15 }, { many: [12] }, undefined],
    ['the old one where that was at its event', { seq: 15 }, { many: [10] }, OLDER],
    ['the old one where that was after the file', { seq: 15 }, { many: [16] }, OLDER],
    ['nothing where that was at the file’s event', { seq: 15 }, { many: [15] }, undefined],
    [
      'nothing where a key of others changed since',
      { seq: 15 },
      {
        states: [
          { seq: 10, has_foreign: false, record: OLDER },
          { seq: 16, has_foreign: true, record: OLD },
        ],
      },
      undefined,
    ],
    [
      'the old one where a key of others changed before',
      { seq: 15 },
      {
        states: [
          { seq: 10, has_foreign: true, record: OLDER },
          { seq: 15, has_foreign: true, record: OLD },
        ],
      },
      OLD,
    ],
  ] as const)('is %s', (_, facts, more, expected) => {
    const changeable = more as { many?: number[]; states?: typeof STATES };
    expect(find(facts, changeable)).toEqual(expected && shown(expected));
  });
});

describe('the name of a line without a seal', () => {
  it.each([[NOW], [0], [1]])('says when it was written: %i', (at) => {
    expect(updatedOf(nameUnsealed(at))).toBe(at);
  });

  it('is none of before 1970', () => {
    expect(nameUnsealed(-5)).toBe('~0');
  });

  it('of a sealed one nothing counts as newer', () => {
    expect(updatedOf('abc')).toBe(Infinity);
  });
});

import { describe, expect, it } from 'vitest';
import type { Json } from '#kernel/json.ts';
import { LIMITS } from '#kernel/limits.ts';
import { joinRecords } from './join-records.ts';
import { hasLost, keepLostValues, markValue } from './lost-values.ts';
import { digestRecord, readDigests } from './record-digests.ts';
import { findUnseen, noteEdited } from './replaced-values.ts';
import { deleteRecord, editRecord, newRecord, restoreRecord } from './task-changes.ts';
import type { TaskRecord } from './task-record.ts';

const NOW = Date.UTC(2026, 1, 10, 9);
const base = make('Fix it', 0, NOW);

describe.for<[string, (value: Json, before: TaskRecord, after: number) => TaskRecord]>([
  ['title', title],
  ['metadata.k', meta],
])('%s', ([name, write]) => {
  const a = write('A', base, 5);
  const b = write('B', base, 9);

  it('of two that did not see each other the earlier is told, whichever copy has it', () => {
    expect(valuesOf(findUnseen(a, b))).toEqual([[name, 'A']]);
    expect(valuesOf(findUnseen(b, a))).toEqual([[name, 'A']]);
  });

  it('what the task was made with is told by nobody', () => {
    expect(findUnseen(base, a)).toEqual([]);
    expect(findUnseen(a, base)).toEqual([]);
  });

  it('what each of two clones made the task with is told by nobody', () => {
    const other = make('Made elsewhere', 1, NOW + 5);
    expect(findUnseen(base, other)).toEqual([]);
    expect(findUnseen(other, base)).toEqual([]);
  });

  it('one that a writer saw and replaced is not told, in any clone that meets the two', () => {
    const next = write('Next', a, 20);
    expect(findUnseen(a, next)).toEqual([]);
    expect(findUnseen(next, a)).toEqual([]);
    const last = write('Last', next, 30);
    expect(findUnseen(a, last)).toEqual([]);
    expect(valuesOf(findUnseen(b, last))).toEqual([[name, 'B']]);
  });

  it('C3 a third clone that wrote nothing tells it, and so does every clone after it', () => {
    const third = keepLostValues(joinRecords(a, b), findUnseen(a, b));
    expect(lostOf(third)).toEqual(['A']);
    for (const later of [joinRecords(a, third), joinRecords(third, b)]) expect(lostOf(later)).toEqual(['A']);
  });

  it('what its own writer replaced later is not told any more; what replaced it is', () => {
    const third = keepLostValues(joinRecords(a, b), findUnseen(a, b));
    const next = write('A2', a, 7);
    const joined = keepLostValues(joinRecords(third, next), findUnseen(third, next));
    expect(lostOf(joined)).toEqual(['A2']);
  });

  it('one that was taken back to is no loss', () => {
    const back = write('A', write('A2', a, 20), 30);
    expect(findUnseen(a, back)).toEqual([]);
  });

  it('H7 beneath a deletion it is told as well', () => {
    expect(valuesOf(findUnseen(a, deleteRecord(b, NOW + 50)))).toEqual([[name, 'A']]);
    expect(valuesOf(findUnseen(deleteRecord(a, NOW + 50), b))).toEqual([[name, 'A']]);
  });

  it(`H5 ${LIMITS.replaced_values} replaced values are remembered, and what is forgotten is told rather than dropped`, () => {
    let record = a;
    const at = (n: number): number => 100 + n;
    for (let n = 0; n < LIMITS.replaced_values; n += 1) record = write(`R${n}`, record, at(n));
    expect(notesOf(record)).toBe(LIMITS.replaced_values);
    expect(findUnseen(a, record)).toEqual([]);
    expect(valuesOf(findUnseen(b, record))).toEqual([[name, 'B']]);
    const more = write('More', record, 1_000);
    expect(notesOf(more)).toBe(LIMITS.replaced_values);
    expect(valuesOf(findUnseen(a, more))).toEqual([[name, 'A']]);
    expect(valuesOf(findUnseen(b, more))).toEqual([[name, 'B']]);
  });

  it('H5 with them no lost value is forgotten, and none that was replaced in another place', () => {
    const twice = [title, meta].reduce((record, one) => one('Second', one('First', record, 5), 6), base);
    const lost = { name, value: 'Lost', stamp: NOW + 7, beaten_at: NOW + 9 };
    let record = keepLostValues(twice, [lost]);
    for (let n = 0; n < LIMITS.replaced_values; n += 1) record = write(`R${n}`, record, 100 + n);
    expect(lostOf(record)).toEqual(['Lost']);
    expect(notesOf(record)).toBe(LIMITS.replaced_values + 1);
  });

  it('L2 values of one stamp are told apart', () => {
    const [one, other] = [write('One', a, 5), write('Other', a, 5)];
    const joined = keepLostValues(joinRecords(one, other), findUnseen(one, other));
    expect(lostOf(joined)).toHaveLength(1);
    const third = write('Third', a, 5);
    expect(lostOf(keepLostValues(joinRecords(joined, third), findUnseen(joined, third)))).toHaveLength(2);
  });
});

describe('an edit by hand', () => {
  it('that a line of the same moment meets: what its writer saw is noted, also where it was told as lost', () => {
    const seen = title('Seen', base, 5);
    const moment = NOW + 9;
    const written = readDigests(digestRecord(seen));
    const line = withTitle(seen, 'Edited', NOW + 5);
    const taken = withTitle(seen, 'Edited', moment);
    // Here another edit has taken its place at that very moment, by a person who had not seen it.
    const unseen = withTitle(base, 'Other', moment);
    const known = keepLostValues(unseen, findUnseen(unseen, seen));
    expect(lostOf(known)).toEqual(['Seen']);
    const lost = [{ name: 'title', value: 'Other', stamp: moment, beaten_at: moment }];
    const noted = noteEdited(line, taken, { known, written, last: undefined, lost });
    expect(lostOf(joinRecords(known, noted))).toEqual([]);
    // Where the file of that person still showed it, and they went on from there, it is settled too.
    const last = readDigests(digestRecord(seen));
    const later = withTitle(base, 'Later', moment + 1);
    const went = noteEdited(base, later, { known, written: undefined, last, lost: [] });
    expect(lostOf(joinRecords(known, went))).toEqual([]);
    // The very same edit, taken in before, notes nothing again.
    expect(noteEdited(line, taken, { known: taken, written, last: undefined, lost: [] })).toBe(taken);
  });
});

describe('a deletion', () => {
  it('that was taken back, and another one: nothing is told of either', () => {
    const restored = restoreRecord(deleteRecord(base, NOW + 5), base, NOW + 7);
    const deleted = deleteRecord(base, NOW + 9);
    expect(findUnseen(restored, deleted)).toEqual([]);
    expect(findUnseen(deleted, restored)).toEqual([]);
  });
});

describe('F9 a key of metadata that is taken out', () => {
  const out = editRecord(base, { metadata: new Map([['k', { value: undefined }]]) }, NOW + 5);
  const set = meta('Set', base, 9);

  it('and set by a writer who did not see that: it is told, as null', () => {
    expect(valuesOf(findUnseen(out, set))).toEqual([['metadata.k', null]]);
    expect(valuesOf(findUnseen(set, out))).toEqual([['metadata.k', null]]);
  });

  it('and set by a writer who saw it is not told', () => {
    const next = meta('Next', out, 20);
    expect(findUnseen(out, next)).toEqual([]);
    expect(findUnseen(next, out)).toEqual([]);
  });

  it('is not taken out by a copy that never had it', () => {
    const more = editRecord(base, { metadata: new Map([['other', { value: 1 }]]) }, NOW + 7);
    expect(findUnseen(base, more)).toEqual([]);
    expect(findUnseen(more, base)).toEqual([]);
  });
});

describe('what an edit by hand replaced', () => {
  const seen = title('Seen', base, 5);
  const written = readDigests(digestRecord(seen));
  const how = { known: undefined, written, last: undefined, lost: [] };

  it('is noted once', () => {
    const line = withTitle(seen, 'Edited', NOW + 5);
    const noted = noteEdited(line, withTitle(seen, 'Edited', NOW + 9), how);
    expect(notesOf(noted)).toBe(1);
    expect(noteEdited(line, noted, how)).toBe(noted);
  });

  it('is not noted where it is of the same moment: the value decides which of them stands', () => {
    const line = withTitle(seen, 'Shown', NOW + 5);
    expect(notesOf(noteEdited(line, withTitle(seen, 'Edited', NOW + 5), how))).toBe(0);
  });
});

describe('a value that was replaced once, and is written again', () => {
  const once = title('Again', base, 5);
  const replaced = title('Between', once, 6);
  const again = withTitle(base, 'Again', NOW + 8);
  const edit = `seal:${digestRecord(again)}`;
  const taken = (record: TaskRecord, stamp: number): TaskRecord => ({
    ...record,
    hand: new Map([[edit, stamp]]),
  });
  const stampOf = (record: TaskRecord): number => record.fields.get('title')?.stamp ?? 0;

  it.each<[string, TaskRecord, TaskRecord, string[]]>([
    ['by a command', winnerOf(replaced), again, ['Again']],
    ['by a command, in a task that was edited by hand', winnerOf(replaced), taken(again, NOW + 7), ['Again']],
    [
      'by a command, where an edit by hand was what had been replaced',
      winnerOf(taken(replaced, stampOf(once))),
      again,
      ['Again'],
    ],
    ['F1 by hand, by another person', winnerOf(replaced), taken(again, NOW + 8), ['Again']],
    [
      'by the same edit by hand, which each copy took in at its own moment',
      winnerOf(taken(replaced, stampOf(once))),
      taken(again, NOW + 8),
      [],
    ],
  ])('%s: it is told, unless the writer of what stands saw that very one', (_, stands, falls, told) => {
    expect(valuesOf(findUnseen(stands, falls)).map(([, value]) => value)).toEqual(told);
    expect(valuesOf(findUnseen(falls, stands)).map(([, value]) => value)).toEqual(told);
  });

  function winnerOf(record: TaskRecord): TaskRecord {
    return title('Winner', record, 20);
  }
});

describe('a key of an older program, with a stamp alone', () => {
  const a = title('A', base, 5);
  const stamp = a.fields.get('title')?.stamp ?? 0;
  const key = `title@${stamp.toString(36)}`;

  it.each<[string, Json | undefined, string[]]>([
    ['of the same value: it is not told twice', 'A', ['A']],
    ['of another: both are told', 'B', ['A', 'B']],
    ['settled, whatever it was: it stays settled', undefined, []],
  ])('%s', (_, value, lost) => {
    const there = editRecord(base, { conflicts: new Map([[key, { value: 'first' }]]) }, NOW);
    const before = editRecord(there, { conflicts: new Map([[key, { value }]]) }, NOW);
    const after = keepLostValues(before, [{ name: 'title', value: 'A', stamp, beaten_at: stamp + 9 }]);
    expect(lostOf(after)).toHaveLength(lost.length);
    expect(new Set(lostOf(after))).toEqual(new Set(lost));
  });

  it('says of a value whether it is the one', () => {
    const there = editRecord(base, { conflicts: new Map([[key, { value: 'A' }]]) }, NOW);
    expect(hasLost(there, 'title', markValue('title', { value: 'A', stamp }))).toBe(true);
    expect(hasLost(there, 'title', markValue('title', { value: 'B', stamp }))).toBe(false);
  });
});

function make(name: string, k: Json, now: number): TaskRecord {
  return newRecord(
    {
      id: 'fg-a3f8',
      created_by: 'ann',
      fields: { title: name },
      assignee: null,
      state: 'todo',
      labels: [],
      dependencies: [],
      metadata: new Map([['k', k]]),
    },
    now,
  );
}

function title(value: Json, before: TaskRecord, after: number): TaskRecord {
  return editRecord(before, { fields: new Map([['title', value]]) }, NOW + after);
}

function withTitle(record: TaskRecord, value: Json, stamp: number): TaskRecord {
  return { ...record, fields: new Map([...record.fields, ['title', { value, stamp }]]) };
}

function meta(value: Json, before: TaskRecord, after: number): TaskRecord {
  return editRecord(before, { metadata: new Map([['k', { value }]]) }, NOW + after);
}

function valuesOf(lost: ReturnType<typeof findUnseen>): [string, Json][] {
  return lost.map(({ name, value }) => [name, value]);
}

function lostOf({ conflicts }: TaskRecord): Json[] {
  return [...conflicts.elements.values()].flatMap(({ value }) => (value === undefined ? [] : [value]));
}

function notesOf({ conflicts }: TaskRecord): number {
  return [...conflicts.elements.values()].filter(({ value }) => value === undefined).length;
}

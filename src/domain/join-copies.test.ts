import { describe, expect, it } from 'vitest';
import type { Json } from '#kernel/json.ts';
import { PLAIN_MADE, plainRecord } from '../../tests/support/plain-record.ts';
import { joinCopies } from './join-copies.ts';
import { keepLostValues } from './lost-values.ts';
import { digestRecord } from './record-digests.ts';
import { findUnseen } from './replaced-values.ts';
import { editRecord } from './task-changes.ts';
import type { TaskRecord } from './task-record.ts';

const NOW = PLAIN_MADE;
const base = plainRecord('one', new Map([['k', 1]]));

describe('[D1] an edit by hand that two copies took in, each at its own moment', () => {
  const early = edited(NOW + 10);
  const late = edited(NOW + 50);

  it('and that a command replaced in one of them is not told as lost, whichever moment a copy knows', () => {
    const wrote = write(early, 'command', NOW + 20);
    for (const joined of bothWays(wrote, late)) {
      // No later than it has to be, so that it beats nothing that comes after.
      expect(joined.fields.get('title')).toEqual({ value: 'command', stamp: NOW + 51 });
      expect(joined.metadata.elements.get('k')).toEqual({ value: 'command', stamp: NOW + 51 });
      expect([early, late].flatMap((copy) => findUnseen(joined, copy))).toEqual([]);
    }
  });

  it('is not told either where another edit had the same moment in one copy, and another in the other', () => {
    const wrote = write(withEdit(early, 'other', NOW + 10), 'command', NOW + 20);
    for (const at of [NOW + 30, NOW + 70]) {
      for (const joined of bothWays(wrote, withEdit(late, 'other', at)))
        expect(findUnseen(joined, late)).toEqual([]);
    }
  });

  it('and that lost in one of them is told once', () => {
    const beaten = keepLostValues(write(base, 'stands', NOW + 30), [
      { name: 'title', value: 'hand', stamp: NOW + 10, beaten_at: NOW + 30 },
    ]);
    const lost = { ...beaten, hand: early.hand };
    for (const joined of bothWays(lost, late)) expect(joined.conflicts).toEqual(lost.conflicts);
  });

  it('and that an older program settled, by its moment alone, gets no second note', () => {
    const key = `title@${(NOW + 10).toString(36)}`;
    const there = editRecord(early, { conflicts: new Map([[key, { value: 'hand' }]]) }, NOW + 11);
    const settled = editRecord(there, { conflicts: new Map([[key, { value: undefined }]]) }, NOW + 12);
    for (const joined of bothWays(settled, late))
      expect([...joined.conflicts.elements.keys()]).toEqual([key]);
  });
});

function edited(at: number): TaskRecord {
  const record: TaskRecord = {
    ...base,
    fields: new Map([...base.fields, ['title', { value: 'hand', stamp: at }]]),
    metadata: { ...base.metadata, elements: new Map([['k', { value: 'hand', stamp: at }]]) },
  };
  return withEdit(record, 'seal', at);
}

function withEdit(record: TaskRecord, seal: string, at: number): TaskRecord {
  return { ...record, hand: new Map([...(record.hand ?? []), [`${seal}:${digestRecord(record)}`, at]]) };
}

function write(record: TaskRecord, value: Json, now: number): TaskRecord {
  const changes = { fields: new Map([['title', value]]), metadata: new Map([['k', { value }]]) };
  return editRecord(record, changes, now);
}

function bothWays(a: TaskRecord, b: TaskRecord): TaskRecord[] {
  return [joinCopies(a, b), joinCopies(b, a)];
}

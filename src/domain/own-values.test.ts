import { describe, expect, it } from 'vitest';
import type { Json } from '#kernel/json.ts';
import { joinRecords } from './join-records.ts';
import { hasLost, keepLostValues, markValue } from './lost-values.ts';
import {
  continueRun,
  findReplaced,
  hasValue,
  judgeOwnValues,
  listWrites,
  type OwnRun,
} from './own-values.ts';
import { editRecord, newRecord } from './task-changes.ts';
import type { TaskRecord } from './task-record.ts';

const NOW = Date.UTC(2026, 1, 10, 9);
const base = newRecord(newTask('Fix it'), NOW);

describe('values of two clones that got one stamp', () => {
  /** A clone whose clock is behind gives its change the stamp after the task's last. */
  const [ours, theirs] = [title('Ours', base, 0), title('Theirs', base, 0)];
  const runs = runsOf(base, ours);

  it('are told apart: of the two the one that falls is lost, whichever it is', () => {
    expect(stampOf(ours)).toBe(stampOf(theirs));
    const stands = titleOf(joinRecords(ours, theirs));
    const { lost, unsure } = judgeOwnValues(ours, theirs, runs);
    expect(lost.map(({ value }) => value)).toEqual([stands === 'Ours' ? 'Theirs' : 'Ours']);
    expect(unsure).toEqual([]);
  });

  it.each<[string, TaskRecord, string[]]>([
    ['one written here before', ours, []],
    ['another', theirs, ['Theirs']],
    ['the one that it was written over', base, []],
  ])('of an earlier moment: %s', (_, copy, lost) => {
    const later = title('Later', ours, 60_000);
    const known = new Map([...runs].map(([name, run]) => [name, [...run, markOf(later)]]));
    expect(judgeOwnValues(later, copy, known).lost.map(({ value }) => value)).toEqual(lost);
  });

  it('of the moment that it was written over: another than that one is lost', () => {
    const twin = newRecord(newTask('Twin'), NOW);
    const changed = title('Changed', base, 60_000);
    const judged = (how?: { is_edited: boolean }): Json[] =>
      judgeOwnValues(changed, twin, runsOf(base, changed), how).lost.map(({ value }) => value);
    expect(judged()).toEqual(['Twin']);
    // An edited line shows its new value under the old stamp.
    expect(judged({ is_edited: true })).toEqual([]);
  });

  it('are kept beside each other, and each is known for itself', () => {
    const stamp = stampOf(ours);
    const lost = ['A', 'B'].map((value) => ({ name: 'title', value, stamp, beaten_at: stamp + 9 }));
    const one = keepLostValues(base, lost);
    expect([...one.conflicts.elements.values()].map(({ value }) => value)).toEqual(['A', 'B']);
    const has = ['A', 'B', 'C'].map((value) => hasLost(one, 'title', markValue({ value, stamp })));
    expect(has).toEqual([true, true, false]);
    expect(hasValue(ours, 'title', markValue({ value: 'Ours', stamp }))).toBe(true);
    expect(hasValue(ours, 'title', markValue({ value: 'Theirs', stamp }))).toBe(false);
    // Noted by a program that knew stamps only.
    expect(hasValue(ours, 'title', { stamp, hash: '' })).toBe(true);
  });

  it.each<[string, Json | undefined, number]>([
    ['the same value: it is not told twice', 'A', 1],
    ['another: both are told', 'B', 2],
    ['a settled one, whatever it was: it stays settled', undefined, 1],
  ])('beside a key of an older program with %s', (_, value, keys) => {
    const stamp = stampOf(ours);
    const key = `title@${stamp.toString(36)}`;
    const old = editRecord(base, { conflicts: new Map([[key, { value: 'A' }]]) }, NOW);
    const before = editRecord(old, { conflicts: new Map([[key, { value }]]) }, NOW);
    const after = keepLostValues(before, [{ name: 'title', value: 'A', stamp, beaten_at: stamp + 9 }]);
    expect(after.conflicts.elements.size).toBe(keys);
  });

  it('a conflict of another clone is settled only by a write over its very value', () => {
    const stamp = stampOf(ours);
    const conflict = (value: string): TaskRecord =>
      keepLostValues(theirs, [{ name: 'title', value, stamp, beaten_at: stamp + 9 }]);
    const later = title('Later', ours, 60_000);
    const over = runsOf(ours, later);
    expect(findReplaced(later, conflict('Ours'), over)).toHaveLength(1);
    expect(findReplaced(later, conflict('Others'), over)).toEqual([]);
  });

  it('a change within one millisecond is a write, and the run goes on', () => {
    const field = ours.fields.get('title');
    if (field === undefined) throw new Error('the record has no title');
    const again = { ...ours, fields: new Map(ours.fields).set('title', { ...field, value: 'Again' }) };
    const [write, ...more] = listWrites(ours, again);
    if (write === undefined) throw new Error('no write was seen');
    expect(more).toEqual([]);
    expect(continueRun(runs.get('title'), write)).toEqual([...(runs.get('title') ?? []), markOf(again)]);
  });
});

function newTask(text: string): Parameters<typeof newRecord>[0] {
  return {
    id: 'fg-a3f8',
    created_by: 'ann',
    fields: { title: text, description: '' },
    assignee: null,
    state: 'todo',
    labels: [],
    dependencies: [],
    metadata: new Map<string, Json>([['k', 0]]),
  };
}

function title(text: string, before: TaskRecord, after: number): TaskRecord {
  return editRecord(before, { fields: new Map([['title', text]]) }, NOW + after);
}

function runsOf(before: TaskRecord, after: TaskRecord): Map<string, OwnRun> {
  return new Map(listWrites(before, after).map((write) => [write.name, continueRun(undefined, write)]));
}

function markOf(record: TaskRecord): ReturnType<typeof markValue> {
  return markValue({ value: titleOf(record), stamp: stampOf(record) });
}

function stampOf(record: TaskRecord): number {
  return record.fields.get('title')?.stamp ?? 0;
}

function titleOf(record: TaskRecord): Json {
  return record.fields.get('title')?.value ?? null;
}

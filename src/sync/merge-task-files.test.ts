import { describe, expect, it } from 'vitest';
import { editedLine } from '#domain/edited-line.ts';
import { joinCopies } from '#domain/join-copies.ts';
import { decodeRecord, encodeRecord } from '#domain/record-codec.ts';
import { takeInEdits } from '#domain/take-in-edits.ts';
import { editRecord } from '#domain/task-changes.ts';
import type { TaskRecord } from '#domain/task-record.ts';
import type { JsonObject } from '#kernel/json.ts';
import { mergeTaskFiles } from './merge-task-files.ts';

const NOW = Date.UTC(2026, 1, 11);

describe('mergeTaskFiles', () => {
  it('keeps two tasks that one file has under one id', () => {
    const ours = [line({ created_by: 'ann', title: 'Of Ann' }), line({ created_by: 'bob', title: 'Of Bob' })];
    const theirs = [line({ id: 'fg-bbbb', title: 'Another' })];
    const titles = ['Another', 'Of Ann', 'Of Bob'];
    expect(titlesOf(mergeTaskFiles('', toFile(ours), toFile(theirs), { now: NOW }).text)).toEqual(titles);
    expect(titlesOf(mergeTaskFiles('', toFile(theirs), toFile(ours), { now: NOW }).text)).toEqual(titles);
  });

  it('joins the lines of a task where another is told apart', () => {
    const older = line({ description: 'Kept', updated_at: '2026-02-10T10:00:00.000Z' });
    const newer = line({ sprint: 4, updated_at: '2026-02-10T09:30:00.000Z' });
    const twins = [line({ id: 'fg-bbbb', created_by: 'ann' }), line({ id: 'fg-bbbb', created_by: 'bob' })];
    const { text } = mergeTaskFiles('', toFile([older, newer]), toFile(twins), { now: NOW });
    const task = toTasks(text).find(({ id }) => id === 'fg-aaaa');
    expect(task).toMatchObject({ description: 'Kept', sprint: 4 });
  });

  it('keeps what both sides changed of a task, also where two others are told apart', () => {
    const old = decodeRecord(JSON.parse(line({})) as JsonObject);
    const retitle = (title: string, after: number): string =>
      encodeRecord(editRecord(old, { fields: new Map([['title', title]]) }, old.created + after));
    const twin = (created_by: string): string => line({ id: 'fg-bbbb', created_by });
    const ours = toFile([retitle('Ours', 5), twin('ann')]);
    const theirs = toFile([retitle('Theirs', 9), twin('bob')]);
    for (const [one, other] of [
      [ours, theirs],
      [theirs, ours],
    ] as const) {
      const { text, conflicts } = mergeTaskFiles(toFile([encodeRecord(old)]), one, other, { now: NOW });
      const task = toTasks(text).find(({ id }) => id === old.id);
      expect(task).toMatchObject({ title: 'Theirs' });
      expect(text).toMatch(/"conflicts":\{"title@[^"]+":"Ours"\}/);
      expect(conflicts).toBe(1);
    }
  });

  it.each(['2026-02-10T12:00:00.000Z', '2026-02-10T09:00:00.000Z'])(
    'takes from a line that lost its stamps what its side changed, and nothing else: %s',
    (updated_at) => {
      const old = decodeRecord(JSON.parse(line({ description: 'd', labels: ['x'] })) as JsonObject);
      const edit = { fields: new Map([['title', 'Ours']]), labels: new Map([['ours', { value: true }]]) };
      const ours = toFile([encodeRecord(editRecord(old, edit, old.created + 3_600_000))]);
      const theirs = toFile([line({ description: 'Theirs', labels: ['theirs'], updated_at })]);
      for (const [one, other] of [
        [ours, theirs],
        [theirs, ours],
      ] as const) {
        const { text, conflicts } = mergeTaskFiles(toFile([encodeRecord(old)]), one, other, { now: NOW });
        expect(toTasks(text)).toMatchObject([
          { title: 'Ours', description: 'Theirs', labels: ['ours', 'theirs'] },
        ]);
        expect(conflicts).toBe(0);
      }
    },
  );

  it.each<[string, JsonObject]>([
    ['a title', { title: 'Hand' }],
    ['a label', { labels: ['hand'] }],
    ['a key that came', { mood: 1 }],
  ])('takes an edit back where Forge wrote the line anew without it: %s', (_name, values) => {
    const old = decodeRecord(JSON.parse(line({})) as JsonObject);
    const edited = { ...(JSON.parse(encodeRecord(old)) as JsonObject), ...values };
    const write = (record: TaskRecord, name: string): string =>
      encodeRecord(editRecord(record, { fields: new Map([[name, 'Written']]) }, old.created + 50));
    const base = toFile([JSON.stringify(edited)]);
    const ours = toFile([write(takeIn(old, edited), 'parent_id')]);
    const theirs = toFile([write(old, 'description')]);
    for (const [one, other] of [
      [ours, theirs],
      [theirs, ours],
    ] as const) {
      const [task] = toTasks(mergeTaskFiles(base, one, other, { now: NOW }).text);
      expect({ mood: null, ...task }).toMatchObject({ title: 'Task', labels: [], mood: null });
      expect(task).toMatchObject({ description: 'Written', parent_id: 'Written' });
    }
  });

  it('takes from a line that was added without stamps only what it changed of the line before it', () => {
    const old = decodeRecord(JSON.parse(line({})) as JsonObject);
    const edit = {
      labels: new Map([['ours', { value: true }]]),
      metadata: new Map([['k', { value: 1 }]]),
    };
    const base = toFile([encodeRecord(old)]);
    const ours = toFile([encodeRecord(editRecord(old, edit, old.created + 3_600_000))]);
    const empty = { labels: [], metadata: {}, dependencies: [] };
    const added = [
      line({ ...empty, title: 'First', updated_at: '2026-02-10T11:00:00.000Z' }),
      line({ ...empty, title: 'First', description: 'Second', updated_at: '2026-02-10T12:00:00.000Z' }),
    ];
    for (const theirs of [toFile([encodeRecord(old), ...added]), toFile(added)])
      for (const [one, other] of [
        [ours, theirs],
        [theirs, ours],
      ] as const) {
        const { text, conflicts } = mergeTaskFiles(base, one, other, { now: NOW });
        expect(toTasks(text)).toMatchObject([
          { title: 'First', description: 'Second', labels: ['ours'], metadata: { k: 1 } },
        ]);
        expect(conflicts).toBe(0);
      }
  });

  it('still goes by the time in a file with several lines of a task', () => {
    const first = line({ updated_at: '2026-02-10T10:00:00.000Z' });
    const second = line({ title: 'Second', updated_at: '2026-02-10T11:00:00.000Z' });
    const third = line({ title: 'Third', updated_at: '2026-02-10T12:00:00.000Z' });
    const [base, ours] = [toFile([first, second]), toFile([first, second, third])];
    const theirs = toFile([first, second, line({ id: 'fg-bbbb', title: 'Other' })]);
    const { text } = mergeTaskFiles(base, ours, theirs, { now: NOW });
    expect(titlesOf(text)).toEqual(['Other', 'Third']);
  });
});

function line(more: Readonly<Record<string, unknown>>): string {
  const created_at = '2026-02-10T09:00:00.000Z';
  return JSON.stringify({
    id: 'fg-aaaa',
    title: 'Task',
    status: 'open',
    created_at,
    created_by: 'ann',
    ...more,
  });
}

/** The task with the edit of its line. */
function takeIn(task: TaskRecord, json: JsonObject): TaskRecord {
  const edited = editedLine(JSON.stringify(json), json, decodeRecord(json));
  if (edited === undefined) throw new Error('not edited');
  return joinCopies(task, takeInEdits(edited, { known: task, now: task.created + 20 }).record);
}

function toFile(lines: readonly string[]): string {
  return lines.map((text) => `${text}\n`).join('');
}

function toTasks(text: string): { id: string; title: string }[] {
  const lines = text.split('\n').filter((one) => one !== '');
  return lines.map((one) => JSON.parse(one) as { id: string; title: string });
}

function titlesOf(text: string): string[] {
  return toTasks(text)
    .map(({ title }) => title)
    .sort();
}

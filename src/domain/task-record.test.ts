import { describe, expect, it } from 'vitest';
import { toIso } from '#kernel/clock.ts';
import { decodeRecord } from './record-codec.ts';
import {
  dependencyKey,
  fieldValue,
  isDeleted,
  lastStamp,
  splitDependencyKey,
  type TaskRecord,
} from './task-record.ts';

const NOW = Date.UTC(2026, 1, 10, 9);

describe('a dependency key', () => {
  it.each([
    ['fg-b2c1', 'blocks'],
    ['fg-b2c1', 'discovered-from'],
    ['other:fg-b2c1', 'related'],
    ['', 'blocks'],
  ])('of %j and %s splits into the same parts', (id, type) => {
    expect(splitDependencyKey(dependencyKey(id, type))).toEqual({ id, type });
  });
});

describe('the latest stamp of a record', () => {
  const late = NOW + 7;
  const element = new Map([['x', { value: true, stamp: late }]]);
  const removed = new Map([['x', { value: undefined, stamp: late }]]);

  it.each<[string, (record: TaskRecord) => Partial<TaskRecord>]>([
    [
      'a field',
      (record) => ({ fields: new Map([...record.fields, ['title', { value: 'y', stamp: late }]]) }),
    ],
    [
      'an unknown key',
      (record) => ({ fields: new Map([...record.fields, ['sprint', { value: null, stamp: late }]]) }),
    ],
    ['the life', (record) => ({ life: { ...record.life, written: late } })],
    ['a label', (record) => ({ labels: { ...record.labels, elements: element } })],
    ['a removed dependency', (record) => ({ dependencies: { ...record.dependencies, elements: removed } })],
    ['the floor of the metadata', (record) => ({ metadata: { ...record.metadata, floor: late } })],
    [
      'a comment',
      () => ({
        comments: new Map([
          ['c-1', { id: 'c-1', author: 'ann', body: 'x', reply_to: null, created_at: toIso(late) }],
        ]),
      }),
    ],
    ['the creation', () => ({ created_at: toIso(late), created: late })],
  ])('is that of %s', (_name, change) => {
    const record = task();
    expect(lastStamp(record)).toBe(NOW);
    expect(lastStamp({ ...record, ...change(record) })).toBe(late);
  });
});

describe('a field', () => {
  it('that nobody wrote has its default, or null where it has none', () => {
    const record = { ...task(), fields: new Map() };
    expect(
      ['title', 'priority', 'type', 'parent_id', 'sprint', 'constructor', '__proto__'].map((name) =>
        fieldValue(record, name),
      ),
    ).toEqual(['', 2, 'task', null, null, null, null]);
  });

  it('deleted_at makes a record a deleted one', () => {
    expect(isDeleted(task())).toBe(false);
    expect(isDeleted(task({ deleted_at: null }))).toBe(false);
    expect(isDeleted(task({ deleted_at: toIso(NOW) }))).toBe(true);
  });
});

function task(more: Record<string, string | null> = {}): TaskRecord {
  return decodeRecord({
    id: 'fg-a3f8',
    title: 'x',
    status: 'open',
    created_at: toIso(NOW),
    created_by: 'ann',
    ...more,
  });
}

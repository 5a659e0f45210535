import { describe, expect, it } from 'vitest';
import { isForgeError } from '#kernel/errors.ts';
import type { Json } from '#kernel/json.ts';
import { decodeRecord, encodeRecord } from './record-codec.ts';
import { digestRecord } from './record-digests.ts';
import { decodeStamps, encodeStamps } from './record-stamps.ts';
import { claimRecord, editRecord, moveRecord, newRecord } from './task-changes.ts';
import type { TaskRecord } from './task-record.ts';

const NOW = Date.UTC(2026, 1, 10, 9);
const stampsOf = (record: TaskRecord): object => {
  const { updated_at: _, ...stamps } = encodeStamps(record);
  return stamps;
};
const at = (ms: number): string => (NOW + ms).toString(36);

describe('the stamps of a line', () => {
  it('are none while created_at says them all', () => {
    expect(stampsOf(task())).toEqual({});
  });

  it('have the digests of the values beside them', () => {
    expect(encodeStamps(task())).toEqual({ updated_at: digestRecord(task()) });
  });

  it('list a changed field alone; the others have the stamp of created_at', () => {
    const edited = editRecord(task(), { fields: new Map([['title', 'y']]) }, NOW + 5);
    expect(stampsOf(edited)).toEqual({ title: at(5) });
  });

  it('put the stamp that most fields share under the empty name', () => {
    const record = decodeRecord({ ...LINE, updated_at: '2026-02-10T09:00:07.000Z' });
    expect(stampsOf(claimRecord(record, 'bob', NOW + 9_000))).toEqual({
      '': at(7_000),
      status: `1.${at(9_000)}`,
    });
  });

  it('write the life register as n, began and, where it differs, written', () => {
    const claimed = claimRecord(task(), 'bob', NOW + 5);
    expect(stampsOf(claimed)).toEqual({ status: `1.${at(5)}` });
    const released = moveRecord(claimed, { status: 'open', state: 'todo', assignee: null }, NOW + 8);
    expect(stampsOf(released)).toEqual({ status: `1.${at(5)}.${at(8)}` });
    const parked = moveRecord(task(), { status: 'open', state: 'backlog', assignee: null }, NOW + 2);
    expect(stampsOf(parked)).toEqual({ status: `0.0.${at(2)}` });
  });

  it('are the same whatever the order of the fields in memory, also when two stamps are equally common', () => {
    const half = new Map<string, Json>([
      ['title', 'y'],
      ['type', 'bug'],
      ['priority', 0],
      ['sprint', 7],
      ['description', 'y'],
    ]);
    const record = editRecord(task(), { fields: half }, NOW + 5);
    const other = { ...record, fields: new Map([...record.fields].reverse()) };
    expect(encodeRecord(other)).toBe(encodeRecord(record));
    expect(Object.keys(stampsOf(record))).toEqual(['description', 'priority', 'sprint', 'title', 'type']);
  });

  it.each<[string, Json]>([
    ['an element removed at the very time of the floor', { labels: [at(0), { gone: `-${at(0)}` }] }],
    [
      'the same under a common stamp that is not the creation',
      { '': at(9), status: `0.0.${at(9)}`, labels: [at(9), { gone: `-${at(9)}` }] },
    ],
    ['a life that began without a number', { status: `0.${at(0)}` }],
    ['floors of their own', { labels: at(3), dependencies: at(4), metadata: at(5) }],
  ])('keep what other replicas may hold: %s', (_name, stamps) => {
    const record = decodeRecord({ ...LINE, updated_at: '2026-02-10T09:00:00.009Z', _v: stamps });
    expect(decodeRecord(JSON.parse(encodeRecord(record)) as Json)).toStrictEqual(record);
  });

  it('write removed elements as negative and leave out those as old as the floor', () => {
    const edits = new Map([
      ['core', { value: undefined }],
      ['ui', { value: true }],
    ]);
    expect(stampsOf(editRecord(task(['core', 'old']), { labels: edits }, NOW + 3))).toEqual({
      labels: [at(0), { core: `-${at(3)}`, ui: at(3) }],
    });
  });
});

describe('decodeStamps', () => {
  const times = { created: NOW, updated: NOW + 9 };

  it('takes updated_at for everything in a line without stamps', () => {
    const stamps = decodeStamps(undefined, times);
    expect(stamps.life).toEqual({ n: 0, began: 0, written: NOW + 9 });
    expect(stamps.field('title')).toBe(NOW + 9);
    expect(stamps.map('labels')).toEqual({ floor: NOW + 9, listed: new Map() });
  });

  it('takes created_at for what is not listed, or the stamp under the empty name', () => {
    expect(decodeStamps({}, times).field('title')).toBe(NOW);
    expect(decodeStamps({ '': at(4) }, times).field('title')).toBe(NOW + 4);
    expect(decodeStamps({ '': at(4) }, times).map('metadata').floor).toBe(NOW + 4);
    expect(decodeStamps({ '': at(4), metadata: at(6) }, times).map('metadata').floor).toBe(NOW + 6);
  });

  it('finds nothing in the prototype of the object it reads', () => {
    expect(decodeStamps({}, times).field('constructor')).toBe(NOW);
    expect(decodeStamps({}, times).field('__proto__')).toBe(NOW);
  });

  it.each<[string, Json]>([
    ['null', null],
    ['a number', 5],
    ['a text', 'x'],
    ['a list', []],
    ['a number for the common stamp', { '': 5 }],
    ['signs in the common stamp', { '': '!' }],
    ['a negative common stamp', { '': '-1' }],
    ['an empty stamp', { title: '' }],
    ['capitals', { title: 'ML9' }],
    ['spaces', { title: ' 1' }],
    ['a fraction', { title: '1.5' }],
    ['a stamp in the year 2200', { title: (7_258_118_400_000).toString(36) }],
    ['a stamp of twelve digits', { title: '000000000001' }],
    ['a list for a field', { title: ['1'] }],
    ['null for a field', { title: null }],
    ['a number for life', { status: 5 }],
    ['life without began', { status: '1' }],
    ['an empty life', { status: '' }],
    ['life with too many parts', { status: '1.2.3.4' }],
    ['life with signs', { status: '1.!.3' }],
    ['life with an empty part', { status: '1.2.' }],
    ['an n that no number can hold', { status: 'zzzzzzzzzzz.1' }],
    ['a number for a map', { labels: 5 }],
    ['an object for a map', { labels: {} }],
    ['a map without its elements', { labels: ['1'] }],
    ['null for the elements', { labels: ['1', null] }],
    ['a list for the elements', { labels: ['1', []] }],
    ['a number for the floor', { labels: [5, {}] }],
    ['a negative floor', { labels: ['-1', {}] }],
    ['a number for an element', { labels: ['1', { a: 5 }] }],
    ['two signs before an element', { labels: ['1', { a: '--1' }] }],
    ['only a sign for an element', { metadata: ['1', { a: '-' }] }],
    ['an element in the year 2200', { dependencies: ['1', { a: (7_258_118_400_000).toString(36) }] }],
    ['a bad stamp of a key that the line lacks', { sprint: 'NO' }],
  ])('refuses %s', (_name, garbage) => {
    const error = errorOf(() => decodeRecord({ ...LINE, _v: garbage }));
    expect(isForgeError(error) && error.code).toBe('invalid_input');
    expect(error).toHaveProperty('message', expect.stringContaining('Not a task: the stamps "_v" hold'));
  });

  it('reads the last millisecond before 2200', () => {
    const last = 7_258_118_399_999;
    const record = decodeRecord({ ...LINE, _v: { title: last.toString(36) } });
    expect(record.fields.get('title')?.stamp).toBe(last);
    expect(decodeRecord(JSON.parse(encodeRecord(record)) as Json)).toStrictEqual(record);
  });
});

const LINE = {
  id: 'fg-a3f8',
  title: 'x',
  status: 'open',
  created_at: '2026-02-10T09:00:00.000Z',
  created_by: 'ann',
} as const;

function task(labels: readonly string[] = []): TaskRecord {
  const fields = { title: 'x' };
  const metadata = new Map<string, Json>();
  return newRecord(
    {
      id: 'fg-a3f8',
      created_by: 'ann',
      fields,
      assignee: null,
      state: 'todo',
      labels,
      dependencies: [],
      metadata,
    },
    NOW,
  );
}

function errorOf(run: () => unknown): unknown {
  try {
    run();
  } catch (error) {
    return error;
  }
  return undefined;
}

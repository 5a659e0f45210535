import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Task } from '#contract/task.ts';
import { toIso } from '#kernel/clock.ts';
import { isForgeError } from '#kernel/errors.ts';
import { parseJson, type Json, type JsonObject } from '#kernel/json.ts';
import { emptyRecord } from '../../tests/support/old-deletion.ts';
import { history, replay, WORDS } from '../../tests/support/record-steps.ts';
import {
  decodeRecord,
  encodeMetadata,
  encodeRecord,
  listComments,
  listDependencies,
  listLabels,
  unknownKeys,
} from './record-codec.ts';
import { isSealed } from './record-seal.ts';
import {
  claimRecord,
  closeRecord,
  commentRecord,
  editRecord,
  newRecord,
  restoreRecord,
} from './task-changes.ts';
import { fieldValue, isDeleted, lastStamp, type TaskRecord } from './task-record.ts';
import { toTask } from './to-task.ts';

const NOW = Date.UTC(2026, 1, 10, 9);
/** Seconds on an idle machine; a busy one must not fail it. */
const LONG = { timeout: 60_000 };

describe('a line read back', () => {
  it('is the record it was written from, byte for byte, after any history of the task', LONG, () => {
    fc.assert(
      fc.property(history, (story) => {
        const { last } = replay(story);
        const line = encodeRecord(last);
        const again = decodeRecord(JSON.parse(line) as Json);
        // `toStrictEqual` takes ten times as long, so it only words the failure.
        if (!isDeepStrictEqual(again, last)) throw new Error(`Not what was written:\n${diff(again, last)}`);
        expect(encodeRecord(again)).toBe(line);
      }),
      { numRuns: 8_000 },
    );
  });

  it('shows the same task on every surface, in the form that was promised', () => {
    fc.assert(
      fc.property(history, (story) => {
        const { last } = replay(story);
        const task = toTask(last, 3);
        expect(toTask(read(encodeRecord(last)), 3)).toEqual(task);
        expect(Task.safeParse(task).error).toBeUndefined();
      }),
      { numRuns: 500 },
    );
  });

  it('is one line of JSON that other tools read, with updated_at the latest stamp', () => {
    fc.assert(
      fc.property(history, (story) => {
        const { last } = replay(story);
        const line = encodeRecord(last);
        expect(line).not.toMatch(/[\n\r]/);
        expect(JSON.parse(line)).toMatchObject({
          id: last.id,
          status: last.life.status,
          updated_at: toIso(lastStamp(last)),
        });
      }),
      { numRuns: 500 },
    );
  });
});

describe("the seed's example lines", () => {
  const lines = readFileSync(join(import.meta.dirname, 'record-codec.fixture.jsonl'), 'utf8')
    .trim()
    .split('\n');

  it('are four', () => {
    expect(lines).toHaveLength(4);
  });

  it.each(lines.map((line) => [(JSON.parse(line) as { id: string }).id, line]))(
    '%s keeps all its data, and gets but a _v',
    (_id, line) => {
      const written = encodeRecord(read(line));
      // Labels are a set and come out sorted; all else stays where it was.
      const expected = JSON.parse(line) as { labels: string[] };
      const { _v, ...shown } = JSON.parse(written) as Record<string, unknown>;
      expect(shown).toEqual({ ...expected, labels: expected.labels.toSorted() });
      expect(Object.keys(shown)).toEqual(Object.keys(expected));
      expect(_v).toBeDefined();
      expect(encodeRecord(read(written))).toBe(written);
    },
  );

  it('are stamped by their updated_at throughout, as last-write-wins wants it', () => {
    const record = read(lines[0] ?? '');
    const stamp = Date.UTC(2026, 1, 10, 14, 22);
    expect(record.life).toMatchObject({ n: 0, began: 0, written: stamp });
    expect([...record.fields.values()].map((field) => field.stamp)).toEqual(Array<number>(6).fill(stamp));
    expect(record.labels).toEqual({
      floor: stamp,
      elements: new Map([
        ['core', { value: true, stamp }],
        ['init', { value: true, stamp }],
      ]),
    });
    expect(record.dependencies.floor).toBe(stamp);
    expect(record.metadata.floor).toBe(stamp);
  });

  it('[S58] mean done, in_progress and todo', () => {
    expect(lines.map((line) => read(line).life.state)).toEqual(['done', 'done', 'in_progress', 'todo']);
  });
});

describe('the canonical line', () => {
  const full = (): TaskRecord => {
    const born = newRecord(
      {
        id: 'fg-a3f8',
        created_by: 'ann',
        fields: {
          title: 'Fix it',
          description: 'Now',
          priority: 1,
          type: 'bug',
          parent_id: 'fg-e5a2',
          github_issue: 12,
        },
        assignee: null,
        state: 'todo',
        labels: ['ui', 'core'],
        dependencies: ['fg-c9d1:blocks', 'fg-b2c1:related', 'fg-b2c1:blocks'],
        metadata: new Map<string, Json>([
          ['z', { b: 1, a: [{ d: 1, c: 2 }] }],
          ['10', 1],
          ['9', 2],
        ]),
      },
      NOW,
    );
    const commented = commentRecord(born, comment('c-1', NOW + 1));
    const tagged = editRecord(
      commented,
      {
        fields: new Map<string, Json>([
          ['x-b', { y: 1, x: 2 }],
          ['x-a', 1],
        ]),
      },
      NOW + 2,
    );
    return closeRecord(claimRecord(tagged, 'bob', NOW + 3), 'duplicate of fg-b2c1', NOW + 4);
  };

  it('has its keys in a fixed order and every map sorted', () => {
    const line = encodeRecord(full());
    expect(
      line.replace(
        /"updated_at":"[0-9a-z.]+","_v":"[0-9a-z]{1,7}"}}$/,
        '"updated_at":"DIGESTS","_v":"SEAL"}}',
      ),
    ).toBe(
      [
        '{"id":"fg-a3f8","title":"Fix it","description":"Now","status":"closed"',
        '"close_reason":"duplicate of fg-b2c1","priority":1,"type":"bug","assignee":"bob","parent_id":"fg-e5a2"',
        '"dependencies":[{"id":"fg-b2c1","type":"blocks"},{"id":"fg-b2c1","type":"related"},{"id":"fg-c9d1","type":"blocks"}]',
        '"labels":["core","ui"],"github_issue":12',
        '"created_at":"2026-02-10T09:00:00.000Z","created_by":"ann","updated_at":"2026-02-10T09:00:00.004Z","closed_at":"2026-02-10T09:00:00.004Z"',
        '"metadata":{"10":1,"9":2,"z":{"a":[{"c":2,"d":1}],"b":1}}',
        '"comments":[{"id":"c-1","author":"ann","body":"Hello","reply_to":null,"created_at":"2026-02-10T09:00:00.001Z"}]',
        `"x-a":1,"x-b":{"x":2,"y":1}`,
        `"_v":{"status":"2.${(NOW + 4).toString(36)}","x-a":"${(NOW + 2).toString(36)}","x-b":"${(NOW + 2).toString(36)}","updated_at":"DIGESTS","_v":"SEAL"}}`,
      ].join(','),
    );
    expect(isSealed(line)).toBe(true);
  });

  it('is the same whatever the order of keys and elements in the line it was read from', () => {
    const line = JSON.parse(encodeRecord(full())) as Record<string, Json>;
    const shuffled = reverse(line) as Record<string, Json>;
    expect(Object.keys(shuffled)).toEqual(Object.keys(line).toReversed());
    for (const list of ['labels', 'dependencies', 'comments'])
      shuffled[list] = (line[list] as Json[]).toReversed();
    expect(encodeRecord(decodeRecord(shuffled))).toBe(encodeRecord(full()));
  });

  it('is the same whatever the order in which a comment was put together', () => {
    const born = task();
    const { id, author, body, reply_to, created_at } = comment('c-1', NOW + 1);
    const one = commentRecord(born, { id, author, body, reply_to, created_at });
    const other = commentRecord(born, { created_at, reply_to, body, author, id });
    expect(encodeRecord(other)).toBe(encodeRecord(one));
  });

  it('names the state only where the status does not say it', () => {
    expect(encodeRecord(task())).not.toContain('"state"');
    expect(encodeRecord(closeRecord(task(), 'wontfix', NOW))).not.toContain('"state"');
    const parked = { ...task(), life: { ...task().life, state: 'backlog' } };
    expect(encodeRecord(parked)).toContain('"status":"open","state":"backlog","priority"');
    expect(read(encodeRecord(parked)).life.state).toBe('backlog');
  });

  it.each([
    ['open', undefined, 'todo'],
    ['in_progress', undefined, 'in_progress'],
    ['closed', undefined, 'done'],
    ['closed', 'Merged', 'done'],
    ['closed', 'Cancelled by ann', 'cancelled'],
    ['closed', 'duplicate of fg-b2c1', 'cancelled'],
    ['closed', 'wontfix', 'cancelled'],
    ['closed', 'not a duplicate', 'done'],
  ])('without a state, %s with the reason %s is %s', (status, close_reason, state) => {
    const reason = close_reason === undefined ? {} : { close_reason };
    expect(decodeRecord({ ...LINE, status, ...reason }).life.state).toBe(state);
  });

  it('keeps _v small, of a new task and of one that was claimed and closed', () => {
    const born = editRecord(task(), { fields: new Map([['description', 'x'.repeat(463)]]) }, NOW);
    const plain = newRecord({ ...NEW_TASK, fields: { title: 'Fix it', description: 'x'.repeat(463) } }, NOW);
    expect(encodeRecord(plain)).toMatch(/,"_v":\{"updated_at":"[0-9a-z]{11}","_v":"[0-9a-z]{1,7}"}}$/);
    const closed = encodeRecord(
      closeRecord(claimRecord(born, 'worker-1', NOW + 60_000), 'done', NOW + 90_000),
    );
    expect(Buffer.byteLength(closed)).toBeGreaterThan(850);
    expect(Buffer.byteLength(closed)).toBeLessThan(930);
    const stamps = closed.slice(closed.indexOf(',"_v"'), -1);
    expect(Buffer.byteLength(stamps) / 890).toBeLessThan(0.12);
  });
});

describe('words that break careless maps', () => {
  it.each(WORDS.map((word) => [word]))(
    '%j works as label, metadata key and unknown key, added, removed and added again',
    (word) => {
      const present = new Map([[word, { value: true }]]);
      const absent = new Map([[word, { value: undefined }]]);
      const unknown = ['status', 'labels', 'id'].includes(word) ? `x-${word}` : word;
      let record = editRecord(
        task(),
        { labels: present, metadata: present, fields: new Map([[unknown, 1]]) },
        NOW + 1,
      );
      expect(listLabels(read(encodeRecord(record)))).toEqual([word]);
      expect(JSON.parse(encodeMetadata(read(encodeRecord(record))))).toEqual(
        JSON.parse(`{${JSON.stringify(word)}:true}`),
      );
      expect(fieldValue(read(encodeRecord(record)), unknown)).toBe(1);
      record = editRecord(
        record,
        { labels: absent, metadata: absent, fields: new Map([[unknown, null]]) },
        NOW,
      );
      expect(read(encodeRecord(record))).toStrictEqual(record);
      expect(listLabels(record)).toEqual([]);
      record = editRecord(read(encodeRecord(record)), { labels: present, metadata: present }, NOW);
      expect(read(encodeRecord(record))).toStrictEqual(record);
      expect(listLabels(record)).toEqual([word]);
    },
  );
});

describe('keys that this version does not know', () => {
  const LINE_OF_TOMORROW = `{"id":"fg-a3f8","title":"x","status":"open","created_at":"2026-02-10T09:00:00.000Z","created_by":"ann","sprint":{"n":[1,null]},"__proto__":{"admin":true},"estimate":null,"":"empty"}`;

  it('are kept', () => {
    const record = read(LINE_OF_TOMORROW);
    expect(unknownKeys(record)).toEqual(['', '__proto__', 'estimate', 'sprint']);
    expect(encodeRecord(record)).toContain(
      ',"":"empty","__proto__":{"admin":true},"estimate":null,"sprint":{"n":[1,null]},"_v":',
    );
  });

  it('are kept when the task is edited, claimed and closed', () => {
    const edited = editRecord(read(LINE_OF_TOMORROW), { fields: new Map([['title', 'y']]) }, NOW + 9);
    const line = encodeRecord(closeRecord(claimRecord(edited, 'bob', NOW), 'done', NOW));
    expect(line).toContain(
      ',"":"empty","__proto__":{"admin":true},"estimate":null,"sprint":{"n":[1,null]},"_v":',
    );
  });

  it('stay empty after a deletion of earlier versions, and the deletion stays undone after a restore', () => {
    // A value that left the line without its stamp would come back with any older copy of the task.
    const before = read(LINE_OF_TOMORROW);
    const deleted = emptyRecord(before, NOW + 5);
    expect(read(encodeRecord(deleted)).fields.get('sprint')).toEqual({ value: null, stamp: NOW + 5 });
    const content = new Map<string, Json>([
      ['description', 'd'],
      ['priority', 0],
      ['type', 'bug'],
      ['github_issue', 1],
      ['parent_id', 'fg-e5a2'],
    ]);
    const restored = restoreRecord(deleted, editRecord(before, { fields: content }, NOW + 1), NOW + 7);
    expect(read(encodeRecord(restored)).fields.get('deleted_at')).toEqual({ value: null, stamp: NOW + 7 });
    expect(isDeleted(read(encodeRecord(restored)))).toBe(false);
  });
});

describe('what belongs to a local replica alone', () => {
  it('is not read, and so never written', () => {
    const line = encodeRecord(task());
    const local = decodeRecord({ ...(JSON.parse(line) as JsonObject), _local: [3, 1] });
    expect(encodeRecord(local)).toBe(line);
    const stamped = JSON.parse(line) as { _v: JsonObject };
    const listed = { ...stamped, _v: { ...stamped._v, _local: 'mwiampbw' } } as JsonObject;
    expect(encodeRecord(decodeRecord(listed))).toBe(line);
  });
});

describe('a line without what says which task it is', () => {
  it.each(['id', 'created_at', 'created_by'])('is refused with what to write: %s', (key) => {
    const { [key]: _missing, ...line } = JSON.parse(encodeRecord(task())) as JsonObject;
    expect(() => decodeRecord(line)).toThrow(`it has no "${key}"; write`);
  });
});

describe('a line that somebody edited by hand', () => {
  const base = editRecord(
    task(),
    {
      labels: new Map([
        ['ui', { value: true }],
        ['core', { value: true }],
      ]),
    },
    NOW + 1,
  );
  const removed = editRecord(base, { labels: new Map([['ui', { value: undefined }]]) }, NOW + 2);

  it('is believed when it shows a label that was removed before', () => {
    const line = { ...(JSON.parse(encodeRecord(removed)) as JsonObject), labels: ['core', 'ui'] };
    const record = decodeRecord(line);
    expect(listLabels(record)).toEqual(['core', 'ui']);
    expect(record.labels.elements.get('ui')).toEqual({ value: true, stamp: NOW + 2 });
  });

  it('is believed when it lacks a label, and keeps the stamp that tells it from an older line', () => {
    const line = { ...(JSON.parse(encodeRecord(base)) as JsonObject), labels: ['core'] };
    const record = decodeRecord(line);
    expect(listLabels(record)).toEqual(['core']);
    expect(record.labels.elements.get('ui')).toEqual({ value: undefined, stamp: NOW + 1 });
  });
});

describe('lists of a record', () => {
  it('are sorted: labels by code unit, dependencies by id then type, comments by time then id', () => {
    const record = read(
      JSON.stringify({
        ...LINE,
        labels: ['b', 'é', 'a', 'B', 'a'],
        dependencies: [
          { id: 'fg-b', type: 'related' },
          { id: 'fg-a.1', type: 'blocks' },
          { id: 'fg-b', type: 'blocks' },
        ],
        comments: [comment('c-9', NOW + 2), comment('c-2', NOW + 1), comment('c-1', NOW + 2)],
      }),
    );
    expect(listLabels(record)).toEqual(['B', 'a', 'b', 'é']);
    expect(listDependencies(record)).toEqual([
      { id: 'fg-a.1', type: 'blocks' },
      { id: 'fg-b', type: 'blocks' },
      { id: 'fg-b', type: 'related' },
    ]);
    expect(listComments(record).map(({ id }) => id)).toEqual(['c-2', 'c-1', 'c-9']);
  });
});

const LINE = {
  id: 'fg-a3f8',
  title: 'x',
  status: 'open',
  created_at: '2026-02-10T09:00:00.000Z',
  created_by: 'ann',
} as const;

describe('lines that are not tasks are refused', () => {
  it('while the line they are made from is one', () => {
    expect(read(JSON.stringify(LINE)).fields.get('title')).toEqual({ value: 'x', stamp: NOW });
  });

  it.each(['null', 'true', '5', '"fg-a3f8"', '[]', '[{"id":"fg-a3f8"}]', '{}'])('%s', (text) => {
    expect(codeOf(() => read(text))).toBe('invalid_input');
  });

  it.each<[string, Json]>([
    ['id', null],
    ['id', 5],
    ['created_at', null],
    ['created_at', 1_770_714_000_000],
    ['created_at', 'soon'],
    ['created_at', 'task 5'],
    ['created_at', '2200-01-01T00:00:00.000Z'],
    ['created_by', null],
    ['created_by', { name: 'ann' }],
    ['updated_at', 'later'],
    ['updated_at', 1_770_714_000],
    ['updated_at', '9999-12-31T00:00:00Z'],
    ['status', null],
    ['status', 'done'],
    ['status', 'constructor'],
    ['status', ['open']],
    ['state', 5],
    ['title', 5],
    ['title', ['x']],
    ['description', {}],
    ['priority', 5],
    ['priority', -1],
    ['priority', 1.5],
    ['priority', '2'],
    ['type', 5],
    ['type', 'chore'],
    ['type', 'constructor'],
    ['assignee', 5],
    ['close_reason', ['x']],
    ['closed_at', 5],
    ['parent_id', 5],
    ['parent_id', 'no id'],
    ['parent_id', ''],
    ['github_issue', '12'],
    ['github_issue', 1.5],
    ['labels', 'core'],
    ['labels', { core: true }],
    ['labels', [5]],
    ['labels', [null]],
    ['dependencies', {}],
    ['dependencies', ['fg-b2c1']],
    ['dependencies', [null]],
    ['dependencies', [{ id: 'fg-b2c1' }]],
    ['dependencies', [{ id: 'fg-b2c1', type: 'toString' }]],
    ['dependencies', [{ id: 5, type: 'blocks' }]],
    ['metadata', []],
    ['metadata', 'x'],
    ['metadata', 5],
    ['comments', {}],
    ['comments', ['x']],
    ['comments', [null]],
    ['comments', [{ id: 'c-1', author: 'ann', created_at: '2026-02-10T09:00:00.000Z' }]],
    ['comments', [{ id: 'c-1', author: 'ann', body: 'x', created_at: 'soon' }]],
    [
      'comments',
      [{ id: 'c-1', author: 'ann', body: 'x', created_at: '2026-02-10T09:00:00.000Z', reply_to: 5 }],
    ],
  ])('%s: %j', (key, value) => {
    expect(codeOf(() => decodeRecord({ ...LINE, [key]: value }))).toBe('invalid_input');
  });

  it('with the reason and the id, where it has one', () => {
    expect(() => decodeRecord({ ...LINE, status: 'done' })).toThrow(
      'Not a task: "status" is not open, in_progress or closed',
    );
    const error = errorOf(() => decodeRecord({ ...LINE, status: 'done' }));
    expect(isForgeError(error) && error.details).toEqual({ id: 'fg-a3f8' });
  });

  it.each(Object.keys(LINE).filter((key) => key !== 'title'))('without %s', (key) => {
    const line = Object.fromEntries(Object.entries(LINE).filter(([name]) => name !== key));
    expect(codeOf(() => decodeRecord(line))).toBe('invalid_input');
  });
});

describe('a line with only what a task must have', () => {
  it('gets the defaults', () => {
    expect(toTask(decodeRecord({ ...LINE, labels: null, metadata: null, priority: null }), 1)).toEqual({
      id: 'fg-a3f8',
      title: 'x',
      description: '',
      status: 'open',
      state: 'todo',
      priority: 2,
      type: 'task',
      assignee: null,
      parent_id: null,
      dependencies: [],
      labels: [],
      github_issue: null,
      created_at: '2026-02-10T09:00:00.000Z',
      created_by: 'ann',
      updated_at: '2026-02-10T09:00:00.000Z',
      closed_at: null,
      metadata: {},
      version: 1,
    });
  });

  it('keeps created_at word for word, because it is part of the identity', () => {
    const record = decodeRecord({ ...LINE, created_at: '2026-02-10T10:00:00+01:00' });
    expect(record.created_at).toBe('2026-02-10T10:00:00+01:00');
    expect(encodeRecord(record)).toContain('"created_at":"2026-02-10T10:00:00+01:00"');
    expect(encodeRecord(record)).toContain('"updated_at":"2026-02-10T09:00:00.000Z"');
  });

  it('may be older than 1970', () => {
    const record = decodeRecord({ ...LINE, created_at: '1955-11-05T06:00:00.000Z', _v: {} });
    const most = new Map<string, Json>([
      ['title', 'y'],
      ['description', 'y'],
      ['priority', 0],
      ['type', 'bug'],
      ['parent_id', 'y'],
    ]);
    const edited = editRecord(record, { fields: most }, NOW);
    expect(read(encodeRecord(edited))).toStrictEqual(edited);
  });
});

const NEW_TASK = {
  id: 'fg-a3f8',
  created_by: 'orchestrator',
  fields: { title: 'Fix it' },
  assignee: null,
  state: 'todo',
  labels: [],
  dependencies: [],
  metadata: new Map<string, Json>(),
} as const;

function task(): TaskRecord {
  return newRecord(NEW_TASK, NOW);
}

function comment(
  id: string,
  at: number,
): { id: string; author: string; body: string; reply_to: null; created_at: string } {
  return { id, author: 'ann', body: 'Hello', reply_to: null, created_at: toIso(at) };
}

function diff(record: TaskRecord, expected: TaskRecord): string {
  return String(errorOf(() => expect(record).toStrictEqual(expected)));
}

/** As the store reads a line. */
function read(line: string): TaskRecord {
  return decodeRecord(parseJson(line, 'The line'));
}

function reverse(value: Json): Json {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return (value as readonly Json[]).map(reverse);
  return Object.fromEntries(
    Object.entries(value)
      .map(([key, inner]) => [key, reverse(inner as Json)] as const)
      .reverse(),
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

function codeOf(run: () => unknown): string {
  const error = errorOf(run);
  if (!isForgeError(error)) throw new Error('no ForgeError was thrown', { cause: error });
  return error.code;
}

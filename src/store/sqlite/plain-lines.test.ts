import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decodeRecord, encodeRecord } from '#domain/record-codec.ts';
import { seal } from '#domain/record-seal.ts';
import { claimRecord, closeRecord, moveRecord, newRecord, reopenRecord } from '#domain/task-changes.ts';
import { dependencyKey, type TaskRecord } from '#domain/task-record.ts';
import { isForgeError } from '#kernel/errors.ts';
import { parseJson, type Json, type JsonObject } from '#kernel/json.ts';
import { history, replay, VALUES, WORDS } from '../../../tests/support/record-steps.ts';
import { readPlainLine } from './plain-lines.ts';
import { toEncoded } from '#domain/encoded-record.ts';
import { columnValues } from './record-rows.ts';

const NUMBERS = { version: 1, fence: 0 };

describe('a plain line', () => {
  it('is most of what Forge writes, and gives the row that the codec gives', () => {
    let plain = 0;
    fc.assert(
      fc.property(ordinary, (record) => {
        if (holds(encodeRecord(record))) plain += 1;
      }),
      { numRuns: 500, seed: 1 },
    );
    expect(plain).toBeGreaterThan(300);
  });

  it('is never anything else than what the codec makes of it, whatever a task went through', () => {
    fc.assert(
      fc.property(history, (one) => void holds(encodeRecord(replay(one).last))),
      { numRuns: 500 },
    );
  });

  it('is none that was changed in an editor or in transit', () => {
    const change = fc.tuple(fc.nat(), fc.constantFrom('', ' ', '0', '9', '"', '\\', 'é', ',', '}', 'a', '-'));
    fc.assert(
      fc.property(ordinary, fc.array(change, { minLength: 1, maxLength: 3 }), (record, changes) => {
        let text = encodeRecord(record);
        for (const [at, by] of changes)
          text = text.slice(0, at % text.length) + by + text.slice((at % text.length) + 1);
        holds(text);
      }),
      { numRuns: 1_000 },
    );
  });

  it('is none that another program wrote with a seal but not as Forge writes', () => {
    let refused = 0;
    fc.assert(
      fc.property(ordinary, key, fc.constantFrom(...STRANGE), (record, name, value) => {
        const text = encodeRecord(record);
        const forged = reseal({ ...(JSON.parse(text) as JsonObject), [name]: value } as JsonObject);
        if (!holds(forged)) refused += 1;
      }),
      { numRuns: 1_000, seed: 1 },
    );
    expect(refused).toBeGreaterThan(500);
  });

  it.each([
    ['labels out of order', { labels: ['b', 'a'] }],
    ['a label twice', { labels: ['a', 'a'] }],
    ['an edge out of order', { dependencies: [edge('fg-2'), edge('fg-1')] }],
    ['an edge with a key of others', { dependencies: [{ ...edge('fg-1'), since: 1 }] }],
    ['a number that cannot be counted', { metadata: { n: 2 ** 60 } }],
    ['keys that look like numbers', { metadata: { 9: 1, 10: 1 } }],
    ['a state that goes without saying', { state: 'done' }],
    ['a closing of an open task', { status: 'open', closed_at: '2026-02-10T09:00:00.000Z' }],
    ['a time of another day', { updated_at: '2026-02-11T09:00:00.000Z' }],
    ['an id that is none', { id: 'fg-1 2' }],
    ['a stamp that goes without saying', { _v: { status: '2.mlga1.mlga1' } }],
  ])('is none with %s', (_, change) => {
    const text = encodeRecord(closed());
    expect(readPlainLine(text)).toBeDefined();
    const keys = Object.keys(JSON.parse(text) as JsonObject);
    const json = { ...(JSON.parse(text) as JsonObject), ...change } as JsonObject;
    if ('state' in change) keys.splice(keys.indexOf('status') + 1, 0, 'state');
    const inOrder = Object.fromEntries(keys.map((name) => [name, json[name] ?? null]));
    expect(readPlainLine(reseal(inOrder))).toBeUndefined();
  });
});

/** Whether the line is taken for a plain one; then it has to be what the codec makes of it. */
function holds(text: string): boolean {
  const plain = readPlainLine(text);
  if (plain === undefined) return false;
  const encoded = toEncoded(decode(text));
  expect(encoded.line).toBe(text);
  expect(plain.digest).toBe(encoded.digest);
  expect([plain.id, plain.created, plain.created_by, plain.assignee]).toEqual([
    encoded.record.id,
    encoded.record.created,
    encoded.record.created_by,
    encoded.record.life.assignee,
  ]);
  const parked = encoded.record.life.state === 'backlog';
  expect(plain.values(NUMBERS, new Set(['backlog']))).toEqual(
    columnValues(encoded, { ...NUMBERS, parked }, false),
  );
  expect(plain.edges.map(({ id, type }) => dependencyKey(id, type))).toEqual([
    ...encoded.record.dependencies.elements.keys(),
  ]);
  return true;
}

function decode(text: string): TaskRecord {
  try {
    return decodeRecord(parseJson(text, 'The line'));
  } catch (error) {
    if (isForgeError(error)) throw new Error(`taken, but not readable: ${error.message} in ${text}`);
    throw error;
  }
}

function reseal(json: JsonObject): string {
  const { _v, ...rest } = json;
  const body = JSON.stringify(rest).slice(0, -1);
  if (typeof _v !== 'object' || _v === null || Array.isArray(_v)) return `${body}}`;
  const { _v: _seal, ...stamps } = _v as JsonObject;
  return seal(body, JSON.stringify(stamps));
}

function edge(id: string): { id: string; type: string } {
  return { id, type: 'blocks' };
}

function closed(): TaskRecord {
  const made = newRecord(
    {
      id: 'fg-a3f8',
      created_by: 'ann',
      fields: { title: 'A task' },
      assignee: null,
      state: 'todo',
      labels: ['a', 'b'],
      dependencies: [dependencyKey('fg-1', 'blocks')],
      metadata: new Map([['n', 1]]),
    },
    1_770_714_000_000,
  );
  return closeRecord(claimRecord(made, 'bob', 1_770_714_001_000), 'done', 1_770_714_002_000);
}

const STRANGE: readonly (Json | undefined)[] = [
  ...VALUES,
  undefined,
  'closed',
  'open',
  'done',
  'fg-a3f8',
  '2026-02-10T09:00:00.000Z',
  1e21,
  ['b', 'a'],
  [{ id: 'fg-b', type: 'blocks' }],
  { status: '1.0.0' },
  { '': 'zz', status: '1.zz' },
  { status: '01.zz.zz' },
];
const key = fc.constantFrom(
  ...Object.keys(JSON.parse(encodeRecord(closed())) as JsonObject),
  'state',
  'comments',
);

/** What most tasks are: made, perhaps claimed, perhaps closed, perhaps open again. */
const ordinary: fc.Arbitrary<TaskRecord> = fc
  .record({
    words: fc.uniqueArray(fc.constantFrom(...WORDS), { maxLength: 4 }),
    value: fc.constantFrom(...VALUES.filter((value) => typeof value !== 'object' || value === null)),
    edges: fc.uniqueArray(fc.constantFrom('fg-1', 'fg-2', 'fg-10', 'ab-1.2'), { maxLength: 3 }),
    parent_id: fc.constantFrom(null, 'fg-e5a2'),
    at: fc.constantFrom(1_770_714_000_000, 1_770_714_000_001, 5),
    steps: fc.array(fc.constantFrom('claim', 'close', 'cancel', 'reopen', 'park'), { maxLength: 4 }),
    wait: fc.constantFrom(0, 1, 1_000),
  })
  .map(({ words, value, edges, parent_id, at, steps, wait }) => {
    let now = at;
    let record = newRecord(
      {
        id: 'fg-a3f8',
        created_by: words[0] ?? 'ann',
        fields: { title: words.join(' '), parent_id, priority: words.length },
        assignee: null,
        state: 'todo',
        labels: words,
        dependencies: edges.map((id) => dependencyKey(id, 'blocks')),
        metadata: new Map(words.map((word) => [word, value])),
      },
      at,
    );
    for (const step of steps) {
      now += wait;
      const { status } = record.life;
      if (step === 'claim' && status === 'open') record = claimRecord(record, 'bob', now);
      if (step === 'close') record = closeRecord(record, 'done', now);
      if (step === 'cancel') record = closeRecord(record, 'duplicate of fg-1', now);
      if (step === 'reopen' && status === 'closed') record = reopenRecord(record, null, now);
      if (step === 'park' && status === 'open')
        record = moveRecord(record, { status: 'open', state: 'backlog', assignee: null }, now);
    }
    return record;
  });

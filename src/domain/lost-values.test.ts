import { describe, expect, it } from 'vitest';
import { toIso } from '#kernel/clock.ts';
import type { Json } from '#kernel/json.ts';
import { makeTriple } from '../../tests/support/graph-triples.ts';
import { FORGE, fromFile } from '../../tests/support/join-world.ts';
import { emptyRecord } from '../../tests/support/old-deletion.ts';
import { joinRecords } from './join-records.ts';
import { keepLostValues, splitConflictKey, type LostValue } from './lost-values.ts';
import { findLostValues } from './merge-losses.ts';
import { decodeRecord, encodeRecord } from './record-codec.ts';
import { claimRecord, closeRecord, deleteRecord, editRecord, newRecord } from './task-changes.ts';
import type { TaskRecord } from './task-record.ts';

const NOW = Date.UTC(2026, 1, 10, 9);
const LONG = { timeout: 60_000 };
const base = newRecord(
  {
    id: 'fg-a3f8',
    created_by: 'ann',
    fields: { title: 'Fix it' },
    assignee: null,
    state: 'todo',
    labels: [],
    dependencies: [],
    metadata: new Map<string, Json>([['k', 0]]),
  },
  NOW,
);

describe('what two sides changed, each without the other', () => {
  it.each<[string, TaskRecord, TaskRecord, Omit<LostValue, 'stamp' | 'beaten_at'>]>([
    ['a title', retitle('A', 5), retitle('B', 9), { name: 'title', value: 'A' }],
    ['a title, in the same moment', retitle('A', 5), retitle('B', 5), { name: 'title', value: 'A' }],
    ['a key of others', field('x', 1, 5), field('x', 2, 9), { name: 'x', value: 1 }],
    ['metadata', meta(1, 5), meta(2, 9), { name: 'metadata.k', value: 1 }],
    ['metadata, removed by one', meta(1, 5), meta(undefined, 9), { name: 'metadata.k', value: 1 }],
    [
      'metadata, new on both',
      meta(1, 5, '__proto__'),
      meta(2, 9, '__proto__'),
      { name: 'metadata.__proto__', value: 1 },
    ],
    ['metadata of an emptied task', meta(1, 5), emptyRecord(base, NOW + 9), { name: 'metadata.k', value: 1 }],
    [
      'two claims',
      claimRecord(base, 'bob', NOW + 9),
      claimRecord(base, 'ann', NOW + 5),
      {
        name: 'life',
        value: { ...life('in_progress', 'in_progress', 'bob'), close_reason: null, closed_at: null },
      },
    ],
    [
      '[S53] two closings',
      closeRecord(base, 'first', NOW + 5),
      closeRecord(base, 'second', NOW + 9),
      {
        name: 'life',
        value: { ...life('closed', 'done', null), close_reason: 'first', closed_at: toIso(NOW + 5) },
      },
    ],
  ])('has a loser that is kept: %s', (_name, falls, stands, lost) => {
    const found = findLostValues(base, falls, stands);
    expect(found).toContainEqual(expect.objectContaining(lost));
    expect(findLostValues(base, stands, falls)).toEqual(found);
    const one = keepLostValues(joinRecords(falls, stands), found);
    const other = keepLostValues(joinRecords(stands, falls), findLostValues(base, stands, falls));
    expect(encodeRecord(other)).toBe(encodeRecord(one));
    const kept = [...one.conflicts.elements].map(([key, { value }]) => ({ ...splitConflictKey(key), value }));
    expect(kept).toContainEqual(expect.objectContaining(lost));
    expect(encodeRecord(reread(one))).toBe(encodeRecord(one));
  });

  it.each<[string, TaskRecord, TaskRecord]>([
    ['the same value', retitle('A', 5), retitle('A', 9)],
    ['different fields', retitle('A', 5), field('priority', 0, 9)],
    ['different keys', meta(1, 5), meta(2, 9, 'other')],
    ['the same claim', claimRecord(base, 'ann', NOW + 5), claimRecord(base, 'ann', NOW + 9)],
    ['one removal', meta(undefined, 5), meta(undefined, 9)],
  ])('has no loser when both wrote %s', (_name, one, two) => {
    expect(findLostValues(base, one, two)).toEqual([]);
    expect(findLostValues(base, two, one)).toEqual([]);
  });

  it('has no loser in what a deletion of earlier versions emptied', () => {
    const deleted = emptyRecord(base, NOW + 5);
    const renamed = retitle('B', 9);
    const names = (lost: readonly LostValue[]): string[] => lost.map(({ name }) => name);
    expect(names(findLostValues(base, deleted, renamed))).not.toContain('title');
    expect(names(findLostValues(base, renamed, deleted))).not.toContain('title');
    // What the deletion took away is one, all the same.
    const late = emptyRecord(base, NOW + 20);
    expect(names(findLostValues(base, late, renamed))).toContain('title');
    expect(names(findLostValues(base, renamed, late))).toContain('title');
  });

  it('has no loser where one side deleted the task: what the other wrote is beneath', () => {
    const deleted = deleteRecord(base, NOW + 20);
    for (const other of [retitle('B', 9), meta(1, 5)]) {
      expect(findLostValues(base, deleted, other)).toEqual([]);
      expect(findLostValues(base, other, deleted)).toEqual([]);
    }
  });

  it('has a loser in what was written onto a deleted task', () => {
    const deleted = deleteRecord(base, NOW + 5);
    const written = editRecord(deleted, { fields: new Map([['title', 'A']]) }, NOW + 7);
    for (const lost of [
      findLostValues(base, written, retitle('B', 9)),
      findLostValues(base, retitle('B', 9), written),
    ])
      expect(lost).toContainEqual(expect.objectContaining({ name: 'title', value: 'A' }));
  });

  it('has no loser where one side overwrote what it knew', LONG, () => {
    let looked = 0;
    for (let seed = 0; seed < 200; seed += 1) {
      for (const { before, after } of makeTriple(seed, FORGE).changes) {
        expect(findLostValues(before, before, after)).toEqual([]);
        expect(findLostValues(before, after, before)).toEqual([]);
        expect(findLostValues(before, after, after)).toEqual([]);
        looked += 1;
      }
    }
    expect(looked).toBeGreaterThan(500);
  });

  it('does not count a life that is older than what both knew', () => {
    const known = closeRecord(claimRecord(base, 'ann', NOW + 5), 'done', NOW + 9);
    const stale = claimRecord(base, 'bob', NOW + 7);
    expect(findLostValues(known, closeRecord(known, 'x', NOW), stale)).toEqual([]);
  });
});

describe('keeping what was lost', () => {
  const found = findLostValues(base, retitle('A', 5), retitle('B', 9));
  const joined = joinRecords(retitle('A', 5), retitle('B', 9));
  const kept = keepLostValues(joined, found);
  const [key = ''] = kept.conflicts.elements.keys();
  const settled = editRecord(kept, { conflicts: new Map([[key, { value: undefined }]]) }, NOW);

  it('changes nothing the second time, and nothing where nothing was lost', () => {
    expect(keepLostValues(kept, found)).toBe(kept);
    expect(keepLostValues(joined, [])).toBe(joined);
  });

  it('is not undone by an older copy', () => {
    for (const one of [joinRecords(joined, kept), joinRecords(kept, joined)]) {
      expect(encodeRecord(one)).toBe(encodeRecord(kept));
    }
  });

  it('leaves settled what was settled, whoever merges it again', () => {
    expect(encodeRecord(settled)).not.toContain('"conflicts":{"title');
    expect(keepLostValues(settled, found)).toBe(settled);
    expect(encodeRecord(joinRecords(kept, settled))).toBe(encodeRecord(settled));
    expect(encodeRecord(reread(settled))).toBe(encodeRecord(settled));
  });

  it('keeps three losers of one field apart', () => {
    const lost = [1, 2, 3].map((at) => ({
      name: 'a@b',
      value: `v${at}`,
      stamp: NOW + at,
      beaten_at: NOW + 9,
    }));
    const { elements } = keepLostValues(base, lost).conflicts;
    expect([...elements.values()].map(({ value }) => value)).toEqual(['v1', 'v2', 'v3']);
    expect([...elements.keys()].map(splitConflictKey)).toMatchObject(
      lost.map(({ name, stamp }) => ({ name, stamp })),
    );
  });

  it('is the same before a join and after it, an inflation, and the same both ways round', LONG, () => {
    let conflicts = 0;
    for (let seed = 0; seed < 250; seed += 1) {
      const files = makeTriple(seed, FORGE).files.map((file) => fromFile(FORGE, file));
      const ids = new Set(files.flatMap((file) => [...file.keys()]));
      // Each of the three in turn is what the other two knew.
      for (const [id, turn] of [...ids].flatMap((one) => [0, 1, 2].map((at) => [one, at] as const))) {
        const [a, b, c] = [0, 1, 2].map((at) => files[(at + turn) % 3]?.get(id));
        if (a === undefined || b === undefined || c === undefined) continue;
        const lost = findLostValues(c, a, b);
        expect(byName(findLostValues(c, b, a))).toEqual(byName(lost));
        if (lost.length === 0) continue;
        conflicts += 1;
        const [plain, more] = [joinRecords(a, b), keepLostValues(joinRecords(a, b), lost)];
        expect(encodeRecord(joinRecords(plain, more))).toBe(encodeRecord(more));
        // A floor that rises later (a deletion) ends what was lost before it.
        if (c.conflicts.floor > plain.conflicts.floor) continue;
        expect(encodeRecord(keepLostValues(joinRecords(plain, c), lost))).toBe(
          encodeRecord(joinRecords(more, c)),
        );
      }
    }
    expect(conflicts).toBeGreaterThan(50);
  });
});

function retitle(title: string, after: number): TaskRecord {
  return field('title', title, after);
}

function field(name: string, value: Json, after: number): TaskRecord {
  return editRecord(base, { fields: new Map([[name, value]]) }, NOW + after);
}

function meta(value: Json | undefined, after: number, key = 'k'): TaskRecord {
  return editRecord(base, { metadata: new Map([[key, { value }]]) }, NOW + after);
}

function life(status: string, state: string, assignee: string | null): Record<string, Json> {
  return { status, state, assignee };
}

function reread(record: TaskRecord): TaskRecord {
  return decodeRecord(JSON.parse(encodeRecord(record)) as Json);
}

function byName(lost: readonly LostValue[]): LostValue[] {
  return lost.toSorted((a, b) => (a.name < b.name ? -1 : 1));
}

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { toIso } from '#kernel/clock.ts';
import type { Json } from '#kernel/json.ts';
import { emptyRecord } from '../../tests/support/old-deletion.ts';
import { joinGraphs } from './join-graphs.ts';
import { compareElements, compareLives, compareRegisters, elementOf, joinRecords } from './join-records.ts';
import { decodeRecord, encodeRecord, listDependencies, listLabels } from './record-codec.ts';
import {
  claimRecord,
  closeRecord,
  commentRecord,
  deleteRecord,
  editRecord,
  moveRecord,
  newRecord,
  reopenRecord,
} from './task-changes.ts';
import { fieldValue, isDeleted, type Life, type TaskRecord } from './task-record.ts';

const NOW = Date.UTC(2026, 1, 10, 9);
const SEED = readFileSync(join(import.meta.dirname, 'record-codec.fixture.jsonl'), 'utf8')
  .trim()
  .split('\n');

describe("the seed's lines", () => {
  it('join with themselves to the bytes that each of them is written as', () => {
    for (const text of SEED) {
      const [one, other] = [read(text), read(text)];
      expect(encodeRecord(joinRecords(one, other))).toBe(encodeRecord(one));
    }
  });

  it('[S32] of two files with different tasks all stand in the join', () => {
    const [one, two] = [SEED.slice(0, 2), SEED.slice(2)].map(
      (lines) => new Map(lines.map(read).map((record) => [record.id, record])),
    );
    const ids = [...joinGraphs(one ?? new Map(), two ?? new Map()).keys()];
    expect(ids).toEqual(['fg-a3f8', 'fg-b2c1', 'fg-c9d1', 'fg-e5a2']);
  });

  it('[S52] of one task in two versions give the one with the later updated_at, whole', () => {
    for (const text of SEED) {
      const old = JSON.parse(text) as Record<string, Json>;
      const later = toIso(Date.parse(old.updated_at as string) + 1);
      const changes = { title: 'A', labels: ['z'], metadata: { k: 1 }, assignee: 'x', priority: 4 };
      const edited = { ...old, ...changes, dependencies: [], updated_at: later };
      const joined = joinBothWays(decodeRecord(old), decodeRecord(edited));
      expect(encodeRecord(joined)).toBe(encodeRecord(decodeRecord(edited)));
    }
  });

  it('[S52] keep both edits where two clones edit different fields of one task', () => {
    const base = read(SEED[2] ?? '');
    const one = editRecord(base, { fields: new Map([['title', 'By one']]) }, NOW);
    const two = editRecord(base, { fields: new Map([['priority', 4]]) }, NOW + 1);
    const joined = joinBothWays(one, two);
    expect([fieldValue(joined, 'title'), fieldValue(joined, 'priority')]).toEqual(['By one', 4]);
  });

  it('[S53] closed with different reasons keep the later closing, with or without stamps', () => {
    const line = JSON.parse(SEED[3] ?? '') as Record<string, Json>;
    const closed = (reason: string, at: number): TaskRecord =>
      decodeRecord({
        ...line,
        status: 'closed',
        close_reason: reason,
        updated_at: toIso(at),
        closed_at: toIso(at),
      });
    expect(joinBothWays(closed('first', NOW), closed('second', NOW + 1)).life.close_reason).toBe('second');
    const base = decodeRecord(line);
    const [one, two] = [closeRecord(base, 'one', NOW + 9), closeRecord(base, 'two', NOW + 5)];
    expect(joinBothWays(one, two).life).toEqual(one.life);
  });

  it('[S54] with the same dependency added twice have it once', () => {
    const base = read(SEED[3] ?? '');
    const add = (at: number): TaskRecord =>
      editRecord(base, { dependencies: new Map([['fg-b2c1:blocks', { value: true }]]) }, at);
    const joined = joinBothWays(add(NOW), add(NOW + 7));
    expect(listDependencies(joined)).toEqual([{ id: 'fg-b2c1', type: 'blocks' }]);
  });
});

describe('joinRecords', () => {
  const born = newTask();

  it('returns the first record itself where the second adds nothing', () => {
    const later = editRecord(born, { labels: new Map([['x', { value: true }]]) }, NOW + 1);
    expect(joinRecords(later, born)).toBe(later);
    expect(joinRecords(later, decodeAgain(later))).toBe(later);
  });

  it('decides a tie by the larger value, whatever the order', () => {
    const one = editRecord(born, { fields: new Map([['title', 'a']]) }, NOW + 1);
    const two = editRecord(born, { fields: new Map([['title', 'b']]) }, NOW + 1);
    expect(fieldValue(joinBothWays(one, two), 'title')).toBe('b');
  });

  it('keeps keys of others that only one side has', () => {
    const one = editRecord(born, { fields: new Map<string, Json>([['__proto__', { x: 1 }]]) }, NOW + 1);
    const two = editRecord(born, { fields: new Map<string, Json>([['constructor', 2]]) }, NOW + 1);
    const joined = joinBothWays(one, two);
    expect([fieldValue(joined, '__proto__'), fieldValue(joined, 'constructor')]).toEqual([{ x: 1 }, 2]);
  });

  it('keeps beneath a deletion what both wrote; beneath one of earlier versions only what came later', () => {
    const labelled = editRecord(born, { labels: new Map([['old', { value: true }]]) }, NOW + 1);
    const deleted = deleteRecord(labelled, NOW + 5);
    const edited = editRecord(labelled, { labels: new Map([['new', { value: true }]]) }, NOW + 9);
    const joined = joinBothWays(deleted, edited);
    expect(isDeleted(joined)).toBe(true);
    expect(listLabels(joined)).toEqual(['new', 'old']);
    const emptied = joinBothWays(emptyRecord(labelled, NOW + 5), edited);
    expect(isDeleted(emptied)).toBe(true);
    expect(listLabels(emptied)).toEqual(['new']);
    expect(fieldValue(emptied, 'title')).toBe('');
  });

  it('does not bring a removed label back from an older copy', () => {
    const add = editRecord(born, { labels: new Map([['__proto__', { value: true }]]) }, NOW + 1);
    const removed = editRecord(add, { labels: new Map([['__proto__', { value: undefined }]]) }, NOW - 100);
    expect(listLabels(joinBothWays(add, removed))).toEqual([]);
    expect(listLabels(joinBothWays(add, born))).toEqual(['__proto__']);
  });

  it('has one of two comments with one id, the same on both sides', () => {
    const comment = (body: string): TaskRecord =>
      commentRecord(born, { id: 'c-1', author: 'ann', body, reply_to: null, created_at: toIso(NOW) });
    expect(joinBothWays(comment('a'), comment('b')).comments.get('c-1')?.body).toBe('b');
  });

  it('takes one spelling of a moment, whichever file it stands in', () => {
    const line = JSON.parse(encodeRecord(born)) as Record<string, Json>;
    const other = decodeRecord({ ...line, created_at: '2026-02-10T10:00+01:00' });
    expect(joinBothWays(born, other).created_at).toBe('2026-02-10T10:00+01:00');
  });
});

describe('the order of lives', () => {
  const born = newTask();
  const claim = (who: string, at: number): TaskRecord => claimRecord(born, who, at);
  const claimed = claim('ann', NOW + 5);

  it.each<[string, TaskRecord, TaskRecord]>([
    ['of two offline claims the first', claimed, claim('bob', NOW + 6)],
    ['the first claim, released, against the second', move(claimed, NOW + 9), claim('bob', NOW + 6)],
    ['a release against the claim that it ends', move(claimed, NOW + 1), claimed],
    ['a takeover against the claim that it ends', claimRecord(claimed, 'bob', NOW), claimed],
    [
      'a close against a later claim of the same number',
      closeRecord(born, 'x', NOW + 1),
      claim('bob', NOW + 99),
    ],
    [
      'a takeover against a close without it',
      claimRecord(claimed, 'bob', NOW),
      closeRecord(born, 'x', NOW + 99),
    ],
    ['of two closes the later', closeRecord(born, 'b', NOW + 9), closeRecord(born, 'a', NOW + 3)],
    [
      'a reopen against its close',
      reopenRecord(closeRecord(born, 'x', NOW + 9), null, NOW),
      closeRecord(born, 'x', NOW + 9),
    ],
    ['of two moves of nobody the later', move(born, NOW + 9, 'backlog'), move(born, NOW + 3, 'blocked')],
  ])('lets stand %s', (_name, stands, falls) => {
    expect(compareLives(stands.life, falls.life)).toBeGreaterThan(0);
    expect(joinBothWays(stands, falls).life).toEqual(stands.life);
  });

  it('lets the last write stand where nobody ever claimed, also against a close', () => {
    const open: Life = { ...born.life, written: NOW + 2 };
    const closed: Life = {
      ...born.life,
      status: 'closed',
      close_reason: 'x',
      closed_at: toIso(NOW),
      written: NOW + 1,
    };
    expect(compareLives(open, closed)).toBeGreaterThan(0);
    expect(compareLives(closed, { ...open, written: NOW })).toBeGreaterThan(0);
  });

  it('is total: lives that differ are never equal, and the order goes round no circle', () => {
    const lives: Life[] = [];
    for (const n of [0, 1])
      for (const began of [0, 3])
        for (const written of [3, 4])
          for (const status of ['open', 'in_progress', 'closed'] as const)
            for (const assignee of [null, 'ann'])
              lives.push({ ...born.life, n, began, written, status, assignee });
    const sorted = lives.toSorted(compareLives);
    sorted.forEach((life, at) => {
      sorted.forEach((other, place) => {
        expect(Math.sign(compareLives(life, other))).toBe(Math.sign(at - place));
      });
    });
  });
});

describe('comparing', () => {
  it('of registers is by stamp, then by value', () => {
    expect(compareRegisters({ value: 'a', stamp: 2 }, { value: 'z', stamp: 1 })).toBeGreaterThan(0);
    expect(compareRegisters({ value: 'a', stamp: 1 }, { value: 'z', stamp: 1 })).toBeLessThan(0);
    expect(compareRegisters({ value: { b: 1, a: 2 }, stamp: 1 }, { value: { a: 2, b: 1 }, stamp: 1 })).toBe(
      0,
    );
  });

  it('of elements is by stamp, then what is there, then by value', () => {
    const gone = { value: undefined, stamp: 5 };
    expect(compareElements({ value: 1, stamp: 5 }, gone)).toBeGreaterThan(0);
    expect(compareElements({ value: null, stamp: 5 }, gone)).toBeGreaterThan(0);
    expect(compareElements({ value: 1, stamp: 4 }, gone)).toBeLessThan(0);
    expect(compareElements(gone, { value: undefined, stamp: 5 })).toBe(0);
    expect(compareElements({ value: 2, stamp: 5 }, { value: 1, stamp: 5 })).toBeGreaterThan(0);
  });

  it('takes what a map does not list as absent since its floor', () => {
    const map = { floor: 7, elements: new Map([['a', { value: 1, stamp: 9 }]]) };
    expect(elementOf(map, 'a')).toEqual({ value: 1, stamp: 9 });
    expect(elementOf(map, 'constructor')).toEqual({ value: undefined, stamp: 7 });
  });
});

function newTask(): TaskRecord {
  return newRecord(
    {
      id: 'fg-a3f8',
      created_by: 'ann',
      fields: { title: 'Fix it' },
      assignee: null,
      state: 'todo',
      labels: [],
      dependencies: [],
      metadata: new Map(),
    },
    NOW,
  );
}

function move(record: TaskRecord, at: number, state = 'todo'): TaskRecord {
  return moveRecord(record, { status: 'open', state, assignee: null }, at);
}

function read(text: string): TaskRecord {
  return decodeRecord(JSON.parse(text) as Json);
}

function decodeAgain(record: TaskRecord): TaskRecord {
  return read(encodeRecord(record));
}

function joinBothWays(a: TaskRecord, b: TaskRecord): TaskRecord {
  const joined = joinRecords(a, b);
  expect(encodeRecord(joinRecords(b, a))).toBe(encodeRecord(joined));
  return joined;
}

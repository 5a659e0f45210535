import { describe, expect, it } from 'vitest';
import { lifeValue } from './lost-values.ts';
import { continueRun, findLifeWrite, hasLife, judgeLives, type OwnRun } from './own-values.ts';
import { claimRecord, closeRecord, moveRecord, newRecord, reopenRecord } from './task-changes.ts';
import type { TaskRecord } from './task-record.ts';

const NOW = Date.UTC(2026, 1, 10, 9);
const MINUTE = 60_000;
const base = newRecord(
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
const claimed = claimRecord(base, 'ann', NOW + MINUTE);
const inReview = moveRecord(
  claimed,
  { status: 'in_progress', state: 'review', assignee: 'ann' },
  NOW + 2 * MINUTE,
);

type Change = (record: TaskRecord, now: number) => TaskRecord;
const CHANGES: Readonly<Record<string, Change>> = {
  claim: (record, now) => claimRecord(record, `who-${now}`, now),
  close: (record, now) => closeRecord(record, `reason ${now}`, now),
  cancel: (record, now) => closeRecord(record, 'cancelled', now, 'cancelled'),
  reserve: (record, now) =>
    moveRecord(record, { status: 'open', state: 'todo', assignee: `for-${now}` }, now),
  'close and reopen': (record, now) =>
    reopenRecord(closeRecord(record, 'done', now - 1), `again-${now}`, now),
};
const PAIRS = Object.keys(CHANGES).flatMap((one) =>
  Object.keys(CHANGES).map((other) => [one, other] as const),
);

describe('status, owner and closing of two clones', () => {
  it.each(PAIRS)(
    'C7 %s here, %s there, neither seen by the other: the one that falls is told',
    (one, other) => {
      const here = CHANGES[one]?.(base, NOW + 5 * MINUTE) ?? base;
      const there = CHANGES[other]?.(base, NOW + 7 * MINUTE) ?? base;
      for (const [ours, theirs] of [
        [here, there],
        [there, here],
      ] as const) {
        const { lost, unsure } = judgeLives(ours, theirs, runOf(base, ours));
        expect([lifeValue(ours.life), lifeValue(theirs.life)]).toContainEqual((lost ?? unsure)?.value);
        // Only where the one of this store falls the history of the other has to be asked.
        expect(unsure?.value ?? lifeValue(ours.life)).toEqual(lifeValue(ours.life));
      }
    },
  );

  it.each<[string, TaskRecord, TaskRecord, OwnRun | undefined]>([
    ['what the task was made with', claimed, base, runOf(base, claimed)],
    ['the same', claimed, claimRecord(base, 'ann', NOW + MINUTE), runOf(base, claimed)],
    [
      'one that was written here before',
      closeRecord(claimed, 'done', NOW + 2 * MINUTE),
      claimed,
      continueRun(runOf(base, claimed), toWrite(claimed, closeRecord(claimed, 'done', NOW + 2 * MINUTE))),
    ],
    [
      'one that was written over here',
      closeRecord(claimed, 'done', NOW + 2 * MINUTE),
      claimed,
      runOf(claimed, closeRecord(claimed, 'done', NOW + 2 * MINUTE)),
    ],
    ['one that neither copy wrote', closeRecord(claimed, 'done', NOW + 2 * MINUTE), claimed, undefined],
    ['a step before the last of one claim', inReview, claimed, undefined],
    [
      'what the task was made with elsewhere, where that was another state',
      claimed,
      { ...base, life: { ...base.life, state: 'backlog' } },
      runOf(base, claimed),
    ],
  ])('nothing is told of %s', (_, ours, theirs, run) => {
    expect(judgeLives(ours, theirs, run)).toEqual({});
  });

  it('two claims of one state of the task are told, also where this store wrote neither', () => {
    const later = claimRecord(base, 'bob', NOW + 2 * MINUTE);
    const lost = { name: 'life', value: lifeValue(later.life), stamp: later.life.written };
    for (const [ours, theirs] of [
      [claimed, later],
      [later, claimed],
    ] as const)
      expect(judgeLives(ours, theirs, undefined)).toEqual({
        lost: { ...lost, beaten_at: claimed.life.written },
      });
  });

  it('a life is known by its moment and what it says; one without a hash by its moment', () => {
    const { written: stamp } = claimed.life;
    const [{ hash } = { hash: '' }] = runOf(base, claimed).slice(-1);
    expect(hasLife(claimed, { stamp, hash })).toBe(true);
    expect(hasLife(claimed, { stamp, hash: '' })).toBe(true);
    expect(hasLife(claimed, { stamp, hash: 'zzz' })).toBe(false);
    expect(hasLife(claimed, { stamp: stamp + 1, hash })).toBe(false);
  });

  it('a run begins anew when a life of others came between', () => {
    const closed = closeRecord(claimed, 'done', NOW + 2 * MINUTE);
    const taken = claimRecord(base, 'bob', NOW + 3);
    expect(continueRun(runOf(base, claimed), toWrite(claimed, closed))).toHaveLength(3);
    expect(continueRun(runOf(base, claimed), toWrite(taken, closed))).toHaveLength(2);
  });
});

function toWrite(before: TaskRecord, after: TaskRecord): Parameters<typeof continueRun>[1] {
  const write = findLifeWrite(before, after);
  if (write === undefined) throw new Error('nothing was written');
  return write;
}

function runOf(before: TaskRecord, after: TaskRecord): OwnRun {
  return continueRun(undefined, toWrite(before, after));
}

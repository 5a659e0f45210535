import { describe, expect, it } from 'vitest';
import { toIso } from '#kernel/clock.ts';
import { LIMITS } from '#kernel/limits.ts';
import { deciding, NOW, seenTask } from '../../tests/support/seen-task.ts';
import { decideLanding, isTakenAway } from './decide-landing.ts';
import { editRecord } from './task-changes.ts';

describe('decideLanding, the whole table', () => {
  const stale = toIso(NOW - LIMITS.landed_move_ms - 1);
  const fresh = toIso(NOW - LIMITS.landed_move_ms);
  const all = (['user', 'agent', 'system'] as const).flatMap((who) =>
    [true, false].flatMap((landed) =>
      [stale, fresh, null].map((finished_at) => ({ who, landed, finished_at })),
    ),
  );

  it.each(all)('$who, landed $landed, finished $finished_at', ({ who, landed, finished_at }) => {
    const isSettled = landed && (who === 'system' || finished_at === stale);
    expect(decideLanding({ id: 'm-1', landed, finished_at }, deciding(who))).toEqual(
      isSettled ? { outcome: 'settled' } : { outcome: 'landing', merge: 'm-1' },
    );
  });
});

describe('a task is taken away from its merge', () => {
  const { record } = seenTask({ state: 'merging', owner: 'me' });
  it.each([
    ['by a deletion', undefined, true],
    ['by a move', seenTask({ state: 'in_progress', owner: 'me' }).record, true],
    ['by a close', seenTask({ state: 'cancelled', owner: 'me' }).record, true],
    ['by the archive', editRecord(record, { fields: new Map([['archived_at', toIso(NOW)]]) }, NOW), true],
    ['not by a title', editRecord(record, { fields: new Map([['title', 'Two']]) }, NOW), false],
    ['not by nothing', record, false],
  ])('%s', (_, after, taken) => {
    expect(isTakenAway(record, after)).toBe(taken);
  });
});

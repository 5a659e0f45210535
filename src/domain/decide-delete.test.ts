import { describe, expect, it } from 'vitest';
import { toIso } from '#kernel/clock.ts';
import { deciding, NOW, seenTask } from '../../tests/support/seen-task.ts';
import { decideDelete, undoElsewhere } from './decide-delete.ts';
import { encodeRecord } from './record-codec.ts';
import { textValue } from './task-record.ts';

const TIES = { children: ['fg-1'], dependents: [['fg-1', 'blocks']] } as const;

describe('decideDelete', () => {
  it.each([
    [{}, 'delete'],
    [{ version: 7, fence: 3 }, 'delete'],
    [{ version: 6, fence: 2 }, 'other_version'],
    [{ fence: 2 }, 'other_claim'],
  ])('seen %j: %s', (seen, outcome) => {
    expect(decideDelete(seenTask(), { ...seen, ties: TIES }, deciding()).outcome).toBe(outcome);
  });

  it('keeps what the task held and what hung on it', () => {
    const task = seenTask();
    const plan = decideDelete(task, { ties: TIES }, deciding());
    if (plan.outcome !== 'delete') throw new Error(plan.outcome);
    expect(textValue(plan.after, 'deleted_at')).toBe(toIso(NOW));
    expect(textValue(plan.after, 'title')).toBe('One');
    expect(plan.undo).toEqual({ before: encodeRecord(task.record), version: 7, fence: 3, ...TIES });
    expect(plan.numbers).toEqual({ version: 8, fence: 4 });
    expect([...plan.ties]).toEqual([['fg-1', { child: true, types: ['blocks'] }]]);
  });

  it('of a deletion that came from elsewhere only the content', () => {
    const { record } = seenTask();
    expect(undoElsewhere(record, { version: 2, fence: 1 })).toEqual({
      before: encodeRecord(record),
      version: 2,
      fence: 1,
      children: [],
      dependents: [],
      elsewhere: true,
    });
  });
});

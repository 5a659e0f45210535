import { describe, expect, it } from 'vitest';
import { findLoss, type HeldTask } from './run-hold.ts';

const RUN = { task_id: 'fg-1', fence: 3, in_state: 'in_progress' } as const;
const HELD: HeldTask = { id: 'fg-1', state: 'in_progress', assignee: 'ada', archived: false, fence: 3 };

describe('[C1] a run', () => {
  it('has its task while claim and state are those it was started under', () => {
    expect(findLoss(RUN, HELD)).toBeUndefined();
    // A run of an older Forge knows neither.
    expect(
      findLoss({ ...RUN, fence: null, in_state: null }, { ...HELD, fence: 9, state: 'x' }),
    ).toBeUndefined();
  });

  it.each([
    ['deleted', undefined, 'fg-1 was deleted'],
    ['archived', { ...HELD, archived: true }, 'fg-1 was archived'],
    ['taken', { ...HELD, fence: 4, assignee: 'bob' }, 'fg-1 belongs to bob now'],
    ['taken', { ...HELD, fence: 4, assignee: null, state: 'todo' }, 'fg-1 was released'],
    // Released and claimed again by the same name: another claim all the same.
    ['taken', { ...HELD, fence: 5 }, 'fg-1 belongs to ada now'],
    ['moved', { ...HELD, state: 'review' }, 'fg-1 was moved to review'],
  ] as const)('loses it: %s', (code, task, message) => {
    expect(findLoss(RUN, task)).toEqual({ code, message });
  });
});

import { describe, expect, it } from 'vitest';
import { deciding, NOW, seenTask } from '../../tests/support/seen-task.ts';
import { mapStatus, planMapping } from './map-states.ts';
import { moveRecord } from './task-changes.ts';
import { DEFAULT_RESOLVED } from './workflow.ts';

const map = (status: 'open' | 'in_progress' | 'closed', to: string): string =>
  mapStatus({ id: 'fg-1', status }, { from: 'old', to }, DEFAULT_RESOLVED);

describe('a state that takes the tasks of another', () => {
  it.each([
    ['open', 'todo', 'open'],
    ['open', 'backlog', 'open'],
    ['in_progress', 'review', 'in_progress'],
    ['in_progress', 'todo', 'open'],
    ['closed', 'done', 'closed'],
    ['closed', 'cancelled', 'closed'],
  ] as const)('keeps what is %s where it is %s: it is %s', (status, to, after) => {
    expect(map(status, to)).toBe(after);
  });

  it.each([
    ['open', 'in_progress'],
    ['open', 'done'],
    ['in_progress', 'done'],
    ['closed', 'todo'],
    ['closed', 'review'],
  ] as const)('is refused for what is %s where it is %s', (status, to) => {
    expect(() => map(status, to)).toThrow(`old cannot become ${to}: fg-1 is ${status}`);
  });
});

describe('planMapping', () => {
  const move = { from: 'old', to: 'todo' };
  const stand = (status: 'open' | 'in_progress', assignee: string | null) =>
    moveRecord(seenTask().record, { status, state: 'old', assignee }, NOW - 1);

  it.each([
    ['a reservation stays', stand('open', 'ann'), 'todo', 'ann', 'task.status_changed', ['state']],
    [
      'work goes back to the queue, and is nobody’s',
      stand('in_progress', 'ann'),
      'todo',
      null,
      'task.released',
      ['status', 'state', 'assignee'],
    ],
    ['work stays work', stand('in_progress', 'ann'), 'review', 'ann', 'task.status_changed', ['state']],
  ])('%s', (_, record, to, assignee, type, changed) => {
    const plan = planMapping(record, { ...move, to }, deciding());
    expect(plan.after.life).toMatchObject({ state: to, assignee });
    expect(plan.happening).toEqual({
      type,
      changed,
      from_state: move.from,
      reason: `the workflow has no state old any more; it was mapped to ${to}`,
    });
  });

  it('closes nothing', () => {
    expect(() => planMapping(stand('open', null), { ...move, to: 'done' }, deciding())).toThrow(
      'old cannot become done: fg-a1b2 is open and would be closed',
    );
  });
});

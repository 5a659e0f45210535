import { describe, expect, it } from 'vitest';
import { NOW, seenTask } from '../../tests/support/seen-task.ts';
import { nextNumbers, planWrite, type TaskWrite } from './plan-write.ts';
import { claimRecord, closeRecord, editRecord, moveRecord } from './task-changes.ts';
import { DEFAULT_RESOLVED } from './workflow.ts';

const TODO = seenTask().record;
const MINE = seenTask({ state: 'in_progress', owner: 'me' }).record;

function plan(more: Partial<TaskWrite> & Pick<TaskWrite, 'before' | 'after'>): ReturnType<typeof planWrite> {
  return planWrite({
    happening: { type: 'task.updated', changed: [] },
    numbers: { version: 8, fence: 4 },
    triggered_by: 'agent:me',
    workflow: DEFAULT_RESOLVED,
    ...more,
  });
}

describe('the numbers of a write', () => {
  const before = { record: MINE, version: 7, fence: 3 };
  it.each([
    ['a new task that nobody has', undefined, TODO, 1, 0],
    ['a new task that somebody has', undefined, MINE, 1, 1],
    ['the same owner', before, editRecord(MINE, { fields: new Map([['title', 'Two']]) }, NOW), 8, 3],
    ['another owner', before, claimRecord(MINE, 'bob', NOW), 8, 4],
    [
      'no owner any more',
      before,
      moveRecord(MINE, { status: 'open', state: 'todo', assignee: null }, NOW),
      8,
      4,
    ],
  ])('%s', (_, known, after, version, fence) => {
    expect(nextNumbers(known, after)).toEqual({ version, fence });
  });
});

describe('what the feed is told', () => {
  it('a new task is one event with its row', () => {
    const { events, task } = plan({
      before: undefined,
      after: TODO,
      happening: { type: 'task.created', changed: [] },
    });
    expect(events).toEqual([{ type: 'task.created', data: { task, changed: [] } }]);
    expect(task).toMatchObject({ id: 'fg-a1b2', version: 8, state: 'todo' });
  });

  it('a claim is told a second time as a change of status', () => {
    const changed = ['status', 'state', 'assignee'];
    const { events } = plan({
      before: TODO,
      after: claimRecord(TODO, 'me', NOW),
      happening: { type: 'task.claimed', changed, more: { former_owner: 'bob' } },
    });
    expect(events.map(({ type }) => type)).toEqual(['task.claimed', 'task.status_changed']);
    expect(events[0].data).toMatchObject({ changed, former_owner: 'bob' });
    const states = { from_state: 'todo', to_state: 'in_progress' };
    expect(events[1]?.data).toMatchObject({ changed, beside: 'task.claimed', ...states });
  });

  it('what is called a change of status is told once', () => {
    const after = moveRecord(MINE, { status: 'in_progress', state: 'review', assignee: 'me' }, NOW);
    const { events } = plan({
      before: MINE,
      after,
      happening: { type: 'task.status_changed', changed: ['state'] },
    });
    expect(events.map(({ type }) => type)).toEqual(['task.status_changed']);
  });

  it('leaves a long text out that did not change', () => {
    const long = editRecord(MINE, { fields: new Map([['description', 'x'.repeat(10_000)]]) }, NOW);
    const after = editRecord(long, { fields: new Map([['title', 'Two']]) }, NOW);
    const { events } = plan({ before: long, after, happening: { type: 'task.updated', changed: ['title'] } });
    expect(events[0].data).toMatchObject({ left_out: ['description'] });
    expect(events[0].data['task']).not.toHaveProperty('description');
  });
});

describe('what the log is told', () => {
  it.each([
    ['nothing of a new task', undefined, MINE, undefined],
    [
      'nothing of another title',
      MINE,
      editRecord(MINE, { fields: new Map([['title', 'B']]) }, NOW),
      undefined,
    ],
    ['a claim', TODO, claimRecord(TODO, 'me', NOW), 'todo open -> in_progress in_progress'],
    [
      'a takeover in the same state',
      MINE,
      claimRecord(MINE, 'bob', NOW),
      'in_progress in_progress -> in_progress in_progress',
    ],
    ['a close', MINE, closeRecord(MINE, 'done', NOW, 'done'), 'in_progress in_progress -> done closed'],
  ])('%s', (_, before, after, expected) => {
    const { move } = plan({ before, after });
    const told = move && `${move.from_state} ${move.from_status} -> ${move.to_state} ${move.to_status}`;
    expect(told).toBe(expected);
  });

  it.each([
    [{}, { reason: null, rejection: 0, triggered_by: 'agent:me' }],
    [
      { reason: 'why', rejection: true },
      { reason: 'why', rejection: 1, triggered_by: 'agent:me' },
    ],
    [{ triggered_by: 'system' }, { triggered_by: 'system' }],
  ])('of a happening with %j', (more, expected) => {
    const happening = { type: 'task.claimed', changed: [], ...more };
    const result = plan({ before: TODO, after: claimRecord(TODO, 'me', NOW), happening });
    expect(result.move).toMatchObject(expected);
    expect(result.triggered_by).toBe(expected.triggered_by);
  });

  it('a state that the workflow does not know by the one that stands for it, unless it is moved for that', () => {
    const strange = moveRecord(MINE, { status: 'in_progress', state: 'gone', assignee: 'me' }, NOW);
    const after = closeRecord(strange, 'done', NOW, 'done');
    expect(plan({ before: strange, after }).move?.from_state).toBe('in_progress');
    const happening = { type: 'task.closed', changed: [], from_state: 'gone' };
    expect(plan({ before: strange, after, happening }).move?.from_state).toBe('gone');
  });
});

describe('what is remembered of a life that was written here', () => {
  it.each([
    ['a claim', TODO, claimRecord(TODO, 'me', NOW), true],
    ['another title', TODO, editRecord(TODO, { fields: new Map([['title', 'B']]) }, NOW), false],
    ['a new task', undefined, TODO, false],
  ])('%s', (_, before, after, noted) => {
    expect(plan({ before, after }).own_write !== undefined).toBe(noted);
  });
});

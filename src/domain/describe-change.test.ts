import { describe, expect, it } from 'vitest';
import type { JsonObject } from '#kernel/json.ts';
import { changedNames, changesOwner, changesStatus, eventOf } from './describe-change.ts';
import { decodeRecord } from './record-codec.ts';

const LINE = {
  id: 'fg-aaaa',
  title: 'One',
  status: 'open',
  created_at: '2026-01-01T00:00:00.000Z',
  created_by: 'ann',
  updated_at: '2026-01-01T00:00:00.000Z',
  labels: ['a', 'b'],
  metadata: { k: { deep: [1] } },
  dependencies: [{ id: 'fg-bbbb', type: 'blocks' }],
};

function changes(more: JsonObject, from: JsonObject = {}): string[] {
  return changedNames(decodeRecord({ ...LINE, ...from }), decodeRecord({ ...LINE, ...more }));
}

describe('what changed between two lines of a task', () => {
  it('nothing, however often it is read', () => {
    expect(changes({})).toEqual([]);
    expect(changes({ updated_at: '2026-01-02T00:00:00.000Z' })).toEqual([]);
  });

  it.each<[string, JsonObject]>([
    ['title', { title: 'Two' }],
    ['labels', { labels: ['a'] }],
    ['labels', { labels: ['a', 'b', 'c'] }],
    ['metadata', { metadata: { k: { deep: [2] } } }],
    ['metadata', { metadata: {} }],
    ['dependencies', { dependencies: [{ id: 'fg-bbbb', type: 'related' }] }],
    ['assignee', { assignee: 'bob' }],
  ])('%s', (name, more) => {
    expect(changes(more)).toEqual([name]);
    expect(changes({}, more)).toEqual([name]);
  });
});

const OPEN = { status: 'open' };
const CLAIMED = { status: 'in_progress', assignee: 'bob' };
const IN_REVIEW = { status: 'in_progress', state: 'review', assignee: 'bob' };
const CLOSED = { status: 'closed', close_reason: 'done' };

describe('the feed names', () => {
  const record = (more: JsonObject) => decodeRecord({ ...LINE, ...more });

  it.each<[string, JsonObject, JsonObject, boolean]>([
    ['task.updated', OPEN, { ...OPEN, title: 'Two' }, false],
    ['task.claimed', OPEN, CLAIMED, true],
    ['task.released', CLAIMED, OPEN, true],
    ['task.closed', OPEN, CLOSED, true],
    ['task.closed', CLAIMED, CLOSED, true],
    ['task.reopened', CLOSED, OPEN, true],
    ['task.claimed', CLOSED, CLAIMED, true],
    // It is told under this very name already.
    ['task.status_changed', CLAIMED, IN_REVIEW, false],
  ])('%s what leads from %j to %j', (type, before, after, isStatusToo) => {
    expect(eventOf(record(before), record(after))).toBe(type);
    expect(changesStatus(type, record(before), record(after))).toBe(isStatusToo);
  });

  it('a task that is taken over claimed, although its status stays', () => {
    const mine = record(CLAIMED);
    const taken = { ...mine, life: { ...mine.life, n: mine.life.n + 1, assignee: 'cleo' } };
    expect(eventOf(mine, taken)).toBe('task.claimed');
  });

  it('no change of status for a task that is new', () => {
    expect(changesStatus('task.created', undefined, record(CLAIMED))).toBe(false);
  });

  it.each<[JsonObject | undefined, JsonObject, boolean]>([
    [undefined, OPEN, false],
    [undefined, CLAIMED, true],
    [OPEN, CLAIMED, true],
    [CLAIMED, IN_REVIEW, false],
    [CLAIMED, { ...CLAIMED, assignee: 'cleo' }, true],
    [CLAIMED, OPEN, true],
  ])('a new owner between %j and %j: writes of the old one are refused', (before, after, isNew) => {
    expect(changesOwner(before && record(before), record(after))).toBe(isNew);
  });
});

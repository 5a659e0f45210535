import { describe, expect, it } from 'vitest';
import type { JsonObject } from '#kernel/json.ts';
import { changedNames } from './describe-change.ts';
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

import { describe, expect, it } from 'vitest';
import type { Json } from '#kernel/json.ts';
import { isPastDeletion, pruneRecord } from './prune-record.ts';
import { deleteRecord, editRecord, newRecord } from './task-changes.ts';

const NOW = Date.UTC(2026, 1, 10, 9);
const record = newRecord(
  {
    id: 'fg-a3f8',
    created_by: 'ann',
    fields: { title: 'One' },
    assignee: null,
    state: 'todo',
    labels: ['old', 'kept'],
    dependencies: [],
    metadata: new Map<string, Json>([['k', 1]]),
  },
  NOW,
);
const removed = editRecord(
  record,
  {
    labels: new Map([['old', { value: undefined }]]),
    metadata: new Map([['k', { value: undefined }]]),
  },
  NOW + 5,
);

describe('pruneRecord', () => {
  it.each([
    ['keeps what was removed later', NOW + 5, 0],
    ['forgets what was removed before', NOW + 6, 2],
  ])('%s', (_, until, removals) => {
    const pruned = pruneRecord(removed, until);
    expect(pruned.removals).toBe(removals);
    expect([...pruned.record.labels.elements.keys()].sort()).toEqual(
      removals === 0 ? ['kept', 'old'] : ['kept'],
    );
    expect([...pruned.record.metadata.elements.keys()]).toEqual(removals === 0 ? ['k'] : []);
    // It speaks of nothing that this store never saw.
    expect(pruned.record.labels.floor).toBe(removed.labels.floor);
  });

  it('keeps what is there, and what values replaced', () => {
    const key = 'title@1.abc';
    const lost = editRecord(record, { conflicts: new Map([[key, { value: 'lost' }]]) }, NOW + 4);
    const settled = editRecord(lost, { conflicts: new Map([[key, { value: undefined }]]) }, NOW + 5);
    expect(pruneRecord(settled, NOW + 9)).toEqual({ record: settled, removals: 0 });
    expect([...settled.conflicts.elements.keys()]).toEqual([key]);
  });
});

describe('isPastDeletion', () => {
  const gone = deleteRecord(record, NOW + 5);
  it.each([
    [NOW + 5, false],
    [NOW + 6, true],
  ])('until %i: %s', (until, is) => {
    expect(isPastDeletion(gone, until)).toBe(is);
  });
});

import { describe, expect, it } from 'vitest';
import type { Json, JsonObject } from '#kernel/json.ts';
import { claimRecord, closeRecord, deleteRecord, editRecord, newRecord } from './task-changes.ts';
import type { TaskRecord } from './task-record.ts';
import { findUnsharedLosses, type KnownChanges } from './unshared-values.ts';

const NOW = Date.UTC(2026, 1, 10, 9);
const base = newRecord(
  {
    id: 'fg-a3f8',
    created_by: 'ann',
    fields: { title: 'Old' },
    assignee: null,
    state: 'todo',
    labels: [],
    dependencies: [],
    metadata: new Map<string, Json>([['k', 0]]),
  },
  NOW,
);

function retitle(title: string, at: number): TaskRecord {
  return editRecord(base, { fields: new Map([['title', title]]) }, NOW + at);
}

function meta(value: Json | undefined, at: number): TaskRecord {
  return editRecord(base, { metadata: new Map([['k', { value }]]) }, NOW + at);
}

/** Event 1 is in the files, event 2 is not. */
function changes(data: JsonObject, { seq = 2, by = 'user:ann' } = {}): KnownChanges {
  return { exported: () => 1, events: () => [{ seq, triggered_by: by, data }] };
}

const TITLE = changes({ task: { title: 'Here' }, changed: ['title'] });
const META = changes({ task: { metadata: { k: 1 } }, changed: ['metadata'] });
const CLAIM = changes({ task: { assignee: 'ann' }, changed: ['status', 'assignee'] });

describe('what was changed here since the last export, and meets another value', () => {
  it.each<[string, TaskRecord, TaskRecord, KnownChanges, readonly object[]]>([
    ['falls', retitle('Here', 5), retitle('There', 9), TITLE, [{ name: 'title', value: 'Here' }]],
    ['stands', retitle('Here', 9), retitle('There', 5), TITLE, [{ name: 'title', value: 'There' }]],
    ['is of the same stamp', retitle('Here', 5), retitle('There', 5), TITLE, []],
    ['is the same', retitle('Here', 5), retitle('Here', 9), TITLE, []],
    ['of metadata falls', meta(1, 5), meta(2, 9), META, [{ name: 'metadata.k', value: 1 }]],
    ['of metadata stands', meta(1, 9), meta(2, 5), META, [{ name: 'metadata.k', value: 2 }]],
    ['of metadata was taken away there', meta(1, 5), meta(undefined, 9), META, []],
    [
      'is a claim',
      claimRecord(base, 'ann', NOW + 9),
      claimRecord(base, 'bob', NOW + 5),
      CLAIM,
      [{ name: 'life', value: { status: 'in_progress', assignee: 'ann' } }],
    ],
    [
      'is a claim of the same',
      claimRecord(base, 'ann', NOW + 9),
      claimRecord(base, 'ann', NOW + 5),
      CLAIM,
      [],
    ],
    [
      'is a claim, and there it was closed',
      claimRecord(base, 'ann', NOW + 9),
      closeRecord(base, 'done', NOW + 5),
      CLAIM,
      [],
    ],
    ['and there it is deleted', retitle('Here', 5), deleteRecord(retitle('There', 6), NOW + 9), TITLE, []],
    [
      'but only in another field',
      retitle('Here', 5),
      retitle('There', 9),
      changes({ task: { title: 'Here' }, changed: ['description'] }),
      [],
    ],
    [
      'and is in the files',
      retitle('Here', 5),
      retitle('There', 9),
      changes({ task: { title: 'Here' }, changed: ['title'] }, { seq: 1 }),
      [],
    ],
    [
      'by Forge itself',
      retitle('Here', 5),
      retitle('There', 9),
      changes({ task: { title: 'Here' }, changed: ['title'] }, { by: 'system:fold' }),
      [],
    ],
    [
      'that this store had once',
      retitle('Here', 5),
      retitle('There', 9),
      changes({ task: { title: 'There' }, changed: ['title'] }),
      [],
    ],
    [
      'of metadata that this store had once',
      meta(1, 5),
      meta(2, 9),
      changes({ task: { metadata: { k: 2 } }, changed: ['metadata'] }),
      [],
    ],
  ])('%s', (_, ours, theirs, known, lost) => {
    expect(findUnsharedLosses(ours, theirs, known)).toMatchObject(lost);
    expect(findUnsharedLosses(ours, theirs, known)).toHaveLength(lost.length);
  });
});

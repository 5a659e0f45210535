import { describe, expect, it } from 'vitest';
import { toFieldEdit } from './field-edit.ts';

describe('toFieldEdit', () => {
  it.each([
    ['nothing', {}, [], [], []],
    [
      'every field',
      { title: 't', description: 'd', priority: 0, type: 'bug', github_issue: null, parent_id: null },
      [
        ['title', 't'],
        ['description', 'd'],
        ['priority', 0],
        ['type', 'bug'],
        ['github_issue', null],
        ['parent_id', null],
      ],
      [],
      [],
    ],
    [
      'a field of the workflow',
      { workflow_fields: new Map([['archived_at', null]]) },
      [['archived_at', null]],
      [],
      [],
    ],
    [
      'a label that is both taken away and given',
      { labels_remove: ['a', 'b'], labels_add: ['b', 'c'] },
      [],
      [
        ['a', { value: undefined }],
        ['b', { value: true }],
        ['c', { value: true }],
      ],
      [],
    ],
    [
      'a key that is both taken away and given',
      { metadata_unset: ['a', 'b'], metadata_set: new Map([['b', 1]]) },
      [],
      [],
      [
        ['a', { value: undefined }],
        ['b', { value: 1 }],
      ],
    ],
  ])('%s', (_, wish, fields, labels, metadata) => {
    const edit = toFieldEdit(wish);
    expect([...(edit.fields ?? [])]).toEqual(fields);
    expect([...(edit.labels ?? [])]).toEqual(labels);
    expect([...(edit.metadata ?? [])]).toEqual(metadata);
  });
});

import { describe, expect, it } from 'vitest';
import type { Json } from '#kernel/json.ts';
import { readHolder, showWorkflowFields } from './workflow-fields.ts';

const NOTE = { code: 'stuck', message: 'It failed', at: '2026-01-01T00:00:00.000Z' };

describe('what a task shows of its workflow', () => {
  it.each<[string, Json, object]>([
    ['error_annotation', NOTE, { error_annotation: NOTE }],
    ['archived_at', '2026-01-01', { archived_at: '2026-01-01' }],
    ['review_passed_at', '2026-01-01', { review_passed_at: '2026-01-01' }],
    ['role:coder', { agent: 'ada' }, { roles: { coder: { agent: 'ada' } } }],
    ['role:reviewer', { user: 'ann' }, { roles: { reviewer: { user: 'ann' } } }],
    ['error_annotation', 'a text', {}],
    ['archived_at', 5, {}],
    ['archived_at', null, {}],
    ['role:coder', 'ada', {}],
    ['another', 'x', {}],
  ])('%s of %j', (name, value, shown) => {
    const made = showWorkflowFields([[name, value]]);
    expect(JSON.parse(JSON.stringify(made))).toEqual(shown);
    // A key without a value would be written, and sent.
    expect(Object.keys(made)).toEqual(Object.keys(shown));
  });
});

it.each<[Json, object | undefined]>([
  [{ agent: 'ada' }, { agent: 'ada' }],
  [{ user: 'ann' }, { user: 'ann' }],
  [{ agent: 5, user: 'ann' }, { user: 'ann' }],
  [{ agent: 5 }, undefined],
  [{}, undefined],
  ['ada', undefined],
  [null, undefined],
])('the holder of a role, as a line has it: %j', (value, holder) => {
  expect(readHolder(value)).toEqual(holder);
});

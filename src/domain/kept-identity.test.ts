import { expect, it } from 'vitest';
import type { JsonObject } from '#kernel/json.ts';
import { editedLine } from './edited-line.ts';
import { keepIdentity } from './kept-identity.ts';
import { decodeRecord, encodeRecord } from './record-codec.ts';
import { editRecord, newRecord } from './task-changes.ts';
import type { TaskRecord } from './task-record.ts';

const NOW = Date.UTC(2026, 1, 10, 9);
const OTHER = { created_by: 'ben', created_at: '2001-01-01T00:00:00.000Z' };
const task = makeTask('ann', 'one', NOW);
const renamed = edit(task, { title: 'two' }, 1);
const outgrown = edit(task, { description: 'd' }, 1);

it.for([
  // the line that is edited, how, and what is known
  ['as it is known', task, { ...OTHER, title: 'new', description: 'new' }, task],
  ['only these two edited, of a task that got another title', task, OTHER, renamed],
  ['of a task that has changed elsewhere', task, { ...OTHER, description: 'new' }, outgrown],
  ['the author alone, and other values', task, { created_by: 'ben', title: 'new' }, renamed],
] as const)(
  '[T14-7] a line with another author and time is the known task: %s',
  ([, line, change, known]) => {
    const kept = keep(line, change, known);
    expect(kept).toMatchObject({ created: NOW, created_at: task.created_at, created_by: 'ann' });
    // The stamps are those that Forge wrote, not of the time that the person wrote.
    expect(kept?.fields.get('priority')?.stamp).toBe(NOW);
  },
);

it('[T14-7] an edited line of another task with the same id stays one of another', () => {
  const twin = makeTask('ben', 'other', NOW + 5);
  expect(keep(twin, { description: 'new' }, task)).toBeUndefined();
  expect(keep(twin, { id: 'fg-b' }, task)).toBeUndefined();
  // Without digests nothing tells who wrote it.
  expect(keep(task, { ...OTHER, _v: {} }, task)).toBeUndefined();
});

function makeTask(created_by: string, title: string, now: number): TaskRecord {
  const nothing = { assignee: null, state: 'todo', labels: [], dependencies: [], metadata: new Map() };
  return newRecord({ id: 'fg-a3f8', created_by, fields: { title }, ...nothing }, now);
}

function edit(record: TaskRecord, fields: Record<string, string>, after: number): TaskRecord {
  return editRecord(record, { fields: new Map(Object.entries(fields)) }, NOW + after);
}

/** What becomes of a line of the task, edited so, for a store that knows `known`. */
function keep(line: TaskRecord, change: JsonObject, known: TaskRecord): TaskRecord | undefined {
  const json = { ...(JSON.parse(encodeRecord(line)) as JsonObject), ...change };
  const text = JSON.stringify(json);
  const edited = editedLine(text, json, decodeRecord(json));
  return edited === undefined ? undefined : keepIdentity(text, json, { known, edited })?.record;
}

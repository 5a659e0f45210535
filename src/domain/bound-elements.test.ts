import { describe, expect, it } from 'vitest';
import { LIMITS } from '#kernel/limits.ts';
import { checkComments, checkElements } from './bound-elements.ts';
import { commentRecord, editRecord, newRecord, type ElementEdit } from './task-changes.ts';
import type { TaskRecord } from './task-record.ts';

type Name = 'metadata' | 'labels' | 'dependencies';

const EMPTY = newRecord(
  {
    id: 'fg-1',
    created_by: 'ann',
    fields: { title: 'many' },
    assignee: null,
    state: 'todo',
    labels: [],
    dependencies: [],
    metadata: new Map(),
  },
  1_000,
);

function edit(record: TaskRecord, name: Name, from: number, to: number, is = true): TaskRecord {
  const edits = new Map<string, ElementEdit>();
  for (let at = from; at < to; at += 1) edits.set(`fg-${at}:blocks`, { value: is ? true : undefined });
  return editRecord(record, { [name]: edits }, 2_000);
}

describe('the elements of a task', () => {
  it.each([
    ['metadata', LIMITS.metadata_keys, LIMITS.metadata_keys_ever, 'metadata keys'],
    ['labels', LIMITS.labels_per_task, LIMITS.labels_ever, 'labels'],
    ['dependencies', LIMITS.dependencies_per_task, LIMITS.dependencies_ever, 'dependencies'],
  ] as const)('[A14-2] are bounded: %s', (name, most, ever, what) => {
    const full = edit(EMPTY, name, 0, most);
    checkElements(EMPTY, full);
    expect(() => checkElements(full, edit(full, name, most, most + 1))).toThrow(
      `fg-1 would have ${most + 1} ${what}; the limit is ${most}`,
    );
    // What was taken away counts too, but what was there may come back.
    const used = edit(edit(full, name, 0, most, false), name, most, ever);
    const emptied = edit(used, name, most, ever, false);
    checkElements(used, emptied);
    checkElements(emptied, edit(emptied, name, 0, 1));
    expect(() => checkElements(emptied, edit(emptied, name, ever, ever + 1))).toThrow(
      `fg-1 would have had ${ever + 1} ${what}`,
    );
  });

  it.each(['metadata', 'labels', 'dependencies'] as const)(
    '[A14-2] that came with a file can be changed and taken away: %s',
    (name) => {
      const many = edit(EMPTY, name, 0, 20_001);
      for (const after of [
        edit(many, name, 0, 1, false),
        editRecord(many, { fields: new Map([['priority', 1]]) }, 3_000),
        edit(edit(many, name, 0, 10, false), name, 0, 5),
      ])
        expect(() => checkElements(many, after)).not.toThrow();
    },
  );
});

describe('the comments of a task', () => {
  const withComments = (bodies: readonly string[]): TaskRecord => ({
    ...EMPTY,
    comments: new Map(
      bodies.map((body, at) => {
        const id = `c-${at}`;
        return [id, { id, author: 'ann', body, reply_to: null, created_at: '2026-01-01T00:00:00.000Z' }];
      }),
    ),
  });

  it('are bounded in their number', () => {
    const one = withComments(Array.from({ length: LIMITS.comments_per_task - 1 }, () => 'x'));
    checkComments(one, 'x');
    const full = withComments(Array.from({ length: LIMITS.comments_per_task }, () => 'x'));
    expect(() => checkComments(full, 'x')).toThrow(
      `fg-1 would have ${LIMITS.comments_per_task + 1} comments; the limit is ${LIMITS.comments_per_task}`,
    );
    // The record itself takes what comes with a file.
    const [first] = full.comments.values();
    expect(first && commentRecord(full, { ...first, id: 'c-new' }).comments.size).toBe(
      LIMITS.comments_per_task + 1,
    );
  });

  it('are bounded in their bytes, and name the next command', () => {
    const half = 'ü'.repeat(LIMITS.comments_bytes / 4);
    checkComments(withComments([half]), half);
    expect(() => checkComments(withComments([half]), `${half}x`)).toThrow(
      expect.objectContaining({
        code: 'invalid_input',
        message: `fg-1 would have ${LIMITS.comments_bytes + 1} bytes of comments, as they are in its line; the limit is ${LIMITS.comments_bytes}`,
        hint: expect.stringContaining('forge task create "…" --parent fg-1') as string,
      }),
    );
  });

  it('count as they are in the line of the task: what is escaped takes more', () => {
    const half = '\u0001'.repeat(Math.floor(LIMITS.comments_bytes / 12));
    checkComments(withComments([half]), half);
    expect(() => checkComments(withComments([half]), `${half}\u0001\u0001`)).toThrow(
      expect.objectContaining({
        code: 'invalid_input',
        details: { id: 'fg-1', limit: LIMITS.comments_bytes },
      }),
    );
  });

  it('fit into a line of a task file, escaped, with all else that a task may have', () => {
    const escaped = JSON.stringify('\u0001').length - 2;
    const { description_bytes, metadata_bytes, comments_bytes, comments_per_task } = LIMITS;
    const texts = escaped * (description_bytes + metadata_bytes) + comments_bytes;
    expect(texts + comments_per_task * 300).toBeLessThan(LIMITS.file_line_bytes);
  });
});

import { newRecord } from '#domain/task-changes.ts';
import type { TaskRecord } from '#domain/task-record.ts';
import type { Json } from '#kernel/json.ts';

/** When `plainRecord` was made. */
export const PLAIN_MADE = Date.UTC(2026, 1, 10, 9);

/** A task as it is when it is made, with a title and nothing else. */
export function plainRecord(title: string, metadata: ReadonlyMap<string, Json> = new Map()): TaskRecord {
  return newRecord(
    {
      id: 'fg-a3f8',
      created_by: 'ann',
      assignee: null,
      state: 'todo',
      fields: { title },
      labels: [],
      dependencies: [],
      metadata: new Map(metadata),
    },
    PLAIN_MADE,
  );
}

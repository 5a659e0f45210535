import { describe, expect, it } from 'vitest';
import { Task } from '#contract/task.ts';
import { decodeRecord } from './record-codec.ts';
import { closeRecord, editRecord } from './task-changes.ts';
import { toTask } from './to-task.ts';

const NOW = Date.UTC(2026, 1, 10, 9);
const record = decodeRecord({
  id: 'fg-a3f8',
  title: 'Fix it',
  description: 'Now',
  status: 'in_progress',
  state: 'review',
  priority: 0,
  type: 'bug',
  assignee: 'worker-1',
  parent_id: 'fg-e5a2',
  dependencies: [{ id: 'fg-b2c1', type: 'blocks' }],
  labels: ['ui', 'core'],
  github_issue: 12,
  created_at: '2026-02-10T09:00:00.000Z',
  created_by: 'ann',
  updated_at: '2026-02-11T09:00:00.000Z',
  metadata: { a: { b: null } },
  sprint: 7,
});

describe('toTask', () => {
  it('shows the task without stamps and without keys that this version does not know', () => {
    const task = toTask(record, 5);
    expect(task).toEqual({
      id: 'fg-a3f8',
      title: 'Fix it',
      description: 'Now',
      status: 'in_progress',
      state: 'review',
      priority: 0,
      type: 'bug',
      assignee: 'worker-1',
      parent_id: 'fg-e5a2',
      dependencies: [{ id: 'fg-b2c1', type: 'blocks' }],
      labels: ['core', 'ui'],
      github_issue: 12,
      created_at: '2026-02-10T09:00:00.000Z',
      created_by: 'ann',
      updated_at: '2026-02-11T09:00:00.000Z',
      closed_at: null,
      metadata: { a: { b: null } },
      version: 5,
    });
    expect('close_reason' in task).toBe(false);
    expect(Task.parse(task)).toEqual(task);
  });

  it('shows reason and time of a closing, and updated_at moves with it', () => {
    const closed = toTask(closeRecord(record, 'Merged', NOW + 172_800_000), 6);
    expect(closed).toMatchObject({
      status: 'closed',
      state: 'done',
      close_reason: 'Merged',
      closed_at: '2026-02-12T09:00:00.000Z',
      updated_at: '2026-02-12T09:00:00.000Z',
      assignee: 'worker-1',
    });
  });

  it('leaves out what was removed and keeps metadata under any name', () => {
    const edited = editRecord(
      record,
      {
        labels: new Map([['ui', { value: undefined }]]),
        dependencies: new Map([['fg-b2c1:blocks', { value: undefined }]]),
        metadata: new Map([
          ['a', { value: undefined }],
          ['__proto__', { value: { admin: true } }],
        ]),
      },
      NOW,
    );
    const task = toTask(edited, 2);
    expect(task).toMatchObject({ labels: ['core'], dependencies: [] });
    expect(Object.keys(task.metadata)).toEqual(['__proto__']);
    expect(JSON.stringify(task.metadata)).toBe('{"__proto__":{"admin":true}}');
    expect('admin' in task.metadata).toBe(false);
  });
});

import { describe, expect, it } from 'vitest';
import { LIMITS } from '#kernel/limits.ts';
import { deciding, NOW } from '../../tests/support/seen-task.ts';
import { chooseId, planCreate, type TaskWish } from './plan-create.ts';
import { toTask } from './to-task.ts';

const WISH: TaskWish = {
  title: 'One',
  description: 'text',
  type: 'bug',
  priority: 1,
  state: 'backlog',
  parent_id: 'fg-0001',
  assignee: 'ann',
  labels: ['a', 'b', 'a'],
  github_issue: 7,
  blockers: ['fg-0002', 'fg-0002'],
  metadata: new Map([['key', 'value']]),
  workflow_fields: new Map([['role:coder', { agent: 'bob' }]]),
};

describe('planCreate', () => {
  it('holds all that was wished, each label and blocker once', () => {
    const { after, happening } = planCreate('fg-a1b2', WISH, deciding());
    expect(happening).toEqual({ type: 'task.created', changed: [] });
    expect(after.created).toBe(NOW);
    expect(toTask(after, 1)).toMatchObject({
      id: 'fg-a1b2',
      title: 'One',
      description: 'text',
      type: 'bug',
      priority: 1,
      status: 'open',
      state: 'backlog',
      parent_id: 'fg-0001',
      assignee: 'ann',
      labels: ['a', 'b'],
      github_issue: 7,
      dependencies: [{ id: 'fg-0002', type: 'blocks' }],
      metadata: { key: 'value' },
      roles: { coder: { agent: 'bob' } },
      created_by: 'me',
    });
  });

  it.each([
    [
      'labels',
      'the limit is',
      { labels: Array.from({ length: LIMITS.labels_per_task + 1 }, (_, at) => `l${at}`) },
    ],
    ['metadata', 'metadata', { metadata: new Map([['key', 'x'.repeat(LIMITS.metadata_bytes)]]) }],
  ])('refuses too much: %s', (_, message, more) => {
    expect(() => planCreate('fg-a1b2', { ...WISH, ...more }, deciding())).toThrow(message);
  });
});

describe('chooseId', () => {
  /** Bytes that spell 0, 1, 2, … one id after another. */
  function counting(): (size: number) => Uint8Array {
    let next = 0;
    return (size) => new Uint8Array(size).fill(next++ % 36);
  }

  it('takes the first that no task has or had', () => {
    const taken = new Set(['fg-0000', 'fg-1111']);
    const is_taken = (id: string) => taken.has(id);
    expect(chooseId({ prefix: 'fg', tasks: 0, random: counting(), is_taken })).toBe('fg-2222');
  });

  it('gives longer ones where all that were tried are taken, and where there are many tasks', () => {
    const is_taken = (id: string) => id.length < 'fg-00000'.length;
    const first = chooseId({ prefix: 'fg', tasks: 0, random: counting(), is_taken });
    expect(first).toMatch(/^fg-.{5}$/);
    const many = chooseId({ prefix: 'fg', tasks: 5_000, random: counting(), is_taken: () => false });
    expect(many).toBe('fg-000000');
  });

  it('tries a length as often as the limit says', () => {
    const asked: string[] = [];
    const is_taken = (id: string) => asked.push(id) <= LIMITS.id_tries;
    chooseId({ prefix: 'fg', tasks: 0, random: counting(), is_taken });
    expect(asked.filter((id) => id.length === 'fg-0000'.length)).toHaveLength(LIMITS.id_tries);
  });
});

import { describe, expect, it } from 'vitest';
import type { Json } from '#kernel/json.ts';
import { toIso } from '#kernel/clock.ts';
import { by, create, everything, expectCode, line, newTask, type OpenStore } from './open-behaviour.ts';

export function describeCreate(open: OpenStore): void {
  describe('createTask', () => {
    it('keeps every field, also for the next process', async () => {
      await using sut = await open();
      const epic = await create(sut, 'Epic', { type: 'epic' });
      const first = await create(sut, 'First');
      const second = await create(sut, 'Second');
      const writer = by(sut, 'worker-1');
      const metadata = { plan: { steps: [1, 2.5, null, 'drei'] }, '10': 'ten', '2': 'two', ключ: '✓' };
      const task = await sut.store.createTask(
        {
          id_prefix: 'fg',
          title: 'Write the "parser"; it\'s \\ hard — 解析器',
          description: '## Summary\nline\ttab\r\n`code` %s',
          type: 'bug',
          priority: 0,
          state: 'todo',
          parent_id: epic.id,
          assignee: 'Ann Lee',
          labels: ['zeta', 'alpha', 'zeta', 'ünï'],
          github_issue: 9_007_199_254_740_991,
          depends_on: [second.id, first.id, second.id],
          metadata: new Map<string, Json>(Object.entries(metadata)),
        },
        writer,
      );
      const expected = {
        id: expect.stringMatching(/^fg-[0-9a-z]{4}$/),
        title: 'Write the "parser"; it\'s \\ hard — 解析器',
        description: '## Summary\nline\ttab\r\n`code` %s',
        status: 'open',
        state: 'todo',
        priority: 0,
        type: 'bug',
        assignee: 'Ann Lee',
        parent_id: epic.id,
        dependencies: [first.id, second.id].sort().map((id) => ({ id, type: 'blocks' })),
        labels: ['alpha', 'zeta', 'ünï'],
        github_issue: 9_007_199_254_740_991,
        created_at: toIso(writer.now),
        created_by: 'worker-1',
        updated_at: toIso(writer.now),
        closed_at: null,
        metadata,
        version: 1,
      };
      expect(task).toStrictEqual(expected);
      await sut.reopen();
      const [listed] = await sut.store.listTasks({ type: 'bug' });
      expect(listed).toStrictEqual(task);
    });

    it('gives a plain task nothing that nobody asked for', async () => {
      await using sut = await open();
      const task = await create(sut, 'Plain');
      expect(task).toStrictEqual({
        id: task.id,
        title: 'Plain',
        description: '',
        status: 'open',
        state: 'todo',
        priority: 2,
        type: 'task',
        assignee: null,
        parent_id: null,
        dependencies: [],
        labels: [],
        github_issue: null,
        created_at: task.created_at,
        created_by: 'alice',
        updated_at: task.created_at,
        closed_at: null,
        metadata: {},
        version: 1,
      });
    });

    it('makes another task each time and uses the prefix it is given', async () => {
      await using sut = await open();
      const made = [];
      for (let i = 0; i < 30; i += 1) made.push(await create(sut, 'Same title'));
      expect(new Set(made.map((task) => task.id)).size).toBe(30);
      expect((await create(sut, 'Other', { id_prefix: 'ab' })).id).toMatch(/^ab-[0-9a-z]{4}$/);
    });

    it('keeps metadata keys that mean something to JavaScript', async () => {
      await using sut = await open();
      const keys = ['__proto__', 'constructor', 'toString', 'length'];
      const metadata = new Map<string, Json>(keys.map((key) => [key, { polluted: key }]));
      const { id } = await create(sut, 'Sneaky', { metadata });
      await sut.reopen();
      const { metadata: kept } = await sut.store.getTask(id);
      expect(new Map(Object.entries(kept))).toEqual(metadata);
      expect(({} as { polluted?: string }).polluted).toBeUndefined();
    });

    it.each([
      ['a parent', { parent_id: 'fg-none' }],
      ['a blocker', { depends_on: ['fg-none'] }],
    ])('refuses %s that is not there and creates nothing', async (_what, more) => {
      await using sut = await open();
      await create(sut, 'Here');
      const before = await everything(sut);
      const error = await expectCode(create(sut, 'Orphan', more), 'not_found');
      expect(error.message).toContain('fg-none');
      expect(await everything(sut)).toEqual(before);
    });

    it('takes short ids for parent and blockers', async () => {
      await using sut = await open();
      await sut.bring([line('fg-aaaa'), line('fg-bbbb')]);
      const task = await create(sut, 'Child', { parent_id: 'AA', depends_on: ['fg-b'] });
      expect(task).toMatchObject({ parent_id: 'fg-aaaa', dependencies: [{ id: 'fg-bbbb', type: 'blocks' }] });
    });

    it('refuses metadata beyond the limit and creates nothing', async () => {
      await using sut = await open();
      const before = await everything(sut);
      const half = 'x'.repeat(600_000);
      const metadata = new Map([
        ['a', half],
        ['b', half],
      ]);
      await expectCode(create(sut, 'Heavy', { metadata }), 'invalid_input');
      expect(await everything(sut)).toEqual(before);
    });

    it('parks a task that starts in the backlog and reserves one that starts with an owner', async () => {
      await using sut = await open();
      const parked = await create(sut, 'Later', { state: 'backlog' });
      const reserved = await create(sut, 'For bob', { assignee: 'bob' });
      expect(parked).toMatchObject({ status: 'open', state: 'backlog' });
      expect(reserved).toMatchObject({ status: 'open', state: 'todo', assignee: 'bob' });
      expect(await sut.store.listReady({})).toEqual([]);
    });

    it('writes the name in created_by and the kind in the history', async () => {
      await using sut = await open();
      const person = await sut.store.createTask(newTask('By a person'), by(sut, 'Ann Lee', 'user'));
      const [entry] = await sut.store.readHistory({ id: person.id, limit: undefined });
      expect(person.created_by).toBe('Ann Lee');
      expect(entry).toMatchObject({
        type: 'task.created',
        triggered_by: 'user:Ann Lee',
        at: person.created_at,
      });
    });
  });
}

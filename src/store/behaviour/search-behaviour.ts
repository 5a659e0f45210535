import { describe, expect, it } from 'vitest';
import type { Task } from '#contract/task.ts';
import type { TaskPosition, TaskQuery } from '../store.ts';
import {
  claim,
  close,
  create,
  expectCode,
  line,
  titles,
  type OpenStore,
  type StoreUnderTest,
} from './open-behaviour.ts';

export function describeSearch(open: OpenStore): void {
  describe('listTasks', () => {
    it.each<[TaskQuery, string[]]>([
      [{}, ['Login page', 'Epic', 'Crash at 100%', 'Parked', 'Old bug']],
      [{ status: 'open' }, ['Login page', 'Epic', 'Parked']],
      [{ status: 'in_progress' }, ['Crash at 100%']],
      [{ status: 'closed' }, ['Old bug']],
      [{ open_only: true }, ['Login page', 'Epic', 'Crash at 100%', 'Parked']],
      [{ open_only: true, status: 'closed' }, ['Old bug']],
      [{ open_only: false }, ['Login page', 'Epic', 'Crash at 100%', 'Parked', 'Old bug']],
      [{ state: 'backlog' }, ['Parked']],
      [{ state: 'cancelled' }, ['Old bug']],
      [{ type: 'bug' }, ['Crash at 100%', 'Old bug']],
      [{ priority: 0 }, ['Login page']],
      [{ assignee: 'bob' }, ['Crash at 100%']],
      [{ assignee: 'BOB' }, []],
      [{ assignee: null }, ['Epic', 'Parked', 'Old bug']],
      [{ label: 'ui' }, ['Login page', 'Old bug']],
      [{ label: 'u' }, []],
      [{ label: 'UI' }, []],
      [{ parent_id: 'fg-epic' }, ['Login page', 'Crash at 100%']],
      [{ parent_id: null }, ['Epic', 'Parked', 'Old bug']],
      [{ github_issue: 47 }, ['Login page', 'Old bug']],
      [{ github_issue: null }, ['Epic', 'Crash at 100%', 'Parked']],
      [{ text: 'bug' }, ['Old bug']],
      [{ text: 'LOGIN' }, ['Login page', 'Crash at 100%']],
      [{ status: 'open', priority: 0, label: 'ui' }, ['Login page']],
      [{ status: 'open', priority: 1, label: 'ui' }, []],
      [
        { type: 'bug', status: 'closed', github_issue: 47, label: 'ui', assignee: null, text: 'old' },
        ['Old bug'],
      ],
      [{ parent_id: 'fg-epic', assignee: 'bob', type: 'bug', open_only: true }, ['Crash at 100%']],
      [{ status: 'closed', parent_id: 'fg-epic' }, []],
      [{ limit: 2 }, ['Login page', 'Epic']],
      [{ status: 'open', limit: 1, sort: 'created' }, ['Epic']],
      [{ sort: 'created' }, ['Epic', 'Old bug', 'Login page', 'Crash at 100%', 'Parked']],
      [{ sort: 'updated' }, ['Crash at 100%', 'Old bug', 'Parked', 'Login page', 'Epic']],
      [{ sort: 'id' }, ['Crash at 100%', 'Epic', 'Login page', 'Old bug', 'Parked']],
    ])('%j', async (query, expected) => {
      await using sut = await open();
      await library(sut);
      expect(titles(await sut.store.listTasks(query))).toEqual(expected);
    });

    it.each<TaskQuery>([
      {},
      { limit: 2 },
      { open_only: true, limit: 3 },
      { sort: 'created' },
      { sort: 'updated' },
      { sort: 'id', limit: 4 },
      { label: 'ui' },
      { text: 'login' },
      { text: 'ö' },
      { text: 'nowhere' },
      { parent_id: 'fg-epic', assignee: 'bob' },
    ])('in pages of few bytes there are the same tasks: %j', async (query) => {
      await using sut = await open();
      await library(sut);
      const whole = await sut.store.listTasks({ ...query, limit: undefined });
      for (const max_bytes of [1, 100, 1_000_000]) {
        const pages: Task[][] = [];
        for (let after: TaskPosition | undefined; ;) {
          const page = await sut.store.pageTasks({ ...query, after, max_bytes });
          pages.push(page.tasks);
          after = page.after ?? (page.tasks.length === query.limit ? toPlace(page.tasks.at(-1)) : undefined);
          if (after === undefined) break;
        }
        expect(pages.flat()).toEqual(whole);
        // The smallest bound lets one row through at a time.
        const most = max_bytes === 1 ? 1 : whole.length;
        expect(pages.every((page) => page.length <= most)).toBe(true);
      }
    });

    it('a page reads no more than its bytes, whatever the order and however far the search has to look', async () => {
      await using sut = await open();
      await sut.bring(
        Array.from({ length: 12 }, (_, at) => line(`fg-aa${at + 10}`, { description: 'x'.repeat(10_000) })),
      );
      const bound = { max_bytes: 35_000 };
      for (const sort of ['priority', 'created', 'updated', 'id'] as const)
        expect((await sut.store.pageTasks({ sort, ...bound })).tasks).toHaveLength(3);
      const ready = await sut.store.pageReady(bound);
      expect([ready.tasks.length, ready.after?.id]).toEqual([3, 'fg-aa12']);
      const reserved = await sut.store.pageReady({ assignee: 'bob', ...bound });
      expect([reserved.tasks.length, reserved.after?.id]).toEqual([3, 'fg-aa12']);
      const impact = await sut.store.pageReady({ sort: 'impact', ...bound });
      expect([impact.tasks.length, impact.after?.id]).toEqual([3, 'fg-aa12']);
      const search = await sut.store.pageTasks({ text: 'fg-aa21', ...bound });
      expect([search.tasks.length, search.after?.id]).toEqual([0, 'fg-aa12']);
      expect((await sut.store.pageTasks({ max_bytes: 200_000 })).tasks).toHaveLength(12);
    });

    it('[S68] tasks of a GitHub issue come by priority, then age', async () => {
      await using sut = await open();
      await create(sut, 'Third', { github_issue: 47, priority: 2 });
      await create(sut, 'Fourth', { github_issue: 47, priority: 2 });
      await create(sut, 'Other', { github_issue: 48, priority: 0 });
      await create(sut, 'First', { github_issue: 47, priority: 0 });
      await create(sut, 'Second', { github_issue: 47, priority: 1 });
      expect(titles(await sut.store.listTasks({ github_issue: 47 }))).toEqual([
        'First',
        'Second',
        'Third',
        'Fourth',
      ]);
    });

    it('an unknown parent is not_found, not an empty list', async () => {
      await using sut = await open();
      await expectCode(sut.store.listTasks({ parent_id: 'fg-none' }), 'not_found');
    });

    it.each([
      ['%', ['100% done', 'a%b']],
      ['_', ['a_b', 'under_score']],
      ['a_b', ['a_b']],
      ['a%b', ['a%b']],
      ['\\', ['back\\slash']],
      ['k\\s', ['back\\slash']],
      ["'", ["it's"]],
      ["'; DROP TABLE tasks; --", []],
      ['"', ['say "hi"']],
      ['[a-z]', []],
      ['*', []],
      ['  ', []],
      ['\n', ["it's"]],
      ['ÄPFEL', ['Grüne Äpfel']],
      ['grüne ä', ['Grüne Äpfel']],
      ['привет', ['ПРИВЕТ']],
      ['ПРИ', ['ПРИВЕТ']],
      ['οδοσ', ['ΟΔΟΣ ΑΒ']],
      ['ΟΔΟΣ', ['ΟΔΟΣ ΑΒ']],
      ['解析', ['解析器']],
      ['🦊', ['Fix 🦊']],
      ['100% DONE', ['100% done']],
    ])('text %j finds %j: every character stands for itself', async (text, expected) => {
      await using sut = await open();
      for (const title of ['100% done', 'a%b', 'a_b', 'axb', 'under_score', 'back\\slash', 'say "hi"'])
        await create(sut, title);
      await create(sut, "it's", { description: 'two\nlines', metadata: new Map([['k', 1]]) });
      for (const title of ['Grüne Äpfel', 'ПРИВЕТ', 'ΟΔΟΣ ΑΒ', '解析器', 'Fix 🦊']) await create(sut, title);
      expect(titles(await sut.store.listTasks({ text, sort: 'created' }))).toEqual(expected);
      expect(await sut.store.listTasks({})).toHaveLength(13);
    });

    it.each(["o'neil", 'a"b', '%', "x'); DROP TABLE tasks; --", '\\', 'ärger'])(
      'label and owner %j are found as they are',
      async (word) => {
        await using sut = await open();
        const { id } = await create(sut, 'Odd', { labels: [word], assignee: word });
        await create(sut, 'Plain', { labels: ['plain'], assignee: 'plain' });
        expect(await sut.store.listTasks({ label: word })).toMatchObject([{ id, labels: [word] }]);
        expect(await sut.store.listTasks({ assignee: word })).toMatchObject([{ id, assignee: word }]);
        expect(titles(await sut.store.listReady({ assignee: word, label: word }))).toEqual(['Odd']);
      },
    );

    it('looks in descriptions too, and a limit comes after the filter', async () => {
      await using sut = await open();
      for (let i = 0; i < 5; i += 1)
        await create(sut, `Task ${i}`, { description: i % 2 === 0 ? 'Needle' : 'hay' });
      expect(titles(await sut.store.listTasks({ text: 'needle', limit: 2 }))).toEqual(['Task 0', 'Task 2']);
    });
  });
}

async function library(sut: StoreUnderTest): Promise<void> {
  await sut.bring([line('fg-epic', { title: 'Epic', type: 'epic', priority: 1 })]);
  await sut.bring([
    line('fg-oldb', {
      title: 'Old bug',
      type: 'bug',
      priority: 4,
      labels: ['ui'],
      github_issue: 47,
      created_at: '2026-01-02T00:00:00.000Z',
    }),
  ]);
  await sut.bring([
    line('fg-logi', {
      title: 'Login page',
      priority: 0,
      labels: ['ui', 'auth'],
      parent_id: 'fg-epic',
      github_issue: 47,
      assignee: 'ann',
      created_at: '2026-01-03T00:00:00.000Z',
      updated_at: '2026-01-03T00:00:00.000Z',
    }),
    line('fg-cras', {
      title: 'Crash at 100%',
      description: 'After login',
      type: 'bug',
      parent_id: 'fg-epic',
      created_at: '2026-01-04T00:00:00.000Z',
      updated_at: '2026-01-04T00:00:00.000Z',
    }),
    line('fg-park', {
      title: 'Parked',
      state: 'backlog',
      priority: 3,
      created_at: '2026-01-05T00:00:00.000Z',
      updated_at: '2026-01-05T00:00:00.000Z',
    }),
  ]);
  await close(sut, 'fg-oldb', 'duplicate of something');
  await claim(sut, 'fg-cras', 'bob');
}

function toPlace(task: Task | undefined): TaskPosition | undefined {
  if (task === undefined) return undefined;
  const { id, priority, created_at, updated_at } = task;
  return { id, priority, created_at, updated_at, critical_path: 0, unblocks: 0 };
}

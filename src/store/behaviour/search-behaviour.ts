import { describe, expect, it } from 'vitest';
import type { TaskQuery } from '../store.ts';
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
      await create(sut, "it's", { description: 'two\nlines' });
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

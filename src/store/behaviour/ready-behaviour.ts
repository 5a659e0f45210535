import { NO_AGENTS } from '#domain/claimer.ts';
import { describe, expect, it } from 'vitest';
import {
  by,
  claim,
  close,
  create,
  depend,
  line,
  readyTitles,
  titles,
  type OpenStore,
  type StoreUnderTest,
} from './open-behaviour.ts';

export function describeReady(open: OpenStore): void {
  describe('listReady', () => {
    it('[S59] open, unassigned, no open blocker, not parked', async () => {
      await using sut = await open();
      await assortment(sut);
      expect(await readyTitles(sut)).toEqual(['Blocker', 'Free', 'Freed']);
    });

    it('[S60] by priority, then age, then id', async () => {
      await using sut = await open();
      await sut.bring([
        line('fg-dddd', { priority: 2, created_at: '2026-01-02T00:00:00.000Z' }),
        line('fg-cccc', { priority: 2, created_at: '2026-01-01T00:00:00.000Z' }),
        line('fg-bbbb', { priority: 2, created_at: '2026-01-02T00:00:00.000Z' }),
        line('fg-aaaa', { priority: 4, created_at: '2025-01-01T00:00:00.000Z' }),
        line('fg-zzzz', { priority: 0, created_at: '2026-06-01T00:00:00.000Z' }),
      ]);
      expect(await readyTitles(sut)).toEqual(['fg-zzzz', 'fg-cccc', 'fg-bbbb', 'fg-dddd', 'fg-aaaa']);
      expect(titles(await sut.store.listReady({ limit: 2 }))).toEqual(['fg-zzzz', 'fg-cccc']);
    });

    it('[S62] related and discovered-from never block', async () => {
      await using sut = await open();
      const other = await create(sut, 'Other');
      const task = await create(sut, 'Task');
      await depend(sut, task.id, other.id, 'related');
      await depend(sut, task.id, other.id, 'discovered-from');
      expect(await readyTitles(sut)).toEqual(['Other', 'Task']);
      expect(await sut.store.getTask(task.id)).toMatchObject({ open_blockers: 0, ready: true });
    });

    it('a parked task leaves the queue and comes back', async () => {
      await using sut = await open();
      const { id } = await create(sut, 'Task');
      await sut.store.updateTask({ id, state: 'backlog', agents: NO_AGENTS }, by(sut));
      expect(await readyTitles(sut)).toEqual([]);
      expect(await sut.store.getTask(id)).toMatchObject({ ready: false });
      await sut.store.updateTask({ id, state: 'todo', agents: NO_AGENTS }, by(sut, 'ann', 'user'));
      expect(await readyTitles(sut)).toEqual(['Task']);
    });

    it('a parked blocker still blocks', async () => {
      await using sut = await open();
      const blocker = await create(sut, 'Parked', { state: 'backlog' });
      await create(sut, 'Waits', { depends_on: [blocker.id] });
      expect(await readyTitles(sut)).toEqual([]);
      await close(sut, blocker.id);
      expect(await readyTitles(sut)).toEqual(['Waits']);
    });

    it('offers reserved tasks to the one they are reserved for, in the common order', async () => {
      await using sut = await open();
      await create(sut, 'For bob', { assignee: 'bob', priority: 1 });
      await create(sut, 'First', { priority: 0 });
      await create(sut, 'For carol', { assignee: 'carol', priority: 0 });
      const last = await create(sut, 'Last', { priority: 3 });
      await create(sut, 'Parked for bob', { assignee: 'bob', state: 'backlog' });
      await create(sut, 'Blocked for bob', { assignee: 'bob', depends_on: [last.id] });
      const forBob = await sut.store.listReady({ assignee: 'bob' });
      expect(titles(forBob)).toEqual(['First', 'For bob', 'Last']);
      expect(titles(await sut.store.listReady({ assignee: 'bob', limit: 2 }))).toEqual(['First', 'For bob']);
      expect(titles(await sut.store.listReady({ assignee: null }))).toEqual(['First', 'Last']);
      expect(await sut.store.listReady({ assignee: 'bob', type: 'bug' })).toEqual([]);
    });

    it('keeps to type, label and excluded types', async () => {
      await using sut = await open();
      await create(sut, 'Bug', { type: 'bug', labels: ['ui', 'crash'] });
      await create(sut, 'Epic', { type: 'epic', labels: ['ui'] });
      await create(sut, 'Message', { type: 'message' });
      await create(sut, 'Task');
      const list = async (query: Parameters<typeof sut.store.listReady>[0]) =>
        titles(await sut.store.listReady(query));
      expect(await list({ type: 'bug' })).toEqual(['Bug']);
      expect(await list({ label: 'ui' })).toEqual(['Bug', 'Epic']);
      expect(await list({ label: 'u' })).toEqual([]);
      expect(await list({ label: 'ui', type: 'epic' })).toEqual(['Epic']);
      expect(await list({ exclude_types: ['epic', 'message'] })).toEqual(['Bug', 'Task']);
      expect(await list({ exclude_types: ['epic', 'message'], type: 'epic' })).toEqual(['Epic']);
      expect(await list({ exclude_types: [], limit: 1 })).toEqual(['Bug']);
    });

    it('impact: what the longest open chain waits for comes first', async () => {
      await using sut = await open();
      await create(sut, 'Urgent, alone', { priority: 0 });
      const wide = await create(sut, 'Wide');
      for (const n of [1, 2, 3]) await create(sut, `Waits ${n}`, { depends_on: [wide.id] });
      const deep = await create(sut, 'Deep', { priority: 4 });
      const next = await create(sut, 'Next', { depends_on: [deep.id] });
      const after = await create(sut, 'After next', { depends_on: [next.id] });
      const ready = await sut.store.listReady({ sort: 'impact' });
      expect(ready.map(({ title, impact }) => [title, impact])).toEqual([
        ['Deep', { critical_path: 2, unblocks: 1 }],
        ['Wide', { critical_path: 1, unblocks: 3 }],
        ['Urgent, alone', { critical_path: 0, unblocks: 0 }],
      ]);
      await close(sut, after.id);
      const [first] = await sut.store.listReady({ sort: 'impact', limit: 1 });
      expect(first).toMatchObject({ title: 'Wide', impact: { critical_path: 1, unblocks: 3 } });
      expect(await sut.store.listReady({ sort: 'priority', limit: 1 })).toMatchObject([
        { title: 'Urgent, alone' },
      ]);
    });
  });

  describe('explainReady', () => {
    it('says for each task that is not closed why it is or is not ready', async () => {
      await using sut = await open();
      const { blocker } = await assortment(sut);
      const explained = await sut.store.explainReady({ exclude_types: ['epic'] });
      expect(explained.map(({ title, ready, reasons }) => [title, ready, reasons])).toEqual([
        ['Blocker', true, ['open, unassigned, no open blocker']],
        ['Waits', false, [`waits for ${blocker.id} (open)`]],
        ['Taken', false, ['in progress with bob']],
        ['Reserved', false, ['reserved for carol']],
        ['Parked', false, ['parked in backlog']],
        ['Free', true, ['open, unassigned, no open blocker']],
        ['Freed', true, ['open, unassigned, no open blocker']],
      ]);
      expect(explained[1]?.blockers).toEqual([
        { id: blocker.id, title: 'Blocker', status: 'open', assignee: null },
      ]);
    });

    it('gives every reason at once, and agrees with listReady for the same query', async () => {
      await using sut = await open();
      const blocker = await create(sut, 'Blocker', { type: 'epic', labels: ['x'] });
      await create(sut, 'Doomed', {
        type: 'epic',
        labels: ['x'],
        state: 'backlog',
        assignee: 'carol',
        depends_on: [blocker.id],
      });
      const [, doomed] = await sut.store.explainReady({ exclude_types: ['epic'] });
      expect(doomed?.reasons).toEqual([
        'reserved for carol',
        'parked in backlog',
        'type epic is left out by ready.excludeTypes',
        `waits for ${blocker.id} (open)`,
      ]);
      await assortment(sut);
      for (const query of [
        {},
        { assignee: 'carol' },
        { type: 'epic', exclude_types: ['epic'] },
        { label: 'x' },
        { limit: 2 },
      ] as const) {
        const { limit, ...rest } = query as { limit?: number };
        const ready = (await sut.store.explainReady(rest)).filter((task) => task.ready).slice(0, limit);
        expect(titles(ready)).toEqual(titles(await sut.store.listReady(query)));
      }
      expect(await sut.store.explainReady({ limit: 3 })).toHaveLength(3);
    });
  });

  describe('listBlocked', () => {
    it('lists open tasks that wait with what they wait for, in the common order', async () => {
      await using sut = await open();
      const { blocker } = await assortment(sut);
      const urgent = await create(sut, 'Urgent', {
        priority: 0,
        assignee: 'carol',
        depends_on: [blocker.id],
      });
      const started = await create(sut, 'Started anyway', { depends_on: [blocker.id] });
      await claim(sut, started.id, 'bob', true);
      const blocked = await sut.store.listBlocked({ limit: undefined });
      expect(titles(blocked)).toEqual(['Urgent', 'Waits']);
      expect(blocked[0]).toEqual({
        id: urgent.id,
        title: 'Urgent',
        status: 'open',
        state: 'todo',
        priority: 0,
        type: 'task',
        assignee: 'carol',
        blockers: [{ id: blocker.id, title: 'Blocker', status: 'open', assignee: null }],
      });
      expect(titles(await sut.store.listBlocked({ limit: 1 }))).toEqual(['Urgent']);
    });
  });
}

/** One task of every kind, in the order of their age. */
async function assortment(sut: StoreUnderTest) {
  const blocker = await create(sut, 'Blocker');
  const done = await create(sut, 'Done');
  await close(sut, done.id);
  await create(sut, 'Waits', { depends_on: [blocker.id, done.id] });
  const taken = await create(sut, 'Taken');
  await claim(sut, taken.id, 'bob');
  await create(sut, 'Reserved', { assignee: 'carol' });
  await create(sut, 'Parked', { state: 'backlog' });
  await create(sut, 'Free');
  await create(sut, 'Freed', { depends_on: [done.id] });
  return { blocker };
}

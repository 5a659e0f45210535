import { describe, expect, it } from 'vitest';
import {
  by,
  claim,
  close,
  create,
  depend,
  everything,
  expectCode,
  line,
  readyTitles,
  type OpenStore,
} from './open-behaviour.ts';

export function describeDependencies(open: OpenStore): void {
  describe('dependencies', () => {
    it('[S63] [S64] show gives both directions with type, title, status, priority and owner', async () => {
      await using sut = await open();
      const blocker = await create(sut, 'Blocker', { priority: 1 });
      await claim(sut, blocker.id, 'worker-1');
      const found = await create(sut, 'Found in', { priority: 4 });
      const task = await create(sut, 'Task', { depends_on: [blocker.id] });
      await depend(sut, task.id, found.id, 'discovered-from');
      const shown = await sut.store.getTask(task.id);
      const edges = [
        {
          id: blocker.id,
          type: 'blocks',
          resolved: {
            title: 'Blocker',
            status: 'in_progress',
            state: 'in_progress',
            priority: 1,
            assignee: 'worker-1',
          },
        },
        {
          id: found.id,
          type: 'discovered-from',
          resolved: { title: 'Found in', status: 'open', state: 'todo', priority: 4, assignee: null },
        },
      ];
      expect(shown.dependencies).toEqual(edges.sort((a, b) => (a.id < b.id ? -1 : 1)));
      expect((await sut.store.getTask(blocker.id)).dependents).toEqual([
        {
          id: task.id,
          type: 'blocks',
          resolved: { title: 'Task', status: 'open', state: 'todo', priority: 2, assignee: null },
        },
      ]);
    });

    it('adding is idempotent; two types between the same tasks are two edges', async () => {
      await using sut = await open();
      const [a, b] = [await create(sut, 'A'), await create(sut, 'B')];
      expect(await depend(sut, a.id, b.id)).toEqual({ from_id: a.id, to_id: b.id, added: true });
      const before = await everything(sut);
      expect(await depend(sut, a.id, b.id)).toEqual({ from_id: a.id, to_id: b.id, added: false });
      expect(await everything(sut)).toEqual(before);
      expect(await depend(sut, a.id, b.id, 'related')).toMatchObject({ added: true });
      const task = (await sut.store.listTasks({})).find(({ id }) => id === a.id);
      expect(task?.dependencies).toEqual([
        { id: b.id, type: 'blocks' },
        { id: b.id, type: 'related' },
      ]);
      const history = await sut.store.readHistory({ id: a.id, limit: 2 });
      expect(history.map(({ summary }) => summary)).toEqual([
        `depends on ${b.id} (blocks)`,
        `depends on ${b.id} (related)`,
      ]);
    });

    it('closing a blocker frees the dependent, reopening it holds it again', async () => {
      await using sut = await open();
      const blocker = await create(sut, 'Blocker');
      const task = await create(sut, 'Dependent', { depends_on: [blocker.id] });
      expect(await readyTitles(sut)).toEqual(['Blocker']);
      await claim(sut, blocker.id, 'bob');
      expect(await readyTitles(sut)).toEqual([]);
      expect(await close(sut, blocker.id, 'cancelled: not needed')).toMatchObject({ unblocked: [task.id] });
      expect(await readyTitles(sut)).toEqual(['Dependent']);
      await sut.store.reopenTask({ id: blocker.id, reason: null }, by(sut));
      expect(await readyTitles(sut)).toEqual(['Blocker']);
      expect(await sut.store.getTask(task.id)).toMatchObject({ open_blockers: 1, ready: false });
    });

    it('diamond: the last of two blockers frees', async () => {
      await using sut = await open();
      const root = await create(sut, 'Root');
      const left = await create(sut, 'Left', { depends_on: [root.id] });
      const right = await create(sut, 'Right', { depends_on: [root.id] });
      const top = await create(sut, 'Top', { depends_on: [left.id, right.id] });
      await close(sut, root.id);
      expect(await readyTitles(sut)).toEqual(['Left', 'Right']);
      expect(await close(sut, left.id)).toMatchObject({ unblocked: [] });
      expect(await sut.store.getTask(top.id)).toMatchObject({ open_blockers: 1, ready: false });
      expect(await close(sut, right.id)).toMatchObject({ unblocked: [top.id] });
      expect(await readyTitles(sut)).toEqual(['Top']);
    });

    it('transitive chain: one link at a time', async () => {
      await using sut = await open();
      const chain = [await create(sut, '0')];
      for (let i = 1; i < 6; i += 1)
        chain.push(await create(sut, String(i), { depends_on: [chain[i - 1]?.id ?? ''] }));
      for (const [i, task] of chain.entries()) {
        expect(await readyTitles(sut)).toEqual([String(i)]);
        await close(sut, task.id);
      }
      expect(await readyTitles(sut)).toEqual([]);
    });

    it('removing an edge unblocks, and says what was removed', async () => {
      await using sut = await open();
      const [a, b] = [await create(sut, 'A'), await create(sut, 'B')];
      await depend(sut, a.id, b.id);
      await depend(sut, a.id, b.id, 'related');
      const remove = (type?: 'blocks') =>
        sut.store.removeDependency({ from_id: a.id, to_id: b.id, type }, by(sut));
      expect(await remove('blocks')).toEqual({ from_id: a.id, to_id: b.id, removed: ['blocks'] });
      expect(await readyTitles(sut)).toEqual(['A', 'B']);
      await depend(sut, a.id, b.id);
      expect(await remove()).toEqual({ from_id: a.id, to_id: b.id, removed: ['blocks', 'related'] });
      expect(await sut.store.getTask(a.id)).toMatchObject({ dependencies: [], ready: true });
      const [entry] = await sut.store.readHistory({ id: a.id, limit: 1 });
      expect(entry).toMatchObject({ type: 'dependency.removed', changed: ['dependencies'] });
    });

    it('removing an edge that is not there is not_found and changes nothing', async () => {
      await using sut = await open();
      const [a, b] = [await create(sut, 'A'), await create(sut, 'B')];
      await depend(sut, a.id, b.id, 'related');
      const before = await everything(sut);
      const remove = (from_id: string, to_id: string, type?: 'blocks') =>
        sut.store.removeDependency({ from_id, to_id, type }, by(sut));
      await expectCode(remove(b.id, a.id), 'not_found');
      expect((await expectCode(remove(a.id, b.id, 'blocks'), 'not_found')).message).toContain(
        'no blocks dependency',
      );
      await expectCode(remove(a.id, 'fg-none'), 'not_found');
      expect(await everything(sut)).toEqual(before);
    });

    it('an edge added, removed and added again holds', async () => {
      await using sut = await open();
      const [a, b] = [await create(sut, 'A'), await create(sut, 'B')];
      for (let i = 0; i < 5; i += 1) {
        await depend(sut, a.id, b.id);
        await sut.store.removeDependency({ from_id: a.id, to_id: b.id, type: undefined }, by(sut));
      }
      await depend(sut, a.id, b.id);
      await sut.reopen();
      expect(await readyTitles(sut)).toEqual(['B']);
      expect(await sut.store.getTask(a.id)).toMatchObject({ open_blockers: 1 });
    });

    it('refuses unknown tasks at either end', async () => {
      await using sut = await open();
      const { id } = await create(sut, 'A');
      await expectCode(depend(sut, id, 'fg-none'), 'not_found');
      await expectCode(depend(sut, 'fg-none', id), 'not_found');
    });

    it('refuses a self-dependency of any type, and cycles with the path', async () => {
      await using sut = await open();
      const a = await create(sut, 'A');
      const b = await create(sut, 'B', { depends_on: [a.id] });
      const c = await create(sut, 'C', { depends_on: [b.id] });
      const before = await everything(sut);
      for (const type of ['blocks', 'related', 'discovered-from'] as const) {
        const error = await expectCode(depend(sut, a.id, a.id, type), 'dependency_cycle');
        expect(error.details).toEqual({ path: [a.id, a.id] });
      }
      const cycle = await expectCode(depend(sut, a.id, c.id), 'dependency_cycle');
      expect(cycle.details).toEqual({ path: [a.id, c.id, b.id, a.id] });
      expect(cycle.message).toContain([a.id, c.id, b.id, a.id].join(' -> '));
      expect((await expectCode(depend(sut, a.id, b.id), 'dependency_cycle')).details).toEqual({
        path: [a.id, b.id, a.id],
      });
      expect(await everything(sut)).toEqual(before);
    });

    it('a cycle counts through closed tasks, and the path is the shortest', async () => {
      await using sut = await open();
      const a = await create(sut, 'A');
      const long = await create(sut, 'Long', { depends_on: [a.id] });
      const b = await create(sut, 'B', { depends_on: [a.id, long.id] });
      await close(sut, b.id);
      const error = await expectCode(depend(sut, a.id, b.id), 'dependency_cycle');
      expect(error.details).toEqual({ path: [a.id, b.id, a.id] });
    });

    it('related and discovered-from may point back', async () => {
      await using sut = await open();
      const a = await create(sut, 'A');
      const b = await create(sut, 'B', { depends_on: [a.id] });
      expect(await depend(sut, a.id, b.id, 'related')).toMatchObject({ added: true });
      expect(await depend(sut, a.id, b.id, 'discovered-from')).toMatchObject({ added: true });
      expect(await readyTitles(sut)).toEqual(['A']);
    });

    it('a blocker that is not here holds, is named, and can be removed', async () => {
      await using sut = await open();
      await sut.bring([line('fg-wait', { dependencies: [{ id: 'zz-away', type: 'blocks' }] })]);
      const shown = await sut.store.getTask('fg-wait');
      expect(shown).toMatchObject({
        open_blockers: 1,
        ready: false,
        dependencies: [{ id: 'zz-away', resolved: null }],
      });
      expect(await claim(sut, 'fg-wait', 'bob')).toMatchObject({
        outcome: 'blocked',
        blockers: [{ id: 'zz-away', title: null, status: null, assignee: null }],
      });
      expect(await sut.store.explainReady({})).toMatchObject([
        { reasons: ['waits for zz-away (not in this project)'] },
      ]);
      await sut.store.removeDependency({ from_id: 'fg-wait', to_id: 'zz-away', type: undefined }, by(sut));
      expect(await sut.store.getTask('fg-wait')).toMatchObject({ ready: true, dependencies: [] });
    });

    it('a blocker that appears later becomes a real one', async () => {
      await using sut = await open();
      await sut.bring([line('fg-wait', { dependencies: [{ id: 'fg-late', type: 'blocks' }] })]);
      await sut.bring([line('fg-late')]);
      expect(await sut.store.getTask('fg-wait')).toMatchObject({
        open_blockers: 1,
        dependencies: [{ resolved: { status: 'open' } }],
      });
      await close(sut, 'fg-late');
      expect(await readyTitles(sut)).toEqual(['fg-wait']);
    });
  });

  describe('ids', () => {
    it('takes any unambiguous beginning, in any case, with or without the prefix', async () => {
      await using sut = await open();
      await sut.bring([line('fg-a3f8'), line('fg-b2c1'), line('ab-a3zz')]);
      const resolves = async (ref: string) => (await sut.store.getTask(ref)).id;
      for (const ref of ['fg-a3f8', 'fg-a3', 'fg-A', 'FG-A3F8', 'a3f', 'A3F8'])
        expect(await resolves(ref)).toBe('fg-a3f8');
      expect(await resolves('b')).toBe('fg-b2c1');
      expect(await resolves('ab-')).toBe('ab-a3zz');
    });

    it('an ambiguous beginning names the candidates, across prefixes', async () => {
      await using sut = await open();
      await sut.bring([line('fg-a3f8'), line('fg-a3f9'), line('ab-a3zz')]);
      const error = await expectCode(sut.store.getTask('fg-a3'), 'ambiguous_id');
      expect(error.message).toBe('"fg-a3" could be fg-a3f8, fg-a3f9');
      expect(error.details).toEqual({ id: 'fg-a3', candidates: ['fg-a3f8', 'fg-a3f9'] });
      const bare = await expectCode(sut.store.getTask('a3'), 'ambiguous_id');
      expect(bare.details).toMatchObject({ candidates: ['ab-a3zz', 'fg-a3f8', 'fg-a3f9'] });
      await expectCode(close(sut, 'a3'), 'ambiguous_id');
    });

    it('many candidates are cut short', async () => {
      await using sut = await open();
      await sut.bring(Array.from({ length: 9 }, (_, i) => line(`fg-aaa${i}`)));
      const error = await expectCode(sut.store.getTask('a'), 'ambiguous_id');
      expect(error.message).toMatch(/^"a" could be fg-aaa0, .*fg-aaa4 and more$/);
    });

    it('an exact id means itself, also when longer ids begin with it', async () => {
      await using sut = await open();
      await sut.bring([line('fg-a3f8'), line('fg-a3f81'), line('fg-a3f8zzz')]);
      expect(await sut.store.getTask('fg-a3f8')).toMatchObject({ id: 'fg-a3f8' });
      expect(await sut.store.getTask('FG-A3F8')).toMatchObject({ id: 'fg-a3f8' });
      expect(await sut.store.getTask('a3f81')).toMatchObject({ id: 'fg-a3f81' });
    });

    it('an exact id without its prefix means itself too', async () => {
      await using sut = await open();
      await sut.bring([line('fg-a3f8'), line('fg-a3f81')]);
      expect(await sut.store.getTask('a3f8')).toMatchObject({ id: 'fg-a3f8' });
    });

    it.each(['', '%', '_', "' OR 1=1 --", 'fg-%', 'fg-a3f8 ', 'fg', '../a', 'fg-a3f8-x', '\u0000', '１'])(
      'finds nothing for %j',
      async (ref) => {
        await using sut = await open();
        await sut.bring([line('fg-a3f8', { metadata: { k: 1 } }), line('fg-b2c1')]);
        await expectCode(sut.store.getTask(ref), 'not_found');
      },
    );

    it('every method settles short ids the same way', async () => {
      await using sut = await open();
      await sut.bring([
        line('fg-aaaa'),
        line('fg-bbbb', { dependencies: [{ id: 'fg-aaaa', type: 'blocks' }] }),
      ]);
      const { store } = sut;
      expect(await store.readTree({ id: 'B', depth: 9 })).toMatchObject({
        id: 'fg-bbbb',
        children: [{ id: 'fg-aaaa' }],
      });
      expect((await store.readGraph({ id: 'a', all: false })).nodes).toHaveLength(2);
      expect(await store.readHistory({ id: 'FG-B', limit: undefined })).toHaveLength(1);
      expect(await store.updateTask({ id: 'b', parent_id: 'a' }, by(sut))).toMatchObject({
        parent_id: 'fg-aaaa',
      });
      expect(await store.listTasks({ parent_id: 'A' })).toMatchObject([{ id: 'fg-bbbb' }]);
      expect(await store.addComment({ id: 'b', body: 'x', reply_to: null }, by(sut))).toMatchObject({
        task_id: 'fg-bbbb',
      });
      expect(
        await store.removeDependency({ from_id: 'b', to_id: 'A', type: undefined }, by(sut)),
      ).toMatchObject({ to_id: 'fg-aaaa' });
      expect(await claim(sut, 'b', 'bob')).toMatchObject({ task: { id: 'fg-bbbb' } });
      await store.releaseTask({ id: 'B', owner: 'bob', force: false, reason: null }, by(sut, 'bob'));
      expect(await close(sut, 'b')).toMatchObject({ id: 'fg-bbbb' });
      expect(await store.reopenTask({ id: 'b', reason: null }, by(sut))).toMatchObject({ id: 'fg-bbbb' });
      expect(await store.deleteTask({ id: 'a' }, by(sut))).toMatchObject({
        id: 'fg-aaaa',
        orphaned: ['fg-bbbb'],
      });
    });
  });
}

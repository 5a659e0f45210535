import { describe, expect, it } from 'vitest';
import type { DependencyNode } from '#contract/graph-operations.ts';
import {
  by,
  claim,
  close,
  create,
  depend,
  expectCode,
  line,
  titles,
  type OpenStore,
} from './open-behaviour.ts';

export function describeReports(open: OpenStore): void {
  describe('listHeads', () => {
    it('gives many tasks by their whole ids, says which are deleted, and leaves out what is not here', async () => {
      await using sut = await open();
      const [one, two, gone] = [
        await create(sut, 'One'),
        await create(sut, 'Two'),
        await create(sut, 'Gone'),
      ];
      await claim(sut, two.id, 'w');
      await sut.store.deleteTask({ id: gone.id }, by(sut));
      const heads = await sut.store.listHeads([two.id, one.id, gone.id, 'fg-none', one.id.slice(0, -1)]);
      expect(heads).toHaveLength(3);
      expect(new Map(heads.map((head) => [head.id, head]))).toEqual(
        new Map([
          [one.id, { id: one.id, title: 'One', status: 'open', assignee: null, deleted: false }],
          [two.id, { id: two.id, title: 'Two', status: 'in_progress', assignee: 'w', deleted: false }],
          [gone.id, { id: gone.id, title: '', status: 'closed', assignee: null, deleted: true }],
        ]),
      );
      expect(await sut.store.listHeads([])).toEqual([]);
    });
  });

  describe('getTask', () => {
    it('[S65] gives subtasks by priority, then age, and counts them', async () => {
      await using sut = await open();
      const epic = await create(sut, 'Epic', { type: 'epic', metadata: new Map([['owner', 'x']]) });
      await create(sut, 'Second', { parent_id: epic.id });
      const third = await create(sut, 'Third', { parent_id: epic.id });
      await create(sut, 'First', { parent_id: epic.id, priority: 0 });
      await create(sut, 'Elsewhere');
      await close(sut, third.id);
      const shown = await sut.store.getTask(epic.id);
      expect(titles(shown.subtasks)).toEqual(['First', 'Second', 'Third']);
      expect(shown.subtasks[0]).toEqual({
        id: expect.any(String),
        title: 'First',
        status: 'open',
        state: 'todo',
        priority: 0,
        type: 'task',
        assignee: null,
      });
      expect(shown).toMatchObject({ child_count: 3, closed_child_count: 1, ready: true, open_blockers: 0 });
      expect(shown.metadata).toEqual({ owner: 'x', child_count: 3, closed_child_count: 1 });
    });

    it('a task that is no epic keeps its metadata as it is', async () => {
      await using sut = await open();
      const { id } = await create(sut, 'Task', { metadata: new Map([['child_count', 'mine']]) });
      expect((await sut.store.getTask(id)).metadata).toEqual({ child_count: 'mine' });
    });

    it.each(['getTask', 'readTree', 'readHistory', 'readGraph'] as const)(
      '%s of an unknown task is not_found',
      async (method) => {
        await using sut = await open();
        const query = { id: 'fg-none', depth: 9, limit: undefined, all: false };
        const call = {
          getTask: () => sut.store.getTask(query.id),
          readTree: () => sut.store.readTree(query),
        };
        const more = {
          readHistory: () => sut.store.readHistory(query),
          readGraph: () => sut.store.readGraph(query),
        };
        const error = await expectCode({ ...call, ...more }[method](), 'not_found');
        expect(error).toMatchObject({ message: 'No task fg-none', details: { id: 'fg-none' } });
      },
    );
  });

  describe('readTree', () => {
    it('[S69] follows blocks edges transitively, children by priority, then age', async () => {
      await using sut = await open();
      const deep = await create(sut, 'Deep');
      const late = await create(sut, 'Late', { priority: 3, depends_on: [deep.id] });
      const soon = await create(sut, 'Soon', { priority: 0 });
      await close(sut, soon.id);
      const root = await create(sut, 'Root', { depends_on: [late.id, soon.id] });
      await depend(sut, root.id, (await create(sut, 'Only related')).id, 'related');
      expect(await sut.store.readTree({ id: root.id, depth: 1_000 })).toEqual({
        id: root.id,
        title: 'Root',
        status: 'open',
        dep_type: null,
        children: [
          { id: soon.id, title: 'Soon', status: 'closed', dep_type: 'blocks', children: [] },
          {
            id: late.id,
            title: 'Late',
            status: 'open',
            dep_type: 'blocks',
            children: [{ id: deep.id, title: 'Deep', status: 'open', dep_type: 'blocks', children: [] }],
          },
        ],
      });
    });

    it('[S70] goes as deep as asked and marks what it hides', async () => {
      await using sut = await open();
      let last = await create(sut, '0');
      for (let i = 1; i <= 20; i += 1) last = await create(sut, String(i), { depends_on: [last.id] });
      const depths = async (depth: number) => spine(await sut.store.readTree({ id: last.id, depth }));
      expect((await depths(1_000)).map(({ title }) => title)).toEqual(
        Array.from({ length: 21 }, (_, i) => String(20 - i)),
      );
      const ten = await depths(10);
      expect([ten.length, ten.at(-1)?.title, ten.at(-1)?.truncated]).toEqual([11, '10', true]);
      expect(await depths(0)).toMatchObject([{ title: '20', truncated: true }]);
      expect((await depths(20)).at(-1)).not.toHaveProperty('truncated');
    });

    it('marks what it hides also where that is in another project', async () => {
      await using sut = await open();
      const waits = await create(sut, 'Waits', { foreign_depends_on: ['zz-away'] });
      expect(await sut.store.readTree({ id: waits.id, depth: 0 })).toMatchObject({ truncated: true });
      const away = { id: 'zz-away', title: null, status: null, dep_type: 'blocks', children: [] };
      expect((await sut.store.readTree({ id: waits.id, depth: 1 })).children).toEqual([away]);
    });

    it('shows a shared blocker in full once, nearest to the root', async () => {
      await using sut = await open();
      const base = await create(sut, 'Base');
      const shared = await create(sut, 'Shared', { depends_on: [base.id] });
      const left = await create(sut, 'Left', { depends_on: [shared.id] });
      const root = await create(sut, 'Root', { depends_on: [left.id, shared.id] });
      const tree = await sut.store.readTree({ id: root.id, depth: 1_000 });
      const [near, viaLeft] = [tree.children[0], tree.children[1]?.children[0]];
      expect(near).toMatchObject({ title: 'Shared', children: [{ title: 'Base' }] });
      expect(viaLeft).toEqual({
        id: shared.id,
        title: 'Shared',
        status: 'open',
        dep_type: 'blocks',
        children: [],
        seen: true,
      });
    });
  });

  describe('readGraph', () => {
    it('gives every open task and the closed ones they wait for', async () => {
      await using sut = await open();
      const done = await create(sut, 'Done');
      const open1 = await create(sut, 'Open', { depends_on: [done.id] });
      const epic = await create(sut, 'Epic', { type: 'epic' });
      const child = await create(sut, 'Child', { parent_id: epic.id, depends_on: [open1.id] });
      const old = await create(sut, 'Old', { depends_on: [done.id] });
      await close(sut, done.id);
      await close(sut, old.id);
      const graph = await sut.store.readGraph({ id: undefined, all: false });
      expect(graph.nodes.map(({ title, ready }) => [title, ready])).toEqual([
        ['Done', false],
        ['Open', true],
        ['Epic', true],
        ['Child', false],
      ]);
      expect(graph.nodes.at(-1)).toEqual({
        id: child.id,
        title: 'Child',
        status: 'open',
        state: 'todo',
        priority: 2,
        type: 'task',
        assignee: null,
        parent_id: epic.id,
        ready: false,
      });
      const edges = [
        { from_id: open1.id, to_id: done.id, type: 'blocks' },
        { from_id: child.id, to_id: open1.id, type: 'blocks' },
      ];
      expect(graph.edges).toEqual(edges.sort((a, b) => (a.from_id < b.from_id ? -1 : 1)));
      const all = await sut.store.readGraph({ id: undefined, all: true });
      expect(titles(all.nodes)).toEqual(['Done', 'Open', 'Epic', 'Child', 'Old']);
      expect(all.edges).toHaveLength(3);
    });

    it('is not read where it has more than there may be, and says what there are too many of', async () => {
      await using sut = await open();
      const hub = await create(sut, 'Hub');
      for (const title of ['One', 'Two', 'Three']) await create(sut, title, { depends_on: [hub.id] });
      const read = (id: string | undefined, nodes: number, edges: number) =>
        sut.store.readGraph({ id, all: false, most: { nodes, edges } });
      for (const id of [undefined, hub.id]) {
        expect(await read(id, 3, 10)).toEqual({ nodes: [], edges: [], too_many: 'nodes' });
        expect(await read(id, 4, 2)).toEqual({ nodes: [], edges: [], too_many: 'edges' });
        const whole = await read(id, 4, 3);
        expect([whole.nodes.length, whole.edges.length]).toEqual([4, 3]);
      }
    });

    it('around one task: what it waits for, what waits for it, what is inside it', async () => {
      await using sut = await open();
      const below = await create(sut, 'Below');
      const middle = await create(sut, 'Middle', { depends_on: [below.id] });
      const above = await create(sut, 'Above', { depends_on: [middle.id] });
      await create(sut, 'Inside', { parent_id: middle.id });
      await create(sut, 'Sibling', { depends_on: [below.id] });
      await create(sut, 'Unrelated');
      await close(sut, below.id);
      const graph = await sut.store.readGraph({ id: middle.id, all: false });
      expect(titles(graph.nodes)).toEqual(['Below', 'Middle', 'Above', 'Inside']);
      expect(graph.edges.map(({ from_id }) => from_id).sort()).toEqual([middle.id, above.id].sort());
    });
  });

  describe('readStats', () => {
    it('counts an empty store', async () => {
      await using sut = await open();
      expect(await sut.store.readStats({ now: 0, exclude_types: [] })).toEqual({
        total: 0,
        by_status: {},
        by_state: {},
        by_type: {},
        by_priority: {},
        ready: 0,
        blocked: 0,
        parked: 0,
        assigned: [],
        closed_last_7_days: 0,
        deleted: 0,
      });
    });

    it('counts every kind of task', async () => {
      await using sut = await open();
      await sut.bring([
        line('fg-long', {
          status: 'closed',
          closed_at: '2020-01-01T00:00:00.000Z',
          close_reason: 'done',
          assignee: 'bob',
        }),
      ]);
      const blocker = await create(sut, 'Blocker', { priority: 0 });
      await create(sut, 'Waits', { depends_on: [blocker.id], type: 'bug' });
      await create(sut, 'Parked', { state: 'backlog', priority: 4 });
      await create(sut, 'Epic', { type: 'epic' });
      await create(sut, 'Reserved', { assignee: 'bob' });
      for (const who of ['carol', 'bob', 'carol'])
        await claim(sut, (await create(sut, `Taken by ${who}`)).id, who);
      await close(sut, (await create(sut, 'Done')).id, 'wontfix');
      await sut.store.deleteTask({ id: (await create(sut, 'Gone')).id }, by(sut));
      expect(await sut.store.readStats({ now: sut.clock.now(), exclude_types: ['epic'] })).toEqual({
        total: 10,
        by_status: { open: 5, in_progress: 3, closed: 2 },
        by_state: { todo: 4, backlog: 1, in_progress: 3, done: 1, cancelled: 1 },
        by_type: { task: 8, bug: 1, epic: 1 },
        by_priority: { 0: 1, 2: 8, 4: 1 },
        ready: 1,
        blocked: 1,
        parked: 1,
        assigned: [
          { assignee: 'carol', in_progress: 2, open: 0 },
          { assignee: 'bob', in_progress: 1, open: 1 },
        ],
        closed_last_7_days: 1,
        deleted: 1,
      });
      const later = await sut.store.readStats({ now: sut.clock.now() + 8 * 86_400_000, exclude_types: [] });
      expect(later).toMatchObject({ ready: 2, closed_last_7_days: 0 });
    });
  });

  describe('readHistory', () => {
    it('tells everything that happened to a task, oldest first', async () => {
      await using sut = await open();
      const other = await create(sut, 'Other');
      const { id } = await create(sut, 'Task');
      await sut.store.updateTask(
        { id, title: 'Renamed', priority: 0, labels_add: ['x'] },
        by(sut, 'ann', 'user'),
      );
      await depend(sut, id, other.id);
      await sut.store.removeDependency({ from_id: id, to_id: other.id, type: undefined }, by(sut));
      await claim(sut, id, 'bob');
      await sut.store.releaseTask({ id, owner: 'bob', force: false, reason: 'tired' }, by(sut, 'bob'));
      await close(sut, id, 'done at last');
      await sut.store.reopenTask({ id, reason: null }, by(sut));
      await sut.store.addComment({ id, body: 'Again?\nYes', reply_to: null }, by(sut, 'ann', 'user'));
      const history = await sut.store.readHistory({ id, limit: undefined });
      expect(history.map(({ type, triggered_by, summary }) => `${type} ${triggered_by} ${summary}`)).toEqual([
        'task.created agent:alice created: Task',
        'task.updated user:ann changed title, priority, labels',
        `dependency.added agent:alice depends on ${other.id} (blocks)`,
        `dependency.removed agent:alice no longer depends on ${other.id} (blocks)`,
        'task.claimed agent:bob claimed by bob',
        'task.released agent:bob released: tired',
        'task.closed user:alice closed: done at last',
        'task.reopened agent:alice reopened',
        'task.commented user:ann comment: Again?',
      ]);
      expect(history.map(({ from_state, to_state }) => [from_state, to_state])).toEqual([
        ...Array.from({ length: 4 }, () => [null, null]),
        ['todo', 'in_progress'],
        ['in_progress', 'todo'],
        ['todo', 'done'],
        ['done', 'todo'],
        [null, null],
      ]);
    });

    it.each([
      [null, 'released: forced'],
      ['she is ill', 'released: she is ill, forced'],
    ])('tells a release by force with the reason %s', async (reason, summary) => {
      await using sut = await open();
      const { id } = await create(sut, 'Task');
      await claim(sut, id, 'bob');
      const released = await sut.store.releaseTask({ id, owner: 'alice', force: true, reason }, by(sut));
      expect(released.former_owner).toBe('bob');
      expect((await sut.store.readHistory({ id, limit: 1 })).at(-1)).toMatchObject({ summary });
    });

    it('numbers follow the order of the writes, over all tasks', async () => {
      await using sut = await open();
      const [a, b] = [await create(sut, 'A'), await create(sut, 'B')];
      await close(sut, a.id);
      await sut.reopen();
      await close(sut, b.id);
      await claim(sut, (await create(sut, 'C')).id, 'bob');
      await sut.store.reopenTask({ id: a.id, reason: null }, by(sut));
      const all = await sut.store.listTasks({});
      const entries = (
        await Promise.all(all.map(({ id }) => sut.store.readHistory({ id, limit: undefined })))
      ).flat();
      const ordered = entries.sort((x, y) => (x.seq ?? 0) - (y.seq ?? 0));
      expect(new Set(ordered.map(({ seq }) => seq)).size).toBe(7);
      expect(ordered.map(({ type }) => type)).toEqual([
        'task.created',
        'task.created',
        'task.closed',
        'task.closed',
        'task.created',
        'task.claimed',
        'task.reopened',
      ]);
      expect(ordered.map(({ at }) => at)).toEqual(ordered.map(({ at }) => at).sort());
    });

    it('a limit keeps the newest; a deleted task still has its history', async () => {
      await using sut = await open();
      const { id } = await create(sut, 'Task');
      await close(sut, id);
      await sut.store.deleteTask({ id }, by(sut));
      const history = await sut.store.readHistory({ id: id.toUpperCase(), limit: 2 });
      expect(history.map(({ type }) => type)).toEqual(['task.closed', 'task.deleted']);
    });
  });
}

function spine(node: DependencyNode): DependencyNode[] {
  return [node, ...node.children.flatMap(spine)];
}

import { describe, expect, it } from 'vitest';
import { LIMITS } from '#kernel/limits.ts';
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

export function describeClose(open: OpenStore): void {
  describe('closeTask', () => {
    it('keeps the reason word for word, the time and the owner', async () => {
      await using sut = await open();
      const { id } = await create(sut, 'Work');
      await claim(sut, id, 'bob');
      const task = await close(sut, id, '  Implemented in\n3a9f1c2 ');
      expect(task).toMatchObject({
        status: 'closed',
        state: 'done',
        close_reason: '  Implemented in\n3a9f1c2 ',
        assignee: 'bob',
      });
      expect(Date.parse(task.closed_at ?? '')).toBe(sut.clock.now());
      await sut.reopen();
      expect(await sut.store.getTask(id)).toMatchObject({
        close_reason: '  Implemented in\n3a9f1c2 ',
        closed_at: task.closed_at,
      });
    });

    it.each([
      ['cancelled', 'cancelled'],
      ['Cancelled: superseded', 'cancelled'],
      ['duplicate:fg-c9d1', 'cancelled'],
      ['WONTFIX', 'cancelled'],
      ['was cancelled', 'done'],
      ['done', 'done'],
    ])('reason %j ends in %s', async (reason, state) => {
      await using sut = await open();
      const { id } = await create(sut, 'Work');
      expect(await close(sut, id, reason)).toMatchObject({ state, close_reason: reason });
    });

    it('closing a closed task is a no-op', async () => {
      await using sut = await open();
      const { id } = await create(sut, 'Work');
      const closed = await close(sut, id, 'first');
      const before = await everything(sut);
      expect(await close(sut, id, 'second')).toStrictEqual(closed);
      expect(await everything(sut)).toEqual(before);
    });

    it('refuses an old version and changes nothing', async () => {
      await using sut = await open();
      const { id } = await create(sut, 'Work');
      await sut.store.updateTask({ id, title: 'Changed' }, by(sut));
      const before = await everything(sut);
      const error = await expectCode(
        sut.store.closeTask({ id, reason: 'done', version: 1 }, by(sut)),
        'version_conflict',
      );
      expect(error.details).toMatchObject({ version: 2 });
      expect(await everything(sut)).toEqual(before);
      expect(await sut.store.closeTask({ id, reason: 'done', version: 2 }, by(sut))).toMatchObject({
        version: 3,
      });
    });
  });

  describe('reopenTask', () => {
    it('puts a closed task back in the queue, without owner and reason', async () => {
      await using sut = await open();
      const { id } = await create(sut, 'Work');
      await claim(sut, id, 'bob');
      await close(sut, id, 'cancelled');
      const task = await sut.store.reopenTask({ id, reason: 'The fix did not hold', version: 3 }, by(sut));
      expect(task).toMatchObject({
        status: 'open',
        state: 'todo',
        assignee: null,
        closed_at: null,
        version: 4,
      });
      expect(task).not.toHaveProperty('close_reason');
      expect(await readyTitles(sut)).toEqual(['Work']);
      const [entry] = await sut.store.readHistory({ id, limit: 1 });
      expect(entry).toMatchObject({
        type: 'task.reopened',
        from_state: 'cancelled',
        to_state: 'todo',
        reason: 'The fix did not hold',
      });
    });

    it('refuses a task that is not closed and says what it is', async () => {
      await using sut = await open();
      const { id } = await create(sut, 'Work');
      const reopen = () => sut.store.reopenTask({ id, reason: null }, by(sut));
      const error = await expectCode(reopen(), 'state_invalid');
      expect(error).toMatchObject({
        message: `${id} is not closed; it is open`,
        details: { id, status: 'open' },
      });
      await claim(sut, id, 'bob');
      expect((await expectCode(reopen(), 'state_invalid')).details).toMatchObject({ status: 'in_progress' });
    });

    it('refuses an old version', async () => {
      await using sut = await open();
      const { id } = await create(sut, 'Work');
      await close(sut, id);
      await expectCode(sut.store.reopenTask({ id, reason: null, version: 1 }, by(sut)), 'version_conflict');
    });
  });

  describe('addComment', () => {
    it('refuses one more than a task may have; what came with a file stays', async () => {
      await using sut = await open();
      const comments = Array.from({ length: LIMITS.comments_per_task + 1 }, (_, at) => ({
        id: `c-${at}`,
        author: 'bob',
        body: 'x',
        reply_to: null,
        created_at: '2026-01-01T00:00:00.000Z',
      }));
      await sut.bring([line('fg-many', { comments })]);
      const one = sut.store.addComment({ id: 'fg-many', body: 'more', reply_to: null }, by(sut));
      await expectCode(one, 'invalid_input');
      expect((await sut.store.getTask('fg-many')).comments).toHaveLength(LIMITS.comments_per_task + 1);
      // Everything else goes on.
      await sut.store.updateTask({ id: 'fg-many', title: 'Renamed' }, by(sut));
      expect((await sut.store.getTask('fg-many')).comments).toHaveLength(LIMITS.comments_per_task + 1);
    });

    it('keeps comments and threaded replies in order', async () => {
      await using sut = await open();
      const { id, updated_at } = await create(sut, 'Discussed');
      const say = (body: string, reply_to: string | null, who: string) =>
        sut.store.addComment({ id, body, reply_to }, by(sut, who));
      const first = await say('The parser drops tabs\n\n- really', null, 'Ann Lee');
      const reply = await say('So it does', first.id, 'bob');
      const deeper = await say('Fixed', reply.id, 'Ann Lee');
      expect(first).toMatchObject({
        task_id: id,
        author: 'Ann Lee',
        reply_to: null,
        created_at: expect.any(String),
      });
      await sut.reopen();
      const shown = await sut.store.getTask(id);
      expect(shown.comments.map((comment) => ({ ...comment, task_id: id }))).toStrictEqual([
        first,
        reply,
        deeper,
      ]);
      expect(shown).toMatchObject({ version: 4, updated_at: deeper.created_at });
      expect(Date.parse(shown.updated_at)).toBeGreaterThan(Date.parse(updated_at));
      const [entry] = await sut.store.readHistory({ id, limit: 1 });
      expect(entry).toMatchObject({
        type: 'task.commented',
        summary: 'comment: Fixed',
        changed: ['comments'],
      });
    });

    it('keeps two comments of the same moment', async () => {
      await using sut = await open();
      const { id } = await create(sut, 'Busy');
      const writer = by(sut);
      await sut.store.addComment({ id, body: 'a', reply_to: null }, writer);
      await sut.store.addComment({ id, body: 'b', reply_to: null }, writer);
      expect((await sut.store.getTask(id)).comments.map(({ body }) => body)).toEqual(['a', 'b']);
    });

    it('refuses an answer to a comment of another task, or of none', async () => {
      await using sut = await open();
      const one = await create(sut, 'One');
      const other = await create(sut, 'Other');
      const comment = await sut.store.addComment({ id: other.id, body: 'Here', reply_to: null }, by(sut));
      const before = await everything(sut);
      for (const reply_to of [comment.id, 'c-none']) {
        await expectCode(sut.store.addComment({ id: one.id, body: 'What?', reply_to }, by(sut)), 'not_found');
      }
      expect(await everything(sut)).toEqual(before);
    });

    it('a closed task can be commented on and stays closed', async () => {
      await using sut = await open();
      const { id } = await create(sut, 'Done');
      await close(sut, id);
      await sut.store.addComment({ id, body: 'Thanks', reply_to: null }, by(sut));
      expect(await sut.store.getTask(id)).toMatchObject({ status: 'closed', comments: [{ body: 'Thanks' }] });
    });
  });

  describe('deleteTask and restoreTask', () => {
    it('[S39] children lose their parent, dependents their edge, and both are told', async () => {
      await using sut = await open();
      const epic = await create(sut, 'Epic', { type: 'epic' });
      const child = await create(sut, 'Child', { parent_id: epic.id });
      const freed = await create(sut, 'Freed', { depends_on: [epic.id] });
      const other = await create(sut, 'Other blocker');
      const held = await create(sut, 'Held', { depends_on: [epic.id, other.id] });
      await depend(sut, freed.id, epic.id, 'related');
      const result = await sut.store.deleteTask({ id: epic.id, version: 1 }, by(sut));
      expect(result).toEqual({
        id: epic.id,
        title: 'Epic',
        deleted_at: expect.any(String),
        orphaned: [child.id],
        unblocked: [freed.id],
      });
      expect(await sut.store.getTask(child.id)).toMatchObject({ parent_id: null, version: 2 });
      expect(await sut.store.getTask(freed.id)).toMatchObject({ dependencies: [], ready: true });
      expect((await sut.store.getTask(held.id)).dependencies).toMatchObject([{ id: other.id }]);
      expect(await readyTitles(sut)).toEqual(['Child', 'Freed', 'Other blocker']);
      expect(await sut.store.readStats({ now: 0, exclude_types: [] })).toMatchObject({
        total: 4,
        deleted: 1,
      });
    });

    it('a deleted task is gone for every command, and the error says how to get it back', async () => {
      await using sut = await open();
      const { id } = await create(sut, 'Gone');
      await sut.store.deleteTask({ id }, by(sut));
      expect(await sut.store.listTasks({})).toEqual([]);
      const error = await expectCode(sut.store.getTask(id), 'not_found');
      expect(error).toMatchObject({ message: `Task ${id} was deleted`, hint: `forge task restore ${id}` });
      await expectCode(close(sut, id), 'not_found');
      await expectCode(sut.store.deleteTask({ id }, by(sut)), 'not_found');
    });

    it('restores the content, the children and the edges', async () => {
      await using sut = await open();
      const blocker = await create(sut, 'Blocker');
      const parent = await create(sut, 'Parent');
      const task = await create(sut, 'Back', {
        description: 'All of it',
        priority: 1,
        labels: ['x'],
        parent_id: parent.id,
        depends_on: [blocker.id],
        github_issue: 5,
        metadata: new Map([['k', 'v']]),
      });
      await sut.store.addComment({ id: task.id, body: 'Kept', reply_to: null }, by(sut));
      const child = await create(sut, 'Child', { parent_id: task.id });
      const dependent = await create(sut, 'Dependent', { depends_on: [task.id] });
      await claim(sut, task.id, 'bob', true);
      const before = await sut.store.getTask(task.id);
      await sut.store.deleteTask({ id: task.id }, by(sut, 'bob'));
      const restored = await sut.store.restoreTask({ id: task.id }, by(sut));
      expect(restored).toMatchObject({ id: task.id, title: 'Back', version: before.version + 1 });
      const after = await sut.store.getTask(task.id);
      expect({ ...after, version: 0, updated_at: '' }).toEqual({ ...before, version: 0, updated_at: '' });
      expect(await sut.store.getTask(child.id)).toMatchObject({ parent_id: task.id });
      expect(await sut.store.getTask(dependent.id)).toMatchObject({
        open_blockers: 1,
        dependencies: [{ id: task.id }],
      });
      await sut.reopen();
      expect(await sut.store.getTask(task.id)).toEqual(after);
      const types = (await sut.store.readHistory({ id: task.id, limit: undefined })).map(
        ({ summary }) => summary,
      );
      expect(types).toEqual([
        'created: Back',
        'comment: Kept',
        'claimed by bob, forced',
        'deleted',
        'restored',
      ]);
    });

    it('a restored task does not take back what has moved on', async () => {
      await using sut = await open();
      const task = await create(sut, 'Back');
      const moved = await create(sut, 'Moved child', { parent_id: task.id });
      const gone = await create(sut, 'Deleted child', { parent_id: task.id });
      const dependent = await create(sut, 'Now a blocker', { depends_on: [task.id] });
      const middle = await create(sut, 'Middle');
      await depend(sut, task.id, middle.id);
      await sut.store.deleteTask({ id: task.id }, by(sut));
      const elsewhere = await create(sut, 'Elsewhere');
      await sut.store.updateTask({ id: moved.id, parent_id: elsewhere.id }, by(sut));
      await sut.store.deleteTask({ id: gone.id }, by(sut));
      await depend(sut, middle.id, dependent.id);
      await sut.store.restoreTask({ id: task.id }, by(sut));
      expect(await sut.store.getTask(moved.id)).toMatchObject({ parent_id: elsewhere.id });
      // task -> middle -> dependent now; the old edge dependent -> task would close a cycle.
      expect(await sut.store.getTask(dependent.id)).toMatchObject({ dependencies: [], ready: true });
    });

    it('a task whose parent is gone comes back without one', async () => {
      await using sut = await open();
      const parent = await create(sut, 'Parent');
      const child = await create(sut, 'Child', { parent_id: parent.id });
      await sut.store.deleteTask({ id: child.id }, by(sut));
      await sut.store.deleteTask({ id: parent.id }, by(sut));
      expect(await sut.store.restoreTask({ id: child.id }, by(sut))).toMatchObject({ parent_id: null });
    });

    it('a child that has become an ancestor meanwhile stays where it is', async () => {
      await using sut = await open();
      const top = await create(sut, 'Top');
      const task = await create(sut, 'Back', { parent_id: top.id });
      const child = await create(sut, 'Child', { parent_id: task.id });
      await sut.store.deleteTask({ id: task.id }, by(sut));
      await sut.store.updateTask({ id: top.id, parent_id: child.id }, by(sut));
      expect(await sut.store.restoreTask({ id: task.id }, by(sut))).toMatchObject({ parent_id: top.id });
      expect(await sut.store.getTask(child.id)).toMatchObject({ parent_id: null });
    });

    it('never closes a cycle, in whatever order two tasks come back', async () => {
      await using sut = await open();
      const c = await create(sut, 'C');
      const b = await create(sut, 'B', { depends_on: [c.id] });
      const a = await create(sut, 'A', { depends_on: [b.id] });
      await sut.store.deleteTask({ id: a.id }, by(sut));
      await sut.store.deleteTask({ id: b.id }, by(sut));
      await sut.store.restoreTask({ id: a.id }, by(sut));
      await depend(sut, c.id, a.id);
      await sut.store.restoreTask({ id: b.id }, by(sut));
      // b -> c -> a; a -> b again would hold all three for ever.
      expect(await readyTitles(sut)).toEqual(['A']);
    });

    it('refuses to restore what was never deleted', async () => {
      await using sut = await open();
      const { id } = await create(sut, 'Here');
      await expectCode(sut.store.restoreTask({ id }, by(sut)), 'not_found');
      await expectCode(sut.store.restoreTask({ id: 'fg-none' }, by(sut)), 'not_found');
    });

    it('takes the beginning of a deleted id', async () => {
      await using sut = await open();
      const { id } = await create(sut, 'Gone');
      await sut.store.deleteTask({ id: id.slice(0, 5).toUpperCase() }, by(sut));
      expect(await sut.store.restoreTask({ id: id.slice(3, 5) }, by(sut))).toMatchObject({ id });
    });

    it('refuses to delete an old version', async () => {
      await using sut = await open();
      const { id } = await create(sut, 'Changed');
      await sut.store.updateTask({ id, priority: 0 }, by(sut));
      const before = await everything(sut);
      await expectCode(sut.store.deleteTask({ id, version: 1 }, by(sut)), 'version_conflict');
      expect(await everything(sut)).toEqual(before);
    });

    it('an id is not used again while its task is deleted', async () => {
      await using sut = await open();
      const { id } = await create(sut, 'Gone');
      await sut.store.deleteTask({ id }, by(sut));
      for (let i = 0; i < 20; i += 1) expect((await create(sut, 'New')).id).not.toBe(id);
    });
  });
}

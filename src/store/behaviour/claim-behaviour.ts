import { NO_AGENTS } from '#domain/claimer.ts';
import { describe, expect, it } from 'vitest';
import { by, claim, close, create, everything, expectCode, type OpenStore } from './open-behaviour.ts';

export function describeClaim(open: OpenStore): void {
  describe('claimTask', () => {
    it('[S67] takes a free task: owner, status, state, time, fence', async () => {
      await using sut = await open();
      const { id } = await create(sut, 'Free');
      const result = await claim(sut, id, 'worker-1');
      expect(result).toMatchObject({ outcome: 'claimed', fence: 1 });
      expect(result.task).toMatchObject({
        status: 'in_progress',
        state: 'in_progress',
        assignee: 'worker-1',
        version: 2,
      });
      expect(Date.parse(result.task.updated_at)).toBe(sut.clock.now());
      const [entry] = await sut.store.readHistory({ id, limit: 1 });
      expect(entry).toMatchObject({
        type: 'task.claimed',
        triggered_by: 'agent:worker-1',
        summary: 'claimed by worker-1',
      });
      expect(entry?.changed).toEqual(['status', 'state', 'assignee']);
    });

    it('is idempotent for the owner', async () => {
      await using sut = await open();
      const { id } = await create(sut, 'Mine');
      const first = await claim(sut, id, 'bob');
      const before = await everything(sut);
      expect(await claim(sut, id, 'bob')).toEqual(first);
      expect(await claim(sut, id, 'bob', true)).toEqual(first);
      expect(await everything(sut)).toEqual(before);
    });

    it('tells a loser the owner and changes nothing', async () => {
      await using sut = await open();
      const { id } = await create(sut, 'Contested');
      await claim(sut, id, 'alice');
      const reserved = await create(sut, 'Reserved', { assignee: 'alice' });
      const before = await everything(sut);
      expect(await claim(sut, id, 'bob')).toMatchObject({ outcome: 'taken', owner: 'alice', task: { id } });
      expect(await claim(sut, reserved.id, 'bob')).toMatchObject({ outcome: 'taken', owner: 'alice' });
      expect(await everything(sut)).toEqual(before);
      expect(await claim(sut, reserved.id, 'alice')).toMatchObject({ outcome: 'claimed' });
    });

    it('refuses a blocked task and names every open blocker', async () => {
      await using sut = await open();
      const [open1, open2, closed] = [
        await create(sut, 'One'),
        await create(sut, 'Two'),
        await create(sut, 'Done'),
      ];
      await close(sut, closed.id);
      await claim(sut, open2.id, 'carol');
      const task = await create(sut, 'Waits', { depends_on: [open1.id, open2.id, closed.id] });
      const before = await everything(sut);
      const result = await claim(sut, task.id, 'bob');
      const blockers = [
        { id: open1.id, title: 'One', status: 'open', assignee: null },
        { id: open2.id, title: 'Two', status: 'in_progress', assignee: 'carol' },
      ];
      expect(result).toEqual({
        outcome: 'blocked',
        task,
        blockers: blockers.sort((a, b) => (a.id < b.id ? -1 : 1)),
      });
      expect(await everything(sut)).toEqual(before);
      expect(await claim(sut, task.id, 'bob', true)).toMatchObject({
        outcome: 'claimed',
        task: { assignee: 'bob' },
      });
    });

    it('refuses closed and parked tasks; force takes the parked one', async () => {
      await using sut = await open();
      const closed = await create(sut, 'Closed');
      await close(sut, closed.id);
      const parked = await create(sut, 'Parked', { state: 'backlog' });
      expect(await claim(sut, closed.id, 'bob')).toMatchObject({ outcome: 'closed' });
      expect(await claim(sut, closed.id, 'bob', true)).toMatchObject({ outcome: 'closed' });
      expect(await claim(sut, parked.id, 'bob')).toMatchObject({ outcome: 'parked' });
      // [S398] An agent does not take one out of where people have put it.
      expect(await claim(sut, parked.id, 'bob', true)).toMatchObject({ outcome: 'kept_parked' });
      const forced = { id: parked.id, assignee: 'bob', force: true, agents: NO_AGENTS };
      expect(await sut.store.claimTask(forced, by(sut, 'ann', 'user'))).toMatchObject({
        outcome: 'claimed',
        task: { state: 'in_progress' },
      });
    });

    it('a takeover by force is in the history with a fence of its own', async () => {
      await using sut = await open();
      const { id } = await create(sut, 'Stuck');
      await claim(sut, id, 'alice');
      expect(await claim(sut, id, 'bob', true)).toMatchObject({
        outcome: 'claimed',
        fence: 2,
        task: { assignee: 'bob' },
      });
      const [entry] = await sut.store.readHistory({ id, limit: 1 });
      expect(entry).toMatchObject({
        from_state: 'in_progress',
        to_state: 'in_progress',
        reason: 'forced',
        changed: ['assignee'],
      });
    });
  });

  describe('claimNext', () => {
    it('claims the first ready task by priority, age and id, until nothing is left', async () => {
      await using sut = await open();
      await create(sut, 'Normal');
      const blocker = await create(sut, 'Urgent', { priority: 0 });
      await create(sut, 'Waits', { priority: 0, depends_on: [blocker.id] });
      await create(sut, 'Parked', { priority: 0, state: 'backlog' });
      await create(sut, 'Reserved', { priority: 0, assignee: 'other' });
      const taken: (string | undefined)[] = [];
      for (let i = 0; i < 3; i += 1) {
        const task = await sut.store.claimNext({ assignee: 'bob', agents: NO_AGENTS }, by(sut, 'bob'));
        taken.push(task && `${task.title} ${task.assignee} ${task.status} ${task.fence}`);
      }
      expect(taken).toEqual(['Urgent bob in_progress 1', 'Normal bob in_progress 1', undefined]);
    });

    it('also takes what is reserved for the caller', async () => {
      await using sut = await open();
      await create(sut, 'Free', { priority: 1 });
      await create(sut, 'Mine', { priority: 0, assignee: 'bob' });
      expect(await sut.store.claimNext({ assignee: 'bob', agents: NO_AGENTS }, by(sut, 'bob'))).toMatchObject(
        { title: 'Mine' },
      );
      expect(await sut.store.claimNext({ assignee: 'bob', agents: NO_AGENTS }, by(sut, 'bob'))).toMatchObject(
        { title: 'Free' },
      );
    });

    it('keeps to type, label, excluded types and order', async () => {
      await using sut = await open();
      await create(sut, 'Epic', { type: 'epic', priority: 0 });
      await create(sut, 'Labelled', { labels: ['ui'], priority: 3 });
      await create(sut, 'Bug', { type: 'bug', priority: 4 });
      const root = await create(sut, 'Root', { priority: 4 });
      await create(sut, 'Waits', { depends_on: [root.id] });
      const next = (query: object) =>
        sut.store.claimNext({ assignee: 'bob', agents: NO_AGENTS, ...query }, by(sut, 'bob'));
      expect(await next({ type: 'message' })).toBeUndefined();
      expect(await next({ type: 'bug' })).toMatchObject({ title: 'Bug' });
      expect(await next({ sort: 'impact' })).toMatchObject({ title: 'Root' });
      expect(await next({ label: 'ui' })).toMatchObject({ title: 'Labelled' });
      expect(await next({ exclude_types: ['epic'] })).toBeUndefined();
      expect(await next({ exclude_types: ['epic'], type: 'epic' })).toMatchObject({ title: 'Epic' });
    });

    it('hands out no epic with open children, unless epics are asked for', async () => {
      await using sut = await open();
      const epic = await create(sut, 'Epic', { type: 'epic', priority: 0 });
      const child = await create(sut, 'Child', { parent_id: epic.id, priority: 3 });
      const parent = await create(sut, 'Parent that is no epic', { priority: 1 });
      await create(sut, 'Its child', { parent_id: parent.id, priority: 4 });
      const list = async (query: object) =>
        (await sut.store.listReady(query)).map(({ title }) => title).slice(0, 2);
      // Ready is what it always was; only what is handed out for work is less.
      expect(await list({})).toEqual(['Epic', 'Parent that is no epic']);
      expect(await list({ to_hand_out: true })).toEqual(['Parent that is no epic', 'Child']);
      expect(await list({ to_hand_out: true, type: 'epic' })).toEqual(['Epic']);
      expect(await list({ to_hand_out: true, sort: 'impact' })).toEqual(['Parent that is no epic', 'Child']);
      const next = () => sut.store.claimNext({ assignee: 'bob', agents: NO_AGENTS }, by(sut, 'bob'));
      expect(await next()).toMatchObject({ id: parent.id });
      expect(await next()).toMatchObject({ id: child.id });
      // In work it is open still.
      expect(await next()).toMatchObject({ title: 'Its child' });
      expect(await next()).toBeUndefined();
      await sut.store.closeTask({ id: child.id, reason: 'done' }, by(sut, 'bob'));
      expect(await next()).toMatchObject({ id: epic.id });
    });
  });

  describe('releaseTask', () => {
    const release = { force: false, reason: null };

    it('gives a claimed task back to the queue', async () => {
      await using sut = await open();
      const { id } = await create(sut, 'Too hard');
      await claim(sut, id, 'bob');
      const task = await sut.store.releaseTask(
        { ...release, id, owner: 'bob', reason: 'No database' },
        by(sut, 'bob'),
      );
      expect(task).toMatchObject({ status: 'open', state: 'todo', assignee: null, version: 3 });
      expect(await sut.store.getTask(id)).toMatchObject({ ready: true });
      const [entry] = await sut.store.readHistory({ id, limit: 1 });
      expect(entry).toMatchObject({
        type: 'task.released',
        from_state: 'in_progress',
        to_state: 'todo',
        reason: 'No database',
      });
    });

    it('refuses what is not claimed, and claims of others unless forced', async () => {
      await using sut = await open();
      const { id } = await create(sut, 'Free');
      await expectCode(sut.store.releaseTask({ ...release, id, owner: 'bob' }, by(sut)), 'state_invalid');
      await claim(sut, id, 'alice');
      const before = await everything(sut);
      const error = await expectCode(
        sut.store.releaseTask({ ...release, id, owner: 'bob' }, by(sut)),
        'claim_conflict',
      );
      expect(error.details).toMatchObject({ assignee: 'alice' });
      expect(await everything(sut)).toEqual(before);
      await sut.store.releaseTask({ ...release, id, owner: 'bob', force: true }, by(sut));
      await close(sut, id);
      const closed = sut.store.releaseTask({ ...release, id, owner: 'alice' }, by(sut));
      expect((await expectCode(closed, 'state_invalid')).details).toMatchObject({ status: 'closed' });
    });

    it('a fence is over after a release, also for the same owner', async () => {
      await using sut = await open();
      const { id } = await create(sut, 'Twice');
      await claim(sut, id, 'bob');
      await sut.store.releaseTask({ ...release, id, owner: 'bob', fence: 1 }, by(sut, 'bob'));
      const again = await claim(sut, id, 'bob');
      expect(again).toMatchObject({ outcome: 'claimed', fence: 3 });
      const late = sut.store.releaseTask({ ...release, id, owner: 'bob', fence: 1 }, by(sut, 'bob'));
      await expectCode(late, 'fence_conflict');
      await expectCode(
        sut.store.closeTask({ id, reason: 'done', fence: 1 }, by(sut, 'bob')),
        'fence_conflict',
      );
      expect(await sut.store.closeTask({ id, reason: 'done', fence: 3 }, by(sut, 'bob'))).toMatchObject({
        status: 'closed',
      });
    });
  });
}

import { NO_AGENTS } from '#domain/claimer.ts';
import { describe, expect, it } from 'vitest';
import { by, claim, create, expectCode } from './open-behaviour.ts';
import { newAttempt, newRun, startWork, toldSince, type OpenWork } from './open-work-behaviour.ts';

export function describeAttempts(open: OpenWork): void {
  describe('startAttempt', () => {
    it('[S135] counts the attempts of a task, and tells of each with its row', async () => {
      await using sut = await open();
      const { task, attempt } = await startWork(sut);
      const seen = await sut.store.newestEvent();
      const second = await sut.store.startAttempt(newAttempt(task.id), by(sut, 'bob', 'user'));
      expect([attempt.number, second.number]).toEqual([1, 2]);
      expect(second).toMatchObject({
        task_id: task.id,
        state: 'active',
        branch: `forge/${second.name}`,
        head_commit: null,
        finished_at: null,
        removed_at: null,
      });
      expect(await toldSince(sut, seen)).toEqual([
        {
          type: 'attempt.started',
          task_id: task.id,
          triggered_by: 'user:bob',
          data: { attempt: second },
        },
      ]);
      await sut.reopen();
      expect(await sut.store.listAttempts({ task_id: task.id })).toEqual([attempt, second]);
    });

    it('refuses a name that is taken and names it, so that it can be widened', async () => {
      await using sut = await open();
      const { task, attempt } = await startWork(sut);
      const error = await expectCode(
        sut.store.startAttempt(newAttempt(task.id, { name: attempt.name }), by(sut)),
        'already_exists',
      );
      expect(error.details).toMatchObject({ name: attempt.name, attempt: attempt.id });
      expect(await sut.store.listAttempts({ task_id: task.id })).toHaveLength(1);
    });

    it('leases ports to one attempt as long as its folder is there', async () => {
      await using sut = await open();
      const { task, attempt } = await startWork(sut, { port: 4100 });
      const start = () => sut.store.startAttempt(newAttempt(task.id, { port: 4100 }), by(sut));
      const error = await expectCode(start(), 'already_exists');
      expect(error.details).toMatchObject({ port: 4100, attempt: attempt.id });
      await sut.store.changeAttempt({ id: attempt.id, removed_at: '2026-02-10T10:00:00.000Z' }, by(sut));
      const second = await start();
      expect(second.port).toBe(4100);
      const back = sut.store.changeAttempt({ id: attempt.id, removed_at: null }, by(sut));
      await expectCode(back, 'already_exists');
    });

    it('refuses a task that is closed, one that is not there, and a claim that is over', async () => {
      await using sut = await open();
      await expectCode(sut.store.startAttempt(newAttempt('fg-none'), by(sut)), 'not_found');
      const { id } = await create(sut, 'Work');
      const claimed = await claim(sut, id, 'bob');
      if (claimed.outcome !== 'claimed') throw new Error('the claim was lost');
      const { fence } = claimed;
      await sut.store.startAttempt(newAttempt(id, { fence }), by(sut));
      await claim(sut, id, 'carol', true);
      await expectCode(sut.store.startAttempt(newAttempt(id, { fence }), by(sut)), 'fence_conflict');
      await sut.store.closeTask({ id, reason: 'done', force: true }, by(sut, 'ann', 'user'));
      const error = await expectCode(sut.store.startAttempt(newAttempt(id), by(sut)), 'state_invalid');
      expect(error.hint).toBe(`forge task reopen ${id}`);
    });

    it('ten at once on two connections get ten numbers', async () => {
      await using sut = await open();
      await using other = await sut.connectAgain();
      const { id } = await create(sut, 'Work');
      const started = await Promise.all(
        Array.from({ length: 10 }, async (_, at) =>
          (at % 2 === 0 ? sut.store : other).startAttempt(newAttempt(id), by(sut)),
        ),
      );
      const numbers = started.map(({ number }) => number).toSorted((a, b) => a - b);
      expect(numbers).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
    });
  });

  describe('changeAttempt', () => {
    it('tells that it is finished and that it is gone, once each; the rest it only keeps', async () => {
      await using sut = await open();
      const { task, attempt } = await startWork(sut);
      const seen = await sut.store.newestEvent();
      const { id } = attempt;
      await sut.store.changeAttempt({ id, head_commit: 'c'.repeat(40) }, by(sut));
      const merged = { id, state: 'merged', merge_commit: 'd'.repeat(40) } as const;
      const finished = await sut.store.changeAttempt(merged, by(sut));
      const now = sut.clock.now();
      expect(await sut.store.changeAttempt(merged, by(sut))).toEqual(finished);
      await sut.store.changeAttempt({ id, cleanup_at: '2026-02-11T09:00:00.000Z' }, by(sut));
      const gone = await sut.store.changeAttempt({ id, removed_at: '2026-02-12T09:00:00.000Z' }, by(sut));
      expect(await sut.store.changeAttempt({ id }, by(sut))).toEqual(gone);
      expect(Date.parse(finished.finished_at ?? '')).toBe(now);
      expect(gone).toMatchObject({ finished_at: finished.finished_at, head_commit: 'c'.repeat(40) });
      expect((await toldSince(sut, seen)).map(({ type, data }) => [type, data])).toEqual([
        ['attempt.finished', { attempt: finished }],
        ['attempt.removed', { attempt: gone }],
      ]);
      expect(await sut.store.listAttempts({ task_id: task.id })).toEqual([gone]);
    });

    it('tells where its HEAD went and that it is back, once each; one that is over is nowhere', async () => {
      await using sut = await open();
      const { attempt } = await startWork(sut, { pick: 'first_green' });
      const { id } = attempt;
      expect(attempt).toMatchObject({ pick: 'first_green', strayed: null });
      const seen = await sut.store.newestEvent();
      const away = await sut.store.changeAttempt({ id, strayed: 'on main' }, by(sut));
      expect(await sut.store.changeAttempt({ id, strayed: 'on main' }, by(sut))).toEqual(away);
      const further = await sut.store.changeAttempt({ id, strayed: 'on side', pick: 'person' }, by(sut));
      const back = await sut.store.changeAttempt({ id, strayed: null }, by(sut));
      expect((await toldSince(sut, seen)).map(({ type, data }) => [type, data])).toEqual([
        ['attempt.strayed', { attempt: away }],
        ['attempt.strayed', { attempt: further }],
        ['attempt.returned', { attempt: back }],
      ]);
      expect(back).toMatchObject({ strayed: null, pick: 'person' });
      await sut.store.changeAttempt({ id, strayed: 'on main' }, by(sut));
      const over = await sut.store.changeAttempt({ id, state: 'archived' }, by(sut));
      expect([over.strayed, (await toldSince(sut, seen)).at(-1)?.type]).toEqual([null, 'attempt.finished']);
    });
  });

  describe('finding attempts', () => {
    it('takes any unambiguous beginning of the id, and the whole name', async () => {
      await using sut = await open();
      const ids = ['aaaa1111-0000-4000-8000-000000000001', 'aaaa2222-0000-4000-8000-000000000002'] as const;
      const { task, attempt } = await startWork(sut, { id: ids[0], name: 'aaaa-first' });
      const second = await sut.store.startAttempt(newAttempt(task.id, { id: ids[1] }), by(sut));
      expect(await sut.store.getAttempt('AAAA1')).toEqual(attempt);
      expect(await sut.store.getAttempt(ids[1])).toEqual(second);
      expect(await sut.store.getAttempt('aaaa-first')).toEqual(attempt);
      const error = await expectCode(sut.store.getAttempt('aaaa'), 'ambiguous_id');
      expect(error.details).toMatchObject({ candidates: ids });
      await expectCode(sut.store.getAttempt('bbbb'), 'not_found');
      await expectCode(sut.store.getAttempt(''), 'not_found');
      await expectCode(sut.store.getAttempt("' OR 1=1 --"), 'not_found');
    });

    it('lists by task, by state, by name and by whether the folder is there', async () => {
      await using sut = await open();
      const { task, attempt } = await startWork(sut);
      const { attempt: other } = await startWork(sut);
      const removed_at = '2026-02-11T09:00:00.000Z';
      const gone = await sut.store.changeAttempt({ id: other.id, state: 'archived', removed_at }, by(sut));
      expect(await sut.store.listAttempts({})).toEqual([attempt, gone]);
      expect(await sut.store.listAttempts({ task_id: task.id.slice(0, -1) })).toEqual([attempt]);
      expect(await sut.store.listAttempts({ there: true })).toEqual([attempt]);
      expect(await sut.store.listAttempts({ there: false })).toEqual([gone]);
      expect(await sut.store.listAttempts({ state: 'archived' })).toEqual([gone]);
      expect(await sut.store.listAttempts({ name: attempt.name })).toEqual([attempt]);
      await expectCode(sut.store.listAttempts({ task_id: 'fg-none' }), 'not_found');
    });

    it('still finds those of a task that was deleted', async () => {
      await using sut = await open();
      const { task, attempt } = await startWork(sut);
      await sut.store.deleteTask({ id: task.id }, by(sut));
      expect(await sut.store.listAttempts({ task_id: task.id })).toEqual([attempt]);
    });
  });

  describe('closing a task with an unfinished attempt', () => {
    it('is refused and names the attempt, by close and by update', async () => {
      await using sut = await open();
      const { task, attempt } = await startWork(sut);
      const { id } = task;
      const seen = await sut.store.newestEvent();
      const error = await expectCode(sut.store.closeTask({ id, reason: 'done' }, by(sut)), 'state_invalid');
      expect(error.message).toContain(attempt.name);
      expect(error.hint).toContain(`forge task close ${id} --force`);
      expect(error.details).toMatchObject({ id, attempt: attempt.id });
      await expectCode(
        sut.store.updateTask({ id, status: 'closed', agents: NO_AGENTS }, by(sut)),
        'state_invalid',
      );
      expect(await sut.store.newestEvent()).toBe(seen);
    });

    it('by force is done, and logged', async () => {
      await using sut = await open();
      const { task, attempt } = await startWork(sut);
      const { id } = task;
      const seen = await sut.store.newestEvent();
      const closed = await sut.store.closeTask(
        { id, reason: 'by hand', force: true },
        by(sut, 'ann', 'user'),
      );
      expect(closed).toMatchObject({ status: 'closed', close_reason: 'by hand' });
      const [told] = await toldSince(sut, seen);
      expect(told).toMatchObject({ type: 'task.closed', data: { forced: true, attempt_id: attempt.id } });
      const [entry] = await sut.store.readHistory({ id, limit: 1 });
      expect(entry?.summary).toBe('closed: by hand, forced');
      // Closing what is closed stays a no-op.
      expect(await sut.store.closeTask({ id, reason: 'again' }, by(sut))).toMatchObject({
        version: closed.version,
      });
    });

    it.each(['merged', 'archived'] as const)(
      'is allowed once it is %s, without a word of force',
      async (state) => {
        await using sut = await open();
        const { task, attempt } = await startWork(sut);
        const merge_commit = state === 'merged' ? 'd'.repeat(40) : undefined;
        await sut.store.changeAttempt({ id: attempt.id, state, merge_commit }, by(sut));
        const seen = await sut.store.newestEvent();
        await sut.store.closeTask({ id: task.id, reason: 'done', force: true }, by(sut, 'ann', 'user'));
        const [told] = await toldSince(sut, seen);
        expect(told?.data).not.toHaveProperty('forced');
      },
    );

    it('[O9] an agent does not wash off what was not merged by cancelling and reopening; a person closes it', async () => {
      await using sut = await open();
      const { task, attempt } = await startWork(sut);
      const { id } = task;
      const agent = by(sut, 'q', 'agent');
      const agents = NO_AGENTS;
      await sut.store.changeAttempt({ id: attempt.id, state: 'archived' }, by(sut));
      await sut.store.moveTask({ id, to: 'cancelled', reason: null, agents }, agent);
      await sut.store.reopenTask({ id, reason: null }, agent);
      await sut.store.claimTask({ id, assignee: 'q', force: false, agents }, agent);
      await expectCode(sut.store.closeTask({ id, reason: 'done' }, agent), 'permission_denied');
      await expectCode(sut.store.updateTask({ id, status: 'closed', agents }, agent), 'permission_denied');
      expect(await sut.store.closeTask({ id, reason: 'done' }, by(sut, 'ann', 'user'))).toMatchObject({
        status: 'closed',
      });
    });

    it('[O9] what was given up before a merge, or held only a plan, does not count', async () => {
      await using sut = await open();
      const { task, attempt } = await startWork(sut);
      const agent = by(sut, 'q', 'agent');
      const second = await sut.store.startAttempt(newAttempt(task.id), by(sut));
      await sut.store.changeAttempt({ id: attempt.id, state: 'archived' }, by(sut));
      const merge_commit = 'd'.repeat(40);
      await sut.store.changeAttempt({ id: second.id, state: 'merged', merge_commit }, by(sut));
      expect(await sut.store.closeTask({ id: task.id, reason: 'done' }, agent)).toMatchObject({
        status: 'closed',
      });
      const { task: planned, attempt: plan } = await startWork(sut);
      await sut.store.createRun(newRun(plan, { role: 'planner' }), by(sut));
      await sut.store.changeAttempt({ id: plan.id, state: 'archived' }, by(sut));
      expect(await sut.store.closeTask({ id: planned.id, reason: 'done' }, agent)).toMatchObject({
        status: 'closed',
      });
    });

    it("is the workflow's own business when it cancels the task", async () => {
      await using sut = await open();
      const { task } = await startWork(sut);
      const moved = await sut.store.moveTask(
        { id: task.id, to: 'cancelled', reason: null, agents: NO_AGENTS },
        by(sut),
      );
      expect(moved.task.status).toBe('closed');
    });

    it('shows in the history what was done', async () => {
      await using sut = await open();
      const { task, attempt } = await startWork(sut);
      await sut.store.changeAttempt({ id: attempt.id, state: 'archived' }, by(sut));
      const history = await sut.store.readHistory({ id: task.id, limit: undefined });
      expect(history.map(({ summary }) => summary)).toEqual([
        'created: Work',
        `attempt 1 (${attempt.name}) started`,
        `attempt 1 (${attempt.name}) archived`,
      ]);
    });
  });
}

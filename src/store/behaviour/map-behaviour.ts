import { describe, expect, it } from 'vitest';
import type { Workflow } from '#contract/workflow.ts';
import { NO_AGENTS } from '#domain/claimer.ts';
import { by, create, type OpenStore, type StoreUnderTest } from './open-behaviour.ts';

const SMALL: Workflow = {
  states: [
    { name: 'queue', kind: 'initial', next: ['doing'] },
    { name: 'doing', kind: 'active', next: ['shipped'] },
    { name: 'shipped', kind: 'terminal' },
    { name: 'cancelled', kind: 'terminal' },
  ],
};
const useSmall = (sut: StoreUnderTest) =>
  sut.store.setWorkflow({ definition: SMALL, digest: 'small' }, by(sut, 'nina', 'user'));
const mapStates = async (sut: StoreUnderTest, map: Record<string, string>) => {
  const person = by(sut, 'nina', 'user');
  await useSmall(sut);
  return sut.store.mapStates(new Map(Object.entries(map)), person);
};

export function describeMapStates(open: OpenStore): void {
  describe('mapStates', () => {
    it('moves all tasks of the states, each with version, log and event, and the next process sees it', async () => {
      await using sut = await open();
      const queued = await create(sut, 'Open');
      const worked = await create(sut, 'Worked');
      await sut.store.claimTask({ id: worked.id, assignee: 'bot', force: false, agents: NO_AGENTS }, by(sut));
      const closed = await create(sut, 'Closed');
      const { close_reason } = await sut.store.closeTask({ id: closed.id, reason: 'fixed' }, by(sut));
      await useSmall(sut);
      const before = await sut.store.newestEvent();
      expect(await mapStates(sut, { todo: 'queue', in_progress: 'doing', done: 'shipped' })).toEqual([
        { from: 'todo', to: 'queue', tasks: 1 },
        { from: 'in_progress', to: 'doing', tasks: 1 },
        { from: 'done', to: 'shipped', tasks: 1 },
      ]);
      expect(await sut.store.newestEvent()).toBe(before + 3);
      await sut.reopen();
      await sut.store.readKeptWorkflow();
      expect(await sut.store.getTask(queued.id)).toMatchObject({
        state: 'queue',
        status: 'open',
        version: 2,
      });
      expect(await sut.store.getTask(worked.id)).toMatchObject({ state: 'doing', assignee: 'bot' });
      expect(await sut.store.getTask(closed.id)).toMatchObject({
        state: 'shipped',
        status: 'closed',
        close_reason,
      });
      expect((await sut.store.listTransitions({ id: queued.id, limit: undefined })).at(-1)).toMatchObject({
        from_state: 'todo',
        to_state: 'queue',
        trigger_reason: 'the workflow has no state todo any more; it was mapped to queue',
      });
      expect(await mapStates(sut, { todo: 'queue' })).toEqual([{ from: 'todo', to: 'queue', tasks: 0 }]);
    });

    it('work may go back to the queue, and is nobody’s then', async () => {
      await using sut = await open();
      const { id } = await create(sut, 'Worked');
      const claimed = await sut.store.claimTask(
        { id, assignee: 'bot', force: false, agents: NO_AGENTS },
        by(sut),
      );
      const fence = claimed.outcome === 'claimed' ? claimed.fence : 0;
      await mapStates(sut, { in_progress: 'queue' });
      expect(await sut.store.getTask(id)).toMatchObject({ state: 'queue', status: 'open', assignee: null });
      await expect(sut.store.closeTask({ id, reason: 'late', fence }, by(sut))).rejects.toMatchObject({
        code: 'fence_conflict',
      });
    });

    it.each([
      [{ todo: 'doing' }, 'todo cannot become doing: '],
      [{ todo: 'shipped' }, 'todo cannot become shipped: '],
      [{ done: 'queue' }, 'done cannot become queue: '],
      [{ in_progress: 'shipped' }, 'in_progress cannot become shipped: '],
    ])('%j would decide more than where a task stands: none is moved', async (wrong, message) => {
      await using sut = await open();
      const queued = await create(sut, 'Open');
      const parked = await create(sut, 'Parked', { state: 'backlog' });
      const worked = await create(sut, 'Worked');
      await sut.store.claimTask({ id: worked.id, assignee: 'bot', force: false, agents: NO_AGENTS }, by(sut));
      const closed = await create(sut, 'Closed');
      await sut.store.closeTask({ id: closed.id, reason: 'done' }, by(sut));
      await expect(mapStates(sut, { backlog: 'queue', ...wrong })).rejects.toMatchObject({
        code: 'state_invalid',
        message: expect.stringContaining(message) as string,
      });
      for (const { id } of [queued, parked, worked, closed]) {
        const moves = await sut.store.listTransitions({ id, limit: undefined });
        expect(moves.filter(({ trigger_reason }) => trigger_reason?.includes('was mapped') === true)).toEqual(
          [],
        );
      }
    });
  });
}

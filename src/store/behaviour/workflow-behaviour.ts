import { describe, expect, it } from 'vitest';
import type { Workflow } from '#contract/workflow.ts';
import { NO_AGENTS } from '#domain/claimer.ts';
import { DEFAULT_RESOLVED } from '#domain/workflow.ts';
import { by, create, line, readyTitles, type OpenStore, type StoreUnderTest } from './open-behaviour.ts';

/** A workflow whose queue has this name, and one state that parks tasks. */
function queued(initial: string, parked: string): Workflow {
  return {
    states: [
      { name: parked, kind: 'backlog', next: [initial] },
      { name: initial, kind: 'initial', next: ['doing', parked] },
      { name: 'doing', kind: 'active', next: ['done'] },
      { name: 'done', kind: 'terminal' },
      { name: 'cancelled', kind: 'terminal' },
    ],
  };
}

const tell = (
  sut: StoreUnderTest,
  digest: string,
  definition: Workflow | undefined,
  before?: string | null,
) =>
  sut.store.setWorkflow(
    { digest, definition, ...(before !== undefined && { shown: { before: before ?? undefined } }) },
    by(sut, 'ann', 'user'),
  );

export function describeKeptWorkflow(open: OpenStore): void {
  describe('the workflow', () => {
    it('is the built-in one until one is told', async () => {
      await using sut = await open();
      expect(await sut.store.readKeptWorkflow()).toEqual({
        version: 0,
        digest: undefined,
        workflow: DEFAULT_RESOLVED,
      });
    });

    it('has a number that grows with each change, outlives the process, and is told once', async () => {
      await using sut = await open();
      const first = await tell(sut, 'a', queued('todo', 'later'));
      expect(first).toMatchObject({ version: 1, digest: 'a', workflow: { initial: 'todo' } });
      expect(await tell(sut, 'a', queued('todo', 'later'))).toEqual(first);
      expect(await tell(sut, 'b', undefined)).toMatchObject({ version: 2, digest: 'b' });
      await sut.reopen();
      expect(await sut.store.readKeptWorkflow()).toEqual({
        version: 2,
        digest: 'b',
        workflow: DEFAULT_RESOLVED,
      });
    });

    it('is not another one because a checkout shows an older one', async () => {
      await using sut = await open();
      await tell(sut, 'b', queued('queue', 'later'));
      expect(await tell(sut, 'a', queued('todo', 'later'), null)).toMatchObject({ version: 1, digest: 'b' });
      expect(await tell(sut, 'a', queued('todo', 'later'), 'a')).toMatchObject({ version: 1, digest: 'b' });
      expect(await tell(sut, 'c', queued('todo', 'later'), 'a')).toMatchObject({ version: 2, digest: 'c' });
    });

    it('says which tasks are parked, and where a task stands', async () => {
      await using sut = await open();
      await create(sut, 'Queued');
      const { id } = await create(sut, 'Parked', { state: 'backlog' });
      expect(await readyTitles(sut)).toEqual(['Queued']);
      await tell(sut, 'a', queued('queue', 'todo'));
      expect(await readyTitles(sut)).toEqual(['Parked']);
      expect((await sut.store.getTask(id)).state).toBe('queue');
      await tell(sut, 'b', undefined);
      expect(await readyTitles(sut)).toEqual(['Queued']);
      expect((await sut.store.getTask(id)).state).toBe('backlog');
    });

    it('decides every write from then on', async () => {
      await using sut = await open();
      await tell(sut, 'a', queued('queue', 'later'));
      const { id } = await create(sut, 'Queued', { state: 'queue' });
      const claimed = await sut.store.claimTask(
        { id, assignee: 'bot', force: false, agents: NO_AGENTS },
        by(sut, 'bot'),
      );
      expect(claimed).toMatchObject({ outcome: 'claimed', task: { state: 'doing' } });
    });

    it('archives no task whose line has something else in the place of the time', async () => {
      await using sut = await open();
      await sut.bring([line('fg-odd', { archived_at: { user: 'ann' } })]);
      for (const digest of ['a', 'b']) {
        expect(await readyTitles(sut)).toEqual(['fg-odd']);
        expect((await sut.store.listTasks({})).map(({ id }) => id)).toEqual(['fg-odd']);
        await tell(sut, digest, queued('todo', 'later'));
      }
    });

    it('tells the feed of a change, and of the first that says something', async () => {
      await using sut = await open();
      const count = async (): Promise<number> => sut.store.newestEvent();
      const before = await count();
      await tell(sut, 'empty', undefined, null);
      expect(await count()).toBe(before);
      await tell(sut, 'a', queued('todo', 'later'));
      expect(await count()).toBe(before + 1);
      await tell(sut, 'a', queued('todo', 'later'));
      expect(await count()).toBe(before + 1);
    });
  });
}

import { describe, expect, it } from 'vitest';
import { create } from './open-behaviour.ts';
import { toMark, WATCHER, type OpenWork } from './open-work-behaviour.ts';

export function describeWatches(open: OpenWork): void {
  describe('who is at work on a task', () => {
    it('is whoever said so last', async () => {
      await using sut = await open();
      const { id } = await create(sut, 'Watched');
      expect(await sut.store.listWatchedTasks()).toEqual([]);
      expect(await sut.store.takeWatch({ task_id: id, watcher: WATCHER }, 1_000)).toBe(true);
      expect(await sut.store.takeWatch({ task_id: id, watcher: toMark(8) }, 2_000)).toBe(true);
      expect(await sut.store.listWatchedTasks()).toEqual([{ task_id: id, watcher: toMark(8), since: 2_000 }]);
      await sut.reopen();
      expect(await sut.store.listWatchedTasks()).toHaveLength(1);
    });

    it('is one of all who take it over from the same one', async () => {
      await using sut = await open();
      const { id: task_id } = await create(sut, 'Watched');
      await using second = await sut.connectAgain();
      const take = (store: typeof second | typeof sut.store, pid: number, from: number | null) =>
        store.takeWatch({ task_id, watcher: toMark(pid), from: from === null ? null : toMark(from) }, pid);
      const stores = [sut.store, second];
      const first = await Promise.all([1, 2, 3, 4].map((pid) => take(stores[pid % 2] ?? second, pid, null)));
      expect(first.filter(Boolean)).toHaveLength(1);
      const has = first.indexOf(true) + 1;
      const next = await Promise.all([5, 6, 7, 8].map((pid) => take(stores[pid % 2] ?? second, pid, has)));
      expect(next.filter(Boolean)).toHaveLength(1);
      expect(await take(second, 9, has)).toBe(false);
    });

    it('is forgotten by the one who has it, and by nobody else', async () => {
      await using sut = await open();
      const { id: task_id } = await create(sut, 'Watched');
      await sut.store.takeWatch({ task_id, watcher: WATCHER }, 1);
      await sut.store.noteUnwatched({ task_id, watcher: toMark(8) });
      expect(await sut.store.listWatchedTasks()).toHaveLength(1);
      await sut.store.noteUnwatched({ task_id, watcher: WATCHER });
      await sut.store.noteUnwatched({ task_id, watcher: WATCHER });
      expect(await sut.store.listWatchedTasks()).toEqual([]);
    });
  });
}

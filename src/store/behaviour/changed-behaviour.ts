import { describe, expect, it } from 'vitest';
import { exportLines, exportMoves, FILE, fold, toRequest } from '../../../tests/support/fold-lines.ts';
import { by, claim, create, line } from './open-behaviour.ts';
import type { OpenSync } from './open-sync-behaviour.ts';

/** What a file lacks that was written at an event. */
export function describeChanged(open: OpenSync): void {
  describe('what changed since a file was written', () => {
    it('of tasks is all lines that they have now, also of one that was deleted', async () => {
      await using sut = await open();
      const [first, second, third] = [await create(sut, '1'), await create(sut, '2'), await create(sut, '3')];
      const since = await sut.store.newestEvent();
      await sut.store.updateTask({ id: second.id, title: 'Changed' }, by(sut));
      await sut.store.deleteTask({ id: third.id }, by(sut));
      const now = await exportLines(sut);
      const linesOf = (id: string) => now.filter((text) => text.startsWith(`{"id":"${id}"`));
      expect(await sut.store.readChangedTasks(FILE, since)).toEqual({
        lines: new Map([second, third].map(({ id }) => [id, linesOf(id)])),
        total: 3,
        event_seq: await sut.store.newestEvent(),
      });
      expect(linesOf(third.id)).toHaveLength(1);
      expect((await sut.store.readChangedTasks(FILE, 0))?.lines.size).toBe(3);
      expect(linesOf(first.id)).toHaveLength(1);
    });

    it('is nothing of a task that was forgotten', async () => {
      await using sut = await open();
      const { id } = await create(sut, 'Gone');
      const since = await sut.store.newestEvent();
      await sut.store.deleteTask({ id }, by(sut));
      sut.clock.advance(1_000);
      await sut.store.prune(sut.clock.now(), by(sut));
      // The prune names no task: only the whole export tells of it.
      expect(await sut.store.readChangedTasks(FILE, since)).toBeUndefined();
      expect((await sut.store.readChangedTasks(FILE, await sut.store.newestEvent()))?.total).toBe(0);
    });

    it('of moves is all moves of the tasks that made one', async () => {
      await using sut = await open();
      const [moved, edited] = [await create(sut, 'Moved'), await create(sut, 'Edited')];
      await claim(sut, moved.id, 'bob');
      const since = await sut.store.newestEvent();
      await sut.store.releaseTask({ id: moved.id, owner: 'bob', force: false, reason: null }, by(sut, 'bob'));
      await sut.store.updateTask({ id: edited.id, title: 'New' }, by(sut));
      expect(await sut.store.readChangedHistory('history', since)).toEqual({
        lines: new Map([[moved.id, await exportMoves(sut)]]),
        total: 2,
        event_seq: await sut.store.newestEvent(),
      });
    });

    it('cannot be told where the file has lines that cannot be read, or moves came in', async () => {
      await using sut = await open();
      await fold(sut, [line('fg-good'), 'rubbish']);
      const since = await sut.store.newestEvent();
      expect(await sut.store.readChangedTasks(FILE, since)).toBeUndefined();
      expect(await sut.store.readChangedTasks('another', since)).toBeDefined();
      const move = {
        task: 'fg-good',
        at: '2026-01-02T00:00:00.000Z',
        from: 'todo',
        to: 'done',
        by: 'user:ann',
      };
      const request = toRequest([move], { path: 'history' });
      const writer = { actor: { kind: 'system', name: 'fold', named: true }, now: sut.clock.now() } as const;
      expect(await sut.store.foldHistory(request, writer)).toMatchObject({ added: 1 });
      expect(await sut.store.readChangedHistory('history', since)).toBeUndefined();
      expect((await sut.store.readChangedTasks('another', since))?.lines.size).toBe(0);
    });
  });
}

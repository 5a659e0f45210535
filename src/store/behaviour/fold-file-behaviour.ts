import { describe, expect, it } from 'vitest';
import { exportLines, FILE, toRequest } from '../../../tests/support/fold-lines.ts';
import { create, line, titles } from './open-behaviour.ts';
import type { OpenSync } from './open-sync-behaviour.ts';

/** A file is read before the store is locked: what became of it, and of the store, is looked at in the transaction. */
export function describeFoldedFiles(open: OpenSync): void {
  describe('a file that was read', () => {
    const writer = { actor: { kind: 'system', name: 'fold', named: true }, now: 1 } as const;

    it('is not joined in where another process joined one in meanwhile', async () => {
      await using sut = await open();
      const [before] = await sut.store.readMarks([FILE]);
      const read = { ...toRequest([line('fg-old')]), remembered: { mark: before } };
      await sut.store.foldTasks({ ...toRequest([line('fg-new')]), remembered: { mark: before } }, writer);
      expect(await sut.store.foldTasks(read, writer)).toMatchObject({ stale: true, created: 0 });
      expect(titles(await sut.store.listTasks({}))).toEqual(['fg-new']);
      const [now] = await sut.store.readMarks([FILE]);
      expect(await sut.store.foldTasks({ ...read, remembered: { mark: now } }, writer)).toMatchObject({
        created: 1,
      });
    });

    it('is joined in where it was only looked at meanwhile, or what the store holds of it was noted', async () => {
      await using sut = await open();
      await sut.store.foldTasks(toRequest([line('fg-one')]), writer);
      const [mark] = await sut.store.readMarks([FILE]);
      if (mark === undefined) throw new Error('nothing is remembered');
      await sut.store.saveMark({ ...mark, looked_at: mark.looked_at + 7 });
      const read = { ...toRequest([line('fg-two')]), remembered: { mark } };
      expect(await sut.store.foldTasks(read, writer)).toMatchObject({ created: 1 });
    });

    it('a history is held to the same', async () => {
      await using sut = await open();
      const path = 'history';
      await sut.store.foldHistory(toRequest(['{}'], { path }), writer);
      const late = { ...toRequest(['{"a":1}'], { path }), remembered: { mark: undefined } };
      expect(await sut.store.foldHistory(late, writer)).toMatchObject({ stale: true });
    });

    it('is joined in again only where that is asked', async () => {
      await using sut = await open();
      const request = toRequest([line('fg-one'), 'no task']);
      expect(await sut.store.foldTasks(request, writer)).toMatchObject({ created: 1 });
      expect((await sut.store.foldTasks(request, writer)).unreadable).toEqual([]);
      expect((await sut.store.foldTasks({ ...request, again: true }, writer)).unreadable).toHaveLength(1);
    });

    it.each(['foldTasks', 'foldHistory'] as const)(
      '%s: must be copied first where lines of it are left out for good, and nothing is done before',
      async (method) => {
        await using sut = await open();
        await create(sut, 'Known');
        const request = { ...toRequest([line('fg-one')]), more: 1, is_copied: false };
        const before = await exportLines(sut);
        expect(await sut.store[method](request, writer)).toMatchObject({
          copy_first: true,
          unreadable_more: 1,
        });
        expect(await exportLines(sut)).toEqual(before);
        expect(await sut.store.readMarks([FILE])).toEqual([]);
        const done = await sut.store[method]({ ...request, is_copied: true }, writer);
        expect(done.copy_first).toBeUndefined();
        expect(await sut.store.readMarks([FILE])).toHaveLength(1);
      },
    );
  });

  describe('an export', () => {
    it('is of one moment, in parts of which each says what there is, however long its reader takes', async () => {
      await using sut = await open();
      const lines = Array.from({ length: 1_200 }, (_, at) => line(`fg-${1000 + at}`));
      await sut.bring(lines);
      const newest = await sut.store.newestEvent();
      let read = 0;
      for await (const part of sut.store.exportTasks(FILE)) {
        expect(part).toMatchObject({ total: lines.length, event_seq: newest });
        if (read === 0) await create(sut, 'Written meanwhile');
        read += part.lines.length;
      }
      expect(read).toBe(lines.length);
      expect(await exportLines(sut)).toHaveLength(lines.length + 1);
    });

    it('of nothing is one part without lines, and one that is left early holds nothing up', async () => {
      await using sut = await open();
      const parts = [];
      for await (const part of sut.store.exportHistory(FILE)) parts.push(part);
      expect(parts).toEqual([{ lines: [], total: 0, event_seq: 0 }]);
      for (let at = 0; at < 3; at += 1) for await (const _ of sut.store.exportTasks(FILE)) break;
      await create(sut, 'Afterwards');
      expect(await exportLines(sut)).toHaveLength(1);
    });
  });
}

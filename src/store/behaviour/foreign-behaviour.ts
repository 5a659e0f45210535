import { describe, expect, it } from 'vitest';
import { by, claim, create, everything, line, type OpenStore, readyTitles } from './open-behaviour.ts';

export function describeForeign(open: OpenStore): void {
  describe('dependencies on tasks of other projects', () => {
    it('block until the other project says that they are closed, and again when it says that they are not', async () => {
      await using sut = await open();
      const task = await create(sut, 'Here', { foreign_depends_on: ['pb-aaaa', 'pb-bbbb'] });
      expect(task.dependencies.map(({ id }) => id)).toEqual(['pb-aaaa', 'pb-bbbb']);
      expect(await sut.store.listForeign()).toEqual([
        { id: 'pb-aaaa', closed: false, blocks: true },
        { id: 'pb-bbbb', closed: false, blocks: true },
      ]);
      await sut.store.markForeign(new Map([['pb-aaaa', true]]));
      expect(await readyTitles(sut)).toEqual([]);
      expect(await claim(sut, task.id, 'w')).toMatchObject({
        outcome: 'blocked',
        blockers: [{ id: 'pb-bbbb' }],
      });
      await sut.store.markForeign(new Map([['pb-bbbb', true]]));
      expect(await readyTitles(sut)).toEqual(['Here']);
      await sut.reopen();
      expect(await readyTitles(sut)).toEqual(['Here']);
      await sut.store.markForeign(new Map([['pb-aaaa', false]]));
      expect(await readyTitles(sut)).toEqual([]);
      expect((await sut.store.getTask(task.id)).open_blockers).toBe(1);
    });

    it('are added by their whole ids, once, without a look for the task', async () => {
      await using sut = await open();
      const { id } = await create(sut, 'Here');
      const add = (type: 'blocks' | 'related') =>
        sut.store.addDependency({ from_id: id, to_id: 'pb-aaaa', type, foreign: true }, by(sut));
      expect(await add('related')).toEqual({ from_id: id, to_id: 'pb-aaaa', added: true });
      expect(await sut.store.listForeign()).toEqual([{ id: 'pb-aaaa', closed: false, blocks: false }]);
      expect(await readyTitles(sut)).toEqual(['Here']);
      expect(await add('blocks')).toMatchObject({ added: true });
      const before = await everything(sut);
      expect(await add('blocks')).toMatchObject({ added: false });
      expect(await everything(sut)).toEqual(before);
      expect(await readyTitles(sut)).toEqual([]);
      await sut.store.removeDependency({ from_id: id, to_id: 'pb-aaaa', type: undefined }, by(sut));
      expect(await sut.store.listForeign()).toEqual([]);
      expect(await readyTitles(sut)).toEqual(['Here']);
    });

    it('marking is idempotent, changes no version, and what nobody depends on does not matter', async () => {
      await using sut = await open();
      const { id } = await create(sut, 'Here', { foreign_depends_on: ['pb-aaaa'] });
      const marks = new Map([
        ['pb-aaaa', true],
        ['zz-none', true],
      ]);
      await sut.store.markForeign(marks);
      const before = await everything(sut);
      await sut.store.markForeign(marks);
      await sut.store.markForeign(new Map());
      expect(await everything(sut)).toEqual(before);
      expect((await sut.store.getTask(id)).version).toBe(1);
    });

    it('holdsTask knows exact ids, deleted ones too', async () => {
      await using sut = await open();
      await sut.bring([line('pb-abcd')]);
      const { id } = await create(sut, 'Here', { foreign_depends_on: ['pb-zzzz'] });
      expect(await sut.store.holdsTask('pb-abcd')).toBe(true);
      expect(await sut.store.holdsTask('pb-abc')).toBe(false);
      expect(await sut.store.holdsTask('pb-zzzz')).toBe(false);
      await sut.store.deleteTask({ id }, by(sut));
      expect(await sut.store.holdsTask(id)).toBe(true);
    });
  });
}

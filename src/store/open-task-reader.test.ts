import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { tempStore } from '../../tests/support/temp-store.ts';
import { by, claim, close, create, depend } from './behaviour/open-behaviour.ts';
import { openTaskReader } from './open-task-reader.ts';
import { OLDEST_READ } from './sqlite/schema-version.ts';

describe('a reader of another store', () => {
  it('sees tasks, blockers and counts while the store is open, and what is written meanwhile', async () => {
    await using sut = await tempStore();
    const one = await create(sut, 'One', { priority: 1 });
    const two = await create(sut, 'Two', { foreign_depends_on: ['zz-aaaa'] });
    await depend(sut, two.id, one.id);
    await depend(sut, one.id, two.id, 'related');
    using reader = openTaskReader(sut);
    expect(reader.findTasks([one.id]).get(one.id)).toEqual({
      title: 'One',
      status: 'open',
      state: 'todo',
      priority: 1,
      assignee: null,
    });
    expect(reader.findTasks([one.id.slice(0, -1)]).get(one.id)).toBeUndefined();
    expect(reader.listBlockers(two.id).toSorted()).toEqual([one.id, 'zz-aaaa'].toSorted());
    expect(reader.listBlockers(one.id)).toEqual([]);
    expect(reader.countTasks()).toEqual({ open: 2, in_progress: 0, closed: 0, ready: 1 });
    await claim(sut, one.id, 'w');
    expect(reader.countTasks()).toEqual({ open: 1, in_progress: 1, closed: 0, ready: 0 });
    await close(sut, one.id);
    expect(reader.findTasks([one.id]).get(one.id)).toMatchObject({ status: 'closed', assignee: 'w' });
    await sut.store.deleteTask({ id: one.id }, by(sut));
    expect(reader.findTasks([one.id]).get(one.id)).toBeUndefined();
  });

  it('reads a store that nobody has open', async () => {
    await using sut = await tempStore();
    const { id } = await create(sut, 'One');
    await sut.reopen(() => {
      using reader = openTaskReader(sut);
      expect(reader.findTasks([id]).get(id)).toMatchObject({ title: 'One' });
    });
    await close(sut, id);
  });

  it('makes nothing where there is nothing, and refuses schemas that it cannot read', async () => {
    await using sut = await tempStore();
    const missing = join(sut.folder, 'nothing');
    expect(() => openTaskReader({ folder: missing })).toThrow('no database yet');
    expect(existsSync(missing)).toBe(false);
    const known = Number(sut.connect().prepare('PRAGMA user_version').get()?.['user_version']);
    for (const [version, code] of [
      [OLDEST_READ - 1, 'not_available'],
      [known + 1, 'schema_newer'],
    ] as const) {
      using db = sut.connect();
      db.exec(`PRAGMA user_version = ${version}; UPDATE format SET min_reader = ${version}`);
      expect(() => openTaskReader(sut)).toThrow(expect.objectContaining({ code }) as Error);
      db.exec(`PRAGMA user_version = ${known}`);
    }
  });
});

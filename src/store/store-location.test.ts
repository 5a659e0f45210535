import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { removeDatabase, tempStore } from '../../tests/support/temp-store.ts';
import { create } from './behaviour/open-behaviour.ts';
import {
  copyTasks,
  explainPutBack,
  holdsTasks,
  isStoreThere,
  locationOf,
  readGeneration,
  toStoreFiles,
} from './store-location.ts';

describe('the place of a store', () => {
  it('is known by its folder, and by the database that an error names', () => {
    const at = { folder: '/repo/.git/forge' };
    expect(locationOf(toStoreFiles(at).database)).toEqual(at);
  });

  it('says whether a database stands there, and whether it is another one', async () => {
    await using sut = await tempStore();
    const first = readGeneration(sut);
    expect(first).toBeGreaterThan(0);
    expect(readGeneration(sut)).toBe(first);
    await sut.reopen(async () => {
      await removeDatabase(sut.database);
      expect(isStoreThere(sut)).toBe(false);
      expect(readGeneration(sut)).toBe(0);
      // Its number must not be given to the next database at once.
      writeFileSync(join(sut.folder, 'in-the-way'), '');
    });
    expect(isStoreThere(sut)).toBe(true);
    expect(readGeneration(sut)).not.toBe(first);
  });

  it('gives a copy of every task, and none where there is nothing', async () => {
    await using sut = await tempStore();
    const copy = join(sut.folder, 'copy.jsonl');
    expect(copyTasks(sut, copy)).toBe(false);
    writeFileSync(sut.replica, '');
    expect(copyTasks(sut, copy)).toBe(false);
    expect(existsSync(copy)).toBe(false);
    const { id } = await create(sut, 'One');
    expect(copyTasks(sut, copy)).toBe(true);
    expect(readFileSync(copy, 'utf8')).toContain(id);
  });

  it.each([
    ['forge.db', true],
    ['forge.db-wal', true],
    ['forge.db-shm', true],
    ['forge.db.damaged-1-wal', true],
    ['forge.db.replaced-1', true],
    ['forge.db.replaced-1-unread-wal', true],
    ['forge.db.schema-12', true],
    ['forge.db.other-1', false],
    ['tasks.jsonl', true],
    ['config.json', false],
    ['forge.db.healing', false],
    ['other-tasks.jsonl', false],
  ])('%s holds tasks: %j', (name, holds) => {
    expect(holdsTasks(name)).toBe(holds);
  });

  it('tells what brings a database back that was set aside', () => {
    expect(explainPutBack({ folder: '/s' }, '/s/forge.db.replaced-1')).toBe(
      'stop every forge, then in /s: rm -f forge.db-wal forge.db-shm; mv forge.db.replaced-1 forge.db',
    );
  });
});

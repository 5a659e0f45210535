import {
  copyFileSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  statSync,
  writeSync,
  closeSync,
} from 'node:fs';
import { describe, expect, it } from 'vitest';
import { DEFAULT_WORKFLOW } from '#domain/default-workflow.ts';
import { removeDatabase, tempStore, type TempStore } from '../../tests/support/temp-store.ts';
import { by, create, expectCode, newTask, titles } from './behaviour/open-behaviour.ts';

/** Overwrites every page behind the first: the next one that is read is none. */
function damage({ database }: TempStore): void {
  const file = openSync(database, 'r+');
  const size = statSync(database).size;
  writeSync(file, Buffer.alloc(size - 4_096, 0xa5), 0, size - 4_096, 4_096);
  closeSync(file);
}

const LOCKS = ['block', 'await'] as const;
const HOW = {
  deleted: ({ database }: TempStore) => removeDatabase(database),
  'moved away': async ({ database }: TempStore) => renameSync(database, `${database}.away`),
  'replaced by a copy of it': async ({ database }: TempStore) => {
    copyFileSync(database, `${database}.copy`);
    renameSync(`${database}.copy`, database);
  },
};

describe('a store that is open heals itself', () => {
  it.each(LOCKS.flatMap((lock) => Object.entries(HOW).map(([how, go]) => ({ lock, how, go }))))(
    'where its database was $how: $lock',
    async ({ lock, go }) => {
      await using temp = await tempStore({ lock });
      await create(temp, 'Before');
      await go(temp);
      await create(temp, 'After');
      expect(titles(await temp.store.listTasks({})).toSorted()).toEqual(['After', 'Before']);
    },
  );

  it.each(LOCKS)('where a page of it cannot be read, and keeps the damaged file: %s', async (lock) => {
    await using temp = await tempStore({ lock });
    for (let at = 0; at < 60; at += 1) await create(temp, `Task ${at}`);
    await temp.reopen(() => damage(temp));
    expect(await temp.store.listTasks({})).toHaveLength(60);
    expect(readdirSync(temp.folder).some((name) => name.includes('.damaged-'))).toBe(true);
  });

  it('once for all calls that met the damage, and each of them is done', async () => {
    await using temp = await tempStore({ lock: 'await' });
    await create(temp, 'Before');
    await removeDatabase(temp.database);
    const made = await Promise.all(
      Array.from({ length: 12 }, (_, at) => temp.store.createTask(newTask(`${at}`), by(temp))),
    );
    expect(new Set(made.map(({ id }) => id)).size).toBe(12);
    expect(await temp.store.listTasks({})).toHaveLength(13);
  });

  it('and goes on by the workflow that counted', async () => {
    await using temp = await tempStore();
    const definition = { ...DEFAULT_WORKFLOW, status_states: { in_progress: 'planning' } };
    await temp.store.setWorkflow({ definition, digest: 'a' }, by(temp));
    await removeDatabase(temp.database);
    await create(temp, 'After');
    expect(await temp.store.readKeptWorkflow()).toMatchObject({
      digest: 'a',
      workflow: { in_progress: 'planning' },
    });
  });

  it('and says by its stamp that everything may be another', async () => {
    await using temp = await tempStore({ lock: 'await' });
    await create(temp, 'Before');
    const before = await temp.store.readStamp();
    await removeDatabase(temp.database);
    await create(temp, 'After');
    expect(await temp.store.readStamp()).not.toBe(before);
  });

  it('not where that is not wanted: what is wrong is told', async () => {
    await using temp = await tempStore({ heals: false });
    await create(temp, 'Before');
    const replica = readFileSync(temp.replica, 'utf8');
    await removeDatabase(temp.database);
    await expectCode(create(temp, 'After'), 'store_corrupt');
    expect(readFileSync(temp.replica, 'utf8')).toBe(replica);
  });
});

import { spawnSync } from 'node:child_process';
import { copyFileSync, existsSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setImmediate } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { raceWorkers } from '../../tests/support/store-workers.ts';
import { removeDatabase, tempStore, type TempStore } from '../../tests/support/temp-store.ts';
import { by, create, expectCode, newTask, titles } from './behaviour/open-behaviour.ts';
import { healSqliteStore } from './sqlite/open-parts.ts';
import { openSqliteStore } from './sqlite/open-sqlite-store.ts';
import { setAsideDatabase } from './sqlite/set-aside-database.ts';
import { holdsTasks } from './store-location.ts';

const NOT_A_DATABASE = 'This was a database once.\n'.repeat(100);

describe('[F19] a database that goes away while it is open', () => {
  it.each(['deleted', 'moved away', 'replaced by an older copy', 'replaced by a new one'])(
    '%s: a write is refused and nothing of it stays, what was acknowledged is there',
    async (how) => {
      await using temp = await tempStore({ heals: false });
      await create(temp, 'Before the copy');
      const { database } = temp;
      copyFileSync(database, `${database}.copy`);
      await create(temp, 'After the copy');
      if (how === 'deleted') await removeDatabase(database);
      if (how === 'moved away') renameSync(database, `${database}.away`);
      if (how === 'replaced by an older copy') renameSync(`${database}.copy`, database);
      if (how === 'replaced by a new one') {
        await removeDatabase(database);
        await using other = await openAgain(temp);
        await other.createTask(newTask('By another process'), by(temp));
      }
      const replica = readFileSync(temp.replica, 'utf8');
      const error = await expectCode(create(temp, 'Too late'), 'store_corrupt');
      expect(error).toMatchObject({
        message: expect.stringContaining('replaced while it was open'),
        details: { path: database },
      });
      await expectCode(temp.store.deleteTask({ id: 'before' }, by(temp)), 'store_corrupt');
      expect(readFileSync(temp.replica, 'utf8')).toBe(replica);

      await temp.reopen();
      const there = ['Before the copy', 'After the copy'];
      if (how === 'replaced by a new one') there.push('By another process');
      expect(titles(await temp.store.listTasks({ sort: 'created' })).toSorted()).toEqual(there.toSorted());
      expect((await create(temp, 'Again')).version).toBe(1);
    },
  );
});

describe('[F19] a database that is gone and still in use', () => {
  it('cannot be read by a connection that comes too late, which is no fault of the disk', async () => {
    await using temp = await tempStore({ lock: 'await', heals: false });
    await create(temp, 'One');
    await removeDatabase(temp.database);
    await expectCode(temp.store.listTasks({}), 'store_corrupt');
    await temp.reopen();
    expect(titles(await temp.store.listTasks({}))).toEqual(['One']);
  });

  it('an empty file that SQLite made in its place does not take over its log', async () => {
    await using temp = await tempStore({ heals: false });
    for (let n = 0; n < 30; n += 1) await create(temp, `Task ${n}`);
    await rm(temp.database);
    writeFileSync(temp.database, '');
    const [[{ created } = {}] = []] = await raceWorkers(temp.folder, 1, ['create', '1']);
    expect(created).toMatch(/^fg-/);
    await expectCode(create(temp, 'In the old one'), 'store_corrupt');
    await temp.reopen();
    expect(await temp.store.listTasks({})).toHaveLength(31);
  });
});

describe('healing', () => {
  it('a new database does not take over the log of one that is gone and still in use', async () => {
    await using temp = await tempStore({ heals: false });
    for (let n = 0; n < 30; n += 1) await create(temp, `Task ${n}`);
    expect(existsSync(`${temp.database}-wal`)).toBe(true);
    renameSync(temp.database, `${temp.database}.away`);
    await using other = await openAgain(temp);
    expect(await other.listTasks({})).toHaveLength(30);
    await other.createTask(newTask('In the new one'), by(temp));
    await expectCode(create(temp, 'In the old one'), 'store_corrupt');
    await temp.reopen();
    expect(await temp.store.listTasks({})).toHaveLength(31);
    expect(existsSync(`${temp.database}.healing`)).toBe(false);
  });

  it('says nothing of a new store, and one line of each that was made anew', async () => {
    await using temp = await tempStore();
    const told: string[] = [];
    await create(temp, 'One');
    const reopen = (between: () => void | Promise<void>): Promise<void> =>
      temp.reopen(async () => {
        await between();
        await using _store = await openAgain(temp, (line) => told.push(line));
      });
    await reopen(() => undefined);
    expect(told).toEqual([]);
    await reopen(() => removeDatabase(temp.database));
    expect(told.splice(0)).toEqual(['The task database was made anew from the local replica: 1 task']);
    await create(temp, 'Two');
    await reopen(() => writeFileSync(temp.database, NOT_A_DATABASE));
    const [line = ''] = told;
    expect(told).toEqual([expect.stringMatching(/^The task database was damaged; .* is kept: /)]);
    expect(readFileSync(line.slice(line.lastIndexOf(': ') + 2), 'utf8')).toBe(NOT_A_DATABASE);
    expect(titles(await temp.store.listTasks({ sort: 'created' }))).toEqual(['One', 'Two']);
  });

  it('sets aside a database of another program, as it was', async () => {
    await using temp = await tempStore();
    await create(temp, 'One');
    await temp.reopen(async () => {
      await removeDatabase(temp.database);
      const foreign = new DatabaseSync(temp.database);
      foreign.exec("CREATE TABLE tasks (note TEXT); INSERT INTO tasks VALUES ('not yours')");
      foreign.close();
    });
    expect(titles(await temp.store.listTasks({}))).toEqual(['One']);
    const [aside = ''] = asideIn(temp);
    const kept = new DatabaseSync(aside, { readOnly: true });
    expect(kept.prepare('SELECT note FROM tasks').get()).toEqual({ note: 'not yours' });
    expect(kept.prepare('PRAGMA journal_mode').get()).toEqual({ journal_mode: 'delete' });
    kept.close();
  });

  it('leaves a sound database alone, with everything that is in it', async () => {
    await using temp = await tempStore();
    await create(temp, 'One');
    const told: string[] = [];
    const { database, replica, clock } = temp;
    await healSqliteStore({ database, replica, clock, notice: (line) => told.push(line) });
    expect({ told, aside: asideIn(temp) }).toEqual({ told: [], aside: [] });
    expect((await create(temp, 'Two')).version).toBe(1);
  });

  it('keeps every damaged file under a name of its own, with its log', async () => {
    await using temp = await tempStore();
    await create(temp, 'One');
    await temp.reopen(async () => {
      for (const text of [NOT_A_DATABASE, `${NOT_A_DATABASE}again`]) {
        writeFileSync(temp.database, text);
        writeFileSync(`${temp.database}-wal`, 'a log');
        const aside = (await setAsideDatabase(temp.database, temp)) ?? '';
        expect(readFileSync(aside, 'utf8')).toBe(text);
        expect(readFileSync(`${aside}-wal`, 'utf8')).toBe('a log');
        expect(holdsTasks(basename(aside))).toBe(true);
        expect(existsSync(temp.database)).toBe(false);
        expect(existsSync(`${temp.database}-wal`)).toBe(false);
      }
      expect(await setAsideDatabase(temp.database, temp)).toBeUndefined();
    });
    expect(asideIn(temp)).toHaveLength(2);
    expect(titles(await temp.store.listTasks({}))).toEqual(['One']);
  });

  it.each(['a number that is free again', 'a number that another process has by now'])(
    'takes over from a process that died over it and left %s',
    async (left) => {
      await using temp = await tempStore();
      await create(temp, 'One');
      // As the lock was written once, and as it is now.
      const gone = String(spawnSync(process.execPath, ['-e', '0']).pid);
      const names: string[] = [];
      await temp.hold(`${temp.database}.look`, () =>
        names.push(readFileSync(`${temp.database}.look`, 'utf8')),
      );
      const own = JSON.parse(names[0] ?? '') as { pid: number; start_time: number };
      expect(own.pid).toBe(process.pid);
      const other = JSON.stringify({ ...own, start_time: own.start_time - 1 });
      await temp.reopen(() => {
        writeFileSync(temp.database, NOT_A_DATABASE);
        writeFileSync(`${temp.database}.healing`, left.includes('free') ? gone : other);
      });
      expect(titles(await temp.store.listTasks({}))).toEqual(['One']);
      expect(existsSync(`${temp.database}.healing`)).toBe(false);
    },
  );

  it('waits for whoever is at it, and the loop goes on meanwhile', async () => {
    await using temp = await tempStore();
    await create(temp, 'One');
    const order: string[] = [];
    await temp.reopen(async () => {
      writeFileSync(temp.database, NOT_A_DATABASE);
      const opening = await temp.hold(`${temp.database}.healing`, async () => {
        const second = openAgain(temp).finally(() => order.push('second'));
        const isWaiting = () => readdirSync(temp.folder).some((name) => /\.healing\..*\.tmp$/.test(name));
        while (!isWaiting()) await setImmediate();
        order.push('first');
        return { second };
      });
      await using _store = await opening.second;
    });
    expect(order).toEqual(['first', 'second']);
  });

  it('by several processes at once is done once, and no write is lost', { timeout: 60_000 }, async () => {
    await using temp = await tempStore();
    for (const title of ['One', 'Two', 'Three']) await create(temp, title);
    await temp.reopen(async () => {
      writeFileSync(temp.database, NOT_A_DATABASE);
      const heard = await raceWorkers(temp.folder, 4, ['create', '3']);
      const made = heard.flat().flatMap((one) => one['created'] ?? []);
      expect({ heard, made: made.length }).toMatchObject({ made: 12 });
    });
    expect(asideIn(temp)).toHaveLength(1);
    expect(await temp.store.listTasks({})).toHaveLength(15);
    await temp.rebuild();
    expect(await temp.store.listTasks({})).toHaveLength(15);
  });

  it('an older copy of the database, put back while nobody looks, catches up', async () => {
    await using temp = await tempStore();
    const { id } = await create(temp, 'Old title');
    await temp.reopen(() => copyFileSync(temp.database, `${temp.database}.copy`));
    await temp.store.updateTask({ id, title: 'New title' }, by(temp));
    await create(temp, 'Made later');
    const wanted = await temp.store.listTasks({ sort: 'id' });
    await temp.reopen(async () => {
      await removeDatabase(temp.database);
      renameSync(`${temp.database}.copy`, temp.database);
    });
    expect(await temp.store.listTasks({ sort: 'id' })).toEqual(wanted);
  });
});

function openAgain({ database, replica, clock, hold }: TempStore, notice?: (line: string) => void) {
  return openSqliteStore({ database, replica, clock, hold, notice });
}

function asideIn({ folder }: TempStore): string[] {
  const names = readdirSync(folder).filter((name) => name.includes('.damaged-') && !/-(wal|shm)$/.test(name));
  return names.map((name) => join(folder, name));
}

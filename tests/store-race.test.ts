import { readFileSync, writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { inSoak } from './support/share-of.ts';
import { expectAllServed, errors, fillStore, toTaskLine, values } from './support/store-races.ts';
import { raceWorkers, startWorker } from './support/store-workers.ts';
import { removeDatabase, tempStore, type TempStore } from './support/temp-store.ts';

/** Seconds on an idle machine; a busy one must not fail it. */
const LONG = { timeout: 180_000 };

describe('processes at the same time', LONG, () => {
  it('[S66] 8 claim 1,000 tasks: each task once, none twice', async () => {
    await using temp = await tempStore();
    await fillStore(temp, 1_000);
    const said = await raceWorkers(temp.folder, 8, ['claim']);
    expect(said.map(errors)).toEqual(said.map(() => []));
    const claimed = said.flatMap((one) => values(one, 'claimed'));
    expect(claimed).toHaveLength(1_000);
    expect(new Set(claimed).size).toBe(1_000);
    const owned = await temp.store.listTasks({ status: 'in_progress' });
    expect(owned).toHaveLength(1_000);
    // Each task belongs to the process that was told so.
    const owners = new Map(owned.map(({ id, assignee }) => [id, assignee]));
    const told = said.map((one) => new Set(values(one, 'claimed').map((id) => owners.get(String(id)))).size);
    expect(told.every((count) => count <= 1)).toBe(true);
    expect(await temp.store.listReady({})).toEqual([]);
    const stats = await temp.store.readStats({ now: 0, exclude_types: [] });
    expect(stats.by_status).toEqual({ in_progress: 1_000 });
  });

  it('6 create 20 tasks each in a database with a rollback journal, as on NFS: all are there', async () => {
    await using temp = await tempStore();
    await temp.reopen(() => {
      using db = temp.connect();
      db.exec('PRAGMA journal_mode = DELETE');
    });
    const said = await raceWorkers(temp.folder, 6, ['create', '20']);
    expect(said.map(errors)).toEqual(said.map(() => []));
    expect(await temp.store.listTasks({})).toHaveLength(120);
    using db = temp.connect();
    expect(db.prepare('PRAGMA journal_mode').get()).toEqual({ journal_mode: 'delete' });
    expect(db.prepare('PRAGMA integrity_check').get()).toEqual({ integrity_check: 'ok' });
  });

  inSoak(() => {
    it('8 create 50 tasks each: all are there, under ids of their own', async () => {
      await using temp = await tempStore();
      const said = await raceWorkers(temp.folder, 8, ['create', '50']);
      expect(said.map(errors)).toEqual(said.map(() => []));
      const created = said.flatMap((one) => values(one, 'created'));
      expect(new Set(created).size).toBe(400);
      const found = await temp.store.listTasks({});
      expect(new Set(found.map(({ id }) => id))).toEqual(new Set(created));
      expect(readFileSync(temp.replica, 'utf8').trimEnd().split('\n')).toHaveLength(400);
      await temp.rebuild();
      expect(await temp.store.listTasks({})).toHaveLength(400);
    });
  });

  it('[S40] 20 open a database that is not there yet', async () => {
    await using temp = await tempStore();
    await temp.reopen(async () => {
      await removeDatabase(temp.database);
      const said = await raceWorkers(temp.folder, 20, ['open']);
      expect(said).toEqual(said.map(() => [{ tasks: 0 }]));
    });
    using db = temp.connect();
    // Each step once, whoever took it.
    const version = db.prepare('PRAGMA user_version').get()?.['user_version'];
    expect(version).toBeGreaterThan(0);
    expect(db.prepare('SELECT count(*) AS n FROM migrations').get()).toMatchObject({ n: version });
  });

  it('8 open a database that is gone, and all see what the replica holds', async () => {
    await using temp = await tempStore();
    await fillStore(temp, 500);
    await temp.reopen(async () => {
      await removeDatabase(temp.database);
      const said = await raceWorkers(temp.folder, 8, ['open']);
      expect(said).toEqual(said.map(() => [{ tasks: 500 }]));
    });
    using db = temp.connect();
    expect(db.prepare("SELECT count(*) AS n FROM events WHERE type = 'task.created'").get()).toMatchObject({
      n: 500,
    });
  });

  inSoak(() => {
    it('24 claim and create once each: nobody is told that it is busy', () => expectAllServed(24));
  });

  it('counts and graphs are read in one piece while others write', async () => {
    await using temp = await tempStore();
    await fillStore(temp, 200);
    await temp.bring([{ ...toTaskLine('fg-cntr'), metadata: { n: 0 } }, toTaskLine('fg-tggl')]);
    await using reader = await startWorker(temp.folder, ['watch stats', '1500']);
    await using writer = await startWorker(temp.folder, ['churn', 'fg-cntr', 'fg-tggl']);
    reader.go();
    writer.go();
    await reader.ended;
    writer.kill();
    await writer.ended;
    expect(values(reader.said, 'torn')).toEqual([]);
    expect(Number(values(reader.said, 'looks')[0])).toBeGreaterThan(10);
    expect(values(writer.said, 'created').length).toBeGreaterThan(10);
  });
});

describe('a lock that is held', LONG, () => {
  it('[S128] for 3 s: a writer waits and succeeds', async () => {
    await using temp = await tempStore();
    await using holder = await holdLock(temp, 3_000);
    const begin = performance.now();
    const [said = []] = await raceWorkers(temp.folder, 1, ['create']);
    expect(values(said, 'created')).toHaveLength(1);
    expect(performance.now() - begin).toBeGreaterThan(2_000);
    await holder.ended;
    expect(await temp.store.listTasks({})).toHaveLength(1);
  });

  it('longer than lock_timeout_ms: store_busy, and nothing is changed', async () => {
    await using temp = await tempStore({ lock_timeout_ms: 200 });
    await fillStore(temp, 1);
    const text = readFileSync(temp.replica, 'utf8');
    await using _holder = await holdLock(temp, 30_000);
    const [said = []] = await raceWorkers(temp.folder, 1, ['create'], { lock_timeout_ms: 200 });
    expect(said).toEqual([{ error: 'store_busy' }]);
    expect(readFileSync(temp.replica, 'utf8')).toBe(text);
  });

  it('readers do not wait for it', async () => {
    await using temp = await tempStore();
    await fillStore(temp, 3);
    await using _holder = await holdLock(temp, 30_000);
    expect(await temp.store.listTasks({})).toHaveLength(3);
    const [said] = await raceWorkers(temp.folder, 1, ['open']);
    expect(said).toEqual([{ tasks: 3 }]);
  });

  it('a new database is filled before it answers, also when somebody holds the lock', async () => {
    await using temp = await tempStore();
    await fillStore(temp, 3);
    const lines = readFileSync(temp.replica, 'utf8');
    await temp.reopen(async () => {
      writeFileSync(temp.replica, '');
      await removeDatabase(temp.database);
    });
    // The schema is there, the tasks are not: another process is about to bring them in.
    await using _holder = await holdLock(temp, 1_000);
    writeFileSync(temp.replica, lines);
    const [said] = await raceWorkers(temp.folder, 1, ['open']);
    expect(said).toEqual([{ tasks: 3 }]);
  });
});

async function holdLock(temp: TempStore, ms: number) {
  const holder = await startWorker(temp.folder, ['hold', String(ms)]);
  const held = holder.heard('held');
  holder.go();
  await held;
  return holder;
}

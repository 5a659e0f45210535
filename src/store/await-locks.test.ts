import { NO_AGENTS } from '#domain/claimer.ts';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { statSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { isForgeError } from '#kernel/errors.ts';
import { LIMITS } from '#kernel/limits.ts';
import { removeDatabase, tempStore, type TempStore } from '../../tests/support/temp-store.ts';
import { newTask } from './behaviour/open-behaviour.ts';
import { openSqliteStore, type SqliteStore } from './sqlite/open-sqlite-store.ts';

const by = { actor: { kind: 'agent', name: 'worker-1', named: true }, now: 1_790_000_000_000 } as const;

describe('a store that awaits locks', () => {
  test('waits for another process while the event loop goes on', async () => {
    await using temp = await tempStore();
    await using store = await openAwaiting(temp, 60_000);
    await using holder = await holdLock(temp.database);
    let ticks = 0;
    const timer = setInterval(() => (ticks += 1), 1);
    const writing = store.createTask(newTask('waits'), by);
    // The lock goes when many ticks were counted: a loop that stood still would count none and wait for ever.
    const released = new Promise<void>((resolve) => {
      const look = setInterval(() => {
        if (ticks < 200) return;
        clearInterval(look);
        holder.release();
        resolve();
      }, 5);
    });
    await released;
    const task = await writing;
    clearInterval(timer);
    expect(ticks).toBeGreaterThanOrEqual(200);
    expect((await store.getTask(task.id)).title).toBe('waits');
  });

  test('the same write on a blocking store stops the loop: the check sees what it must', async () => {
    await using temp = await tempStore();
    const { database, replica, clock } = temp;
    await using store = await openSqliteStore({
      database,
      replica,
      clock,
      lock_timeout_ms: LIMITS.lock_slice_ms,
    });
    await store.createTask(newTask('loads what a write needs'), by);
    await using _holder = await holdLock(database);
    let ticks = 0;
    const timer = setInterval(() => (ticks += 1), 1);
    const failed = await store.createTask(newTask('waits'), by).catch((error: unknown) => error);
    clearInterval(timer);
    expect(isForgeError(failed) && failed.code).toBe('store_busy');
    // A loop that went on would have counted one for nearly every millisecond.
    expect(ticks).toBeLessThan(LIMITS.lock_slice_ms / 5);
  });

  test.each(['a write', 'the opening of a new database'])(
    'a blocking store lets go now and then: %s waits for a lock of the same process',
    async (what) => {
      await using temp = await tempStore();
      const { database, replica, clock } = temp;
      await temp.store.createTask(newTask('One'), by);
      const open = () => openSqliteStore({ database, replica, clock, lock_timeout_ms: 2_000 });
      const first = what === 'a write' ? await open() : undefined;
      if (what !== 'a write') await removeDatabase(database);
      // Freed by the event loop only, as a write is that awaits the disk.
      const holder = new DatabaseSync(database);
      holder.exec('BEGIN IMMEDIATE');
      const freed = setTimeout(1).then(() => holder.close());
      await using store = first ?? (await open());
      expect((await store.createTask(newTask('Two'), by)).title).toBe('Two');
      expect(await store.listTasks({})).toHaveLength(2);
      await freed;
    },
  );

  test('writes that come together are one transaction, and each is all or nothing by itself', async () => {
    await using temp = await tempStore();
    await using store = await openAwaiting(temp, 60_000);
    const { id } = await store.createTask(newTask('wanted'), by);
    const before = statSync(temp.replica).size;
    const claims = await Promise.all(
      Array.from({ length: 20 }, async (_, at) =>
        store.claimTask({ id, assignee: `worker-${at}`, force: false, agents: NO_AGENTS }, by),
      ),
    );
    const made = await Promise.allSettled([
      store.createTask(newTask('first'), by),
      store.createTask({ ...newTask('refused'), parent_id: 'fg-none' }, by),
      store.createTask(newTask('second'), by),
    ]);
    expect(claims.filter(({ outcome }) => outcome === 'claimed')).toHaveLength(1);
    expect(made.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
    expect(made[1]).toMatchObject({ reason: { code: 'not_found' } });
    expect(statSync(temp.replica).size).toBeGreaterThan(before);
    // The replica has them all: what a crash leaves is whole.
    await temp.rebuild();
    expect((await temp.store.listTasks({})).map(({ title }) => title).sort()).toEqual([
      'first',
      'second',
      'wanted',
    ]);
  });

  test('a write that is not gathered waits for its turn too, beside gathered ones and for another process', async () => {
    await using temp = await tempStore();
    await using store = await openAwaiting(temp, 60_000);
    const { id } = await store.createTask(newTask('watched'), by);
    const watcher = { pid: 1, start_time: 1, host: 'here', boot_id: 'b', pid_namespace: 'n' };
    await store.takeWatch({ task_id: id, watcher }, by.now);
    await using holder = await holdLock(temp.database);
    const writing = Promise.all([
      store.createTask(newTask('gathered'), by),
      store.forgetWatch(id),
      store.createTask(newTask('gathered too'), by),
    ]);
    const early = await Promise.race([writing.catch((error: unknown) => error), setTimeout(50)]);
    expect(early).toBeUndefined();
    holder.release();
    await writing;
    expect(await store.listWatchedTasks()).toEqual([]);
    expect(await store.listTasks({})).toHaveLength(3);
  });

  test('reads do not wait for a writer', async () => {
    await using temp = await tempStore();
    await using store = await openAwaiting(temp, 60_000);
    const { id } = await store.createTask(newTask('there'), by);
    await using _holder = await holdLock(temp.database);
    expect((await store.getTask(id)).title).toBe('there');
    expect(await store.newestEvent()).toBe(1);
  });

  test('gives up with store_busy when the time is over, and nothing has changed', async () => {
    await using temp = await tempStore();
    await using store = await openAwaiting(temp, 30);
    await using holder = await holdLock(temp.database);
    const failed = await store.createTask(newTask('too late'), by).catch((error: unknown) => error);
    expect(isForgeError(failed) && failed.code).toBe('store_busy');
    holder.release();
    await holder.ended;
    expect(await store.listTasks({})).toEqual([]);
  });

  test('writes happen in the order they were asked for, whatever they waited for', async () => {
    await using temp = await tempStore();
    await using store = await openAwaiting(temp, 60_000);
    await using holder = await holdLock(temp.database);
    const titles = Array.from({ length: 50 }, (_, at) => `task ${at}`);
    const writing = Promise.all(titles.map((title) => store.createTask(newTask(title), by)));
    holder.release();
    const ids = (await writing).map(({ id }) => id);
    const { events } = await store.readEvents({ after: 0, limit: 100 });
    expect(events.map(({ task_id }) => task_id)).toEqual(ids);
  });

  test('many writes that wait leave the loop its turns', async () => {
    await using temp = await tempStore();
    await using store = await openAwaiting(temp, 60_000);
    let turns = 0;
    let isOver = false;
    const count = (): void => {
      turns += 1;
      if (!isOver) setImmediate(count);
    };
    setImmediate(count);
    await Promise.all(Array.from({ length: 300 }, (_, at) => store.createTask(newTask(`task ${at}`), by)));
    isOver = true;
    expect(turns).toBeGreaterThan(3);
  });

  test('an error that is no lock is told at once, and the next write goes on', async () => {
    await using temp = await tempStore();
    await using store = await openAwaiting(temp, 60_000);
    const [missing, made] = await Promise.allSettled([
      store.addComment({ id: 'fg-none', body: 'x', reply_to: null }, by),
      store.createTask(newTask('after it'), by),
    ]);
    expect(missing.status).toBe('rejected');
    expect(made.status).toBe('fulfilled');
  });

  test('opens while another process holds the lock', async () => {
    await using temp = await tempStore();
    await temp.rebuild();
    await using holder = await holdLock(temp.database);
    await using store = await openAwaiting(temp, 60_000);
    expect(await store.newestEvent()).toBe(0);
    holder.release();
  });
});

function openAwaiting(
  { database, replica, clock }: TempStore,
  lock_timeout_ms: number,
): Promise<SqliteStore> {
  return openSqliteStore({ database, replica, clock, lock_timeout_ms, lock: 'await' });
}

const HOLDER = `
  const { DatabaseSync } = require('node:sqlite');
  const db = new DatabaseSync(process.argv[1], { timeout: 10000 });
  db.exec('BEGIN IMMEDIATE');
  process.stdout.write('held');
  process.stdin.once('data', () => { db.exec('ROLLBACK'); db.close(); process.stdin.destroy(); });
  process.stdin.once('end', () => process.exit(0));
`;

/** Another process that writes until it is told to stop. */
async function holdLock(
  database: string,
): Promise<AsyncDisposable & { release(): void; ended: Promise<unknown> }> {
  const child = spawn(process.execPath, ['--eval', HOLDER, database], { stdio: ['pipe', 'pipe', 'inherit'] });
  const ended = once(child, 'close');
  await once(child.stdout, 'data');
  return {
    release: () => child.stdin.end('go'),
    ended,
    async [Symbol.asyncDispose]() {
      child.stdin.end();
      await ended;
    },
  };
}

import { randomUUID } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { WATCH_LIMITS } from '#kernel/watch-limits.ts';
import type { ProcessMark } from '#store/attempt-store.ts';
import { isDaemonMark } from '#store/daemon-store.ts';
import { goneProcess } from '../../tests/support/dying-store.ts';
import { tempWorkshop, type TempWorkshop } from '../../tests/support/temp-workshop.ts';
import { FolderLocks } from './folder-locks.ts';
import { findWatch } from './find-watch.ts';
import { systemWriter } from './work.ts';

let shop: TempWorkshop;
beforeEach(async () => {
  shop = await tempWorkshop();
});
afterEach(() => shop[Symbol.asyncDispose]());

/** A process that the system here cannot know. */
const elsewhere = (more: Partial<ProcessMark> = {}): ProcessMark => ({
  ...goneProcess(),
  host: 'elsewhere',
  daemon_id: randomUUID(),
  ...more,
});

describe('a daemon on another host', () => {
  it('keeps what it is at while it says that it is there, and loses it when its word holds no more', async () => {
    const watcher = elsewhere();
    const { run, merge, task_id } = await workAs(watcher);
    await beat(watcher);
    await shop.place.settleLost();
    expect(await ends(run, merge)).toEqual(['running', 'started']);
    expect(await findWatch(shop.place, task_id)).toMatchObject({ is_others: true });
    pass(WATCH_LIMITS.daemon_ttl_ms - 1);
    await shop.place.settleLost();
    expect(await ends(run, merge)).toEqual(['running', 'started']);
    pass(1);
    await shop.place.settleLost();
    expect(await ends(run, merge)).toEqual(['failed', 'dropped']);
    expect(await shop.place.store.getRun(run)).toMatchObject({
      outcome: 'crashed',
      message: expect.stringContaining('on elsewhere is gone'),
    });
    expect(await findWatch(shop.place, task_id)).toMatchObject({ is_others: false });
  });

  it('that ended loses what it left at once', async () => {
    const watcher = elsewhere();
    const { run, merge } = await workAs(watcher);
    await beat(watcher);
    if (isDaemonMark(watcher)) await shop.place.store.endDaemon(watcher, shop.engine.temp.clock.now());
    await shop.place.settleLost();
    expect(await ends(run, merge)).toEqual(['failed', 'dropped']);
  });

  it('has the folder that it works in, and has it no more when its word holds no more', async () => {
    const watcher = elsewhere();
    await beat(watcher);
    const { id } = await shop.create('Worked on');
    const folder = { id: randomUUID(), name: 'held', task_id: id };
    const theirs = new FolderLocks({ ...shop.place, watcher });
    const mine = new FolderLocks(shop.place, 40);
    await theirs.hold(folder, 'run', async () => {
      await expect(mine.hold(folder, 'look', async () => 'had')).rejects.toMatchObject({
        code: 'state_invalid',
      });
      pass(WATCH_LIMITS.daemon_ttl_ms);
      expect(await mine.hold(folder, 'look', async () => 'had')).toBe('had');
    });
  });

  it('of an older Forge, which says nothing, keeps it for good', async () => {
    const { run, merge } = await workAs(elsewhere({ daemon_id: undefined }));
    await shop.place.settleLost();
    pass(1_000 * WATCH_LIMITS.daemon_ttl_ms);
    await shop.place.settleLost();
    expect(await ends(run, merge)).toEqual(['running', 'started']);
  });

  it('may use the ports that an attempt here has', async () => {
    const { store } = shop.place;
    const start = async (holder: ProcessMark) => {
      const { id } = await shop.create(`On ${holder.host}`);
      const attempt = {
        ...NEW,
        id: randomUUID(),
        task_id: id,
        name: randomUUID().slice(0, 8),
        port: 4_100,
        holder,
      };
      return store.startAttempt(attempt, systemWriter(shop.place));
    };
    await start(shop.place.watcher);
    await expect(start(shop.place.watcher)).rejects.toMatchObject({
      code: 'already_exists',
      details: { port: 4_100 },
    });
    expect(await start(elsewhere())).toMatchObject({ port: 4_100 });
    expect(await store.listAttempts({ there: true, host: 'elsewhere' })).toHaveLength(1);
  });
});

it('a workshop has a row while it is at work on something, and none before and after', async () => {
  const { store, watcher } = shop.place;
  const list = async () => (await store.listDaemons()).map(({ mark }) => mark.daemon_id);
  const task = await shop.create('Worked on');
  expect(await list()).toEqual([]);
  const during = await shop.workshop.during(task.id, list);
  expect(during).toEqual([watcher.daemon_id]);
  await shop.workshop.stop();
  expect(await list()).toEqual([]);
});

const NEW = { path: '/nowhere', target: 'main', base_commit: 'a'.repeat(40), agent: 'w1' } as const;

async function workAs(watcher: ProcessMark): Promise<{ run: string; merge: string; task_id: string }> {
  const { store } = shop.place;
  const by = systemWriter(shop.place);
  const start = async (title: string) => {
    const task = await shop.create(title);
    const names = { id: randomUUID(), name: randomUUID().slice(0, 8) };
    return store.startAttempt({ ...NEW, ...names, task_id: task.id, port: null, holder: watcher }, by);
  };
  const worked = await start('Worked on');
  const about = {
    role: 'coder',
    agent: 'w1',
    executor: 'shell',
    fence: null,
    in_state: null,
    session_id: null,
  };
  const run = await store.createRun(
    { ...about, id: randomUUID(), attempt_id: worked.id, state: 'running', watcher },
    by,
  );
  const merged = await start('Merged');
  const merge = randomUUID();
  const wish = {
    id: merge,
    target: 'main',
    strategy: 'merge',
    head_commit: 'b'.repeat(40),
    watcher,
  } as const;
  await store.queueMerge({ ...wish, attempt_id: merged.id }, by);
  await store.takeMerge({ id: merge, watcher }, by);
  for (const { task_id } of [worked, merged])
    await store.takeWatch({ task_id, watcher }, shop.engine.temp.clock.now());
  return { run: run.id, merge, task_id: worked.task_id };
}

async function ends(run: string, merge: string): Promise<string[]> {
  const { store } = shop.place;
  const { state } = await store.getRun(run);
  const open = (await store.listOpenMerges()).find((one) => one.merge.id === merge)?.merge.state;
  return [state, open ?? 'dropped'];
}

async function beat(mark: ProcessMark): Promise<void> {
  if (!isDaemonMark(mark)) return;
  await shop.place.store.beatDaemon(
    { mark, ttl_ms: WATCH_LIMITS.daemon_ttl_ms },
    shop.engine.temp.clock.now(),
  );
}

function pass(ms: number): void {
  shop.engine.temp.clock.advance(ms);
}

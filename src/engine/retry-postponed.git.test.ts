import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Task } from '#contract/task.ts';
import { NO_AGENTS } from '#domain/claimer.ts';
import { LIMITS } from '#kernel/limits.ts';
import { inSoak, shareOf } from '../../tests/support/share-of.ts';
import { tempWorkshop, type TempWorkshop } from '../../tests/support/temp-workshop.ts';
import { watchOver } from './recover-project.ts';
import { retryPostponed } from './retry-postponed.ts';
import { dispatchTasks } from './dispatch-tasks.ts';
import { workTask } from './work-task.ts';
import { Workshop } from './workshop.ts';

let shop: TempWorkshop;
beforeEach(async () => {
  shop = await tempWorkshop();
  shop.addAgent('w1', 'echo theirs > README.md; echo new > new.txt');
});
afterEach(() => shop[Symbol.asyncDispose]());

/** What a user may have in the way, and how they put it right. */
const OBSTACLES: readonly (readonly [string, () => Promise<void>, () => Promise<void> | void])[] = [
  [
    'a changed file',
    () => shop.repo.write('README.md', 'mine\n'),
    () => void shop.repo.git('checkout', '--', 'README.md'),
  ],
  [
    'a staged file',
    async () => {
      await shop.repo.write('README.md', 'mine\n');
      shop.repo.git('add', 'README.md');
    },
    () => void shop.repo.git('stash', '-q'),
  ],
  [
    'an ignored file in a folder that becomes a file',
    async () => {
      await shop.repo.write('.git/info/exclude', '*.log\n');
      await shop.repo.write('new.txt/keep.log', 'mine\n');
    },
    () => rmSync(join(shop.repo.path, 'new.txt'), { recursive: true }),
  ],
  [
    'a new file of the same name',
    () => shop.repo.write('new.txt', 'mine\n'),
    () => rmSync(join(shop.repo.path, 'new.txt')),
  ],
];

describe('[A17] a merge that met something of the user’s', () => {
  it.each(shareOf(OBSTACLES, 3))(
    '%s waits for it, spends no try, and lands when it is gone',
    async (_, hinder, clear) => {
      const task = await postponed(hinder);
      const before = shop.repo.git('status', '--porcelain');
      // As long as it is in the way nothing is moved, and who dispatches does not call it done.
      const [waiting, ...others] = await dispatch();
      expect(others).toEqual([]);
      expect(waiting).toMatchObject({ task: { id: task.id, version: task.version }, reached: false });
      expect(shop.repo.git('status', '--porcelain')).toBe(before);
      await clear();
      // At once: whoever starts it has just put it right.
      expect(await dispatch()).toEqual([]);
      expect(await shop.place.store.getTask(task.id)).toMatchObject({ state: 'done' });
      expect(shop.repo.git('show', 'main:new.txt')).toBe('new');
      expect(shop.repo.git('show', 'main:README.md')).toBe('theirs');
    },
  );

  it('is told as merged by whoever had tried before', async () => {
    shop.addAgent('slow', 'sleep 3; echo s > s');
    const task = await shop.create('In the way');
    await shop.work(task, 'w1');
    await shop.repo.write('new.txt', 'mine\n');
    const other = await shop.create('Meanwhile');
    await shop.place.store.updateTask({ id: other.id, assignee: 'slow', agents: NO_AGENTS }, shop.as().by);
    const working = dispatch();
    await expect
      .poll(async () => (await shop.place.store.getTask(task.id)).state, { timeout: 20_000 })
      .toBe('merge_failed');
    rmSync(join(shop.repo.path, 'new.txt'));
    const worked = await working;
    const told = worked.map(({ task: { id, state }, reached }) => `${id} ${state} ${reached}`);
    expect(told.toSorted()).toEqual([`${task.id} done true`, `${other.id} done true`].toSorted());
  });

  it('lands by whoever stays and looks after the project', async () => {
    const task = await postponed(() => shop.repo.write('new.txt', 'mine\n'));
    await watchOver(shop.workshop);
    expect(shop.workshop.isAtWork(task.id)).toBe(false);
    rmSync(join(shop.repo.path, 'new.txt'));
    await expect
      .poll(
        async () => {
          await watchOver(shop.workshop);
          await shop.workshop.settled();
          return (await shop.place.store.getTask(task.id)).state;
        },
        { timeout: 20_000 },
      )
      .toBe('done');
  });

  it('is tried again when its time has come, and not a moment before', async () => {
    const task = await postponed(() => shop.repo.write('new.txt', 'mine\n'));
    rmSync(join(shop.repo.path, 'new.txt'));
    const [merge] = await shop.place.store.listMerges({ task_id: task.id });
    const due = Date.parse(merge?.finished_at ?? '') + LIMITS.merge_again_first_ms;
    const at = async (now: number): Promise<string> => {
      const workshop = new Workshop({ ...shop.place, clock: { now: () => now } });
      await retryPostponed(workshop);
      await workshop.settled();
      return (await shop.place.store.getTask(task.id)).state;
    };
    expect(await at(due - 1)).toBe('merge_failed');
    expect(await at(due)).toBe('done');
    // There is nothing to say of a merge that just landed.
    expect((await shop.place.store.listMerges({ task_id: task.id })).at(-1)).toMatchObject({
      state: 'landed',
      message: null,
    });
  });

  inSoak(() => {
    it('lands by the command that wants it merged', async () => {
      const { id } = await postponed(() => shop.repo.write('new.txt', 'mine\n'));
      const again = () => workTask(shop.workshop, shop.as(), { id, agent: 'w1', merge: true });
      expect(await again()).toMatchObject({ task: { state: 'merge_failed' }, reached: false });
      rmSync(join(shop.repo.path, 'new.txt'));
      expect(await again()).toMatchObject({ task: { state: 'done' }, reached: true });
    });
  });

  it('is left to another caller of this process that began it in the same moment', async () => {
    const { id } = await postponed(() => shop.repo.write('new.txt', 'mine\n'));
    rmSync(join(shop.repo.path, 'new.txt'));
    const { store } = shop.place;
    // After the look at what is at work, before the task is moved.
    const getTask: typeof store.getTask = async (asked) => {
      const found = await store.getTask(asked);
      shop.workshop.follow(id, () => nextTurn());
      return found;
    };
    const engine = { ...shop.as(), store: { ...store, getTask } };
    const worked = await workTask(shop.workshop, engine, { id, agent: undefined, merge: true });
    expect(worked).toMatchObject({ task: { state: 'merge_failed' }, reached: false });
  });
});

async function postponed(hinder: () => Promise<void>): Promise<Task> {
  const task = await shop.create('In the way');
  await shop.work(task, 'w1');
  await hinder();
  const waiting = await shop.move(task, 'merging');
  expect(waiting).toMatchObject({ state: 'merge_failed', error_annotation: { code: 'merge_postponed' } });
  const told = shop.news.flatMap((one) => (one.kind === 'merge' ? [one.merge.state] : []));
  expect(told).toEqual(['queued', 'started', 'postponed']);
  expect(waiting.error_annotation?.message).toMatch(/README\.md|new\.txt/);
  return waiting;
}

function dispatch() {
  return dispatchTasks(shop.workshop, { merge: true, until_empty: true, tell: () => {} });
}

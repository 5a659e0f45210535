import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Task } from '#contract/task.ts';
import { isForgeError } from '#kernel/errors.ts';
import { shareOf } from '../../tests/support/share-of.ts';
import { tempWorkshop, type TempWorkshop } from '../../tests/support/temp-workshop.ts';
import { releaseTask, updateTask } from './change-task.ts';
import { endLost } from './end-lost.ts';
import { transitionTask } from './transition-task.ts';

let shop: TempWorkshop;
beforeEach(async () => {
  shop = await tempWorkshop();
});
afterEach(() => shop[Symbol.asyncDispose]());

/** Every way by which a task leaves the gate that it is checked in. */
const LEAVES = [
  ['cancelled', (id: string) => transitionTask(shop.as(), { id, to: 'cancelled', reason: null })],
  ['blocked', (id: string) => transitionTask(shop.as(), { id, to: 'blocked', reason: null })],
  ['deleted', (id: string) => remove(id)],
  ['archived', (id: string) => archive(id)],
  ['released', (id: string) => releaseTask(shop.as(), release(id))],
  ['opened', (id: string) => updateTask(shop.as(), { id, status: 'open' })],
] as const;

describe('[C1] checks end with the task that they are for', () => {
  it.each(shareOf(LEAVES, 4))('%s while it is reviewed', async (_, leave) => {
    const pid = await file('review');
    shop.addAgent('w1', 'echo x > x');
    const task = await shop.create('Reviewed', { steps: [`echo $$ > ${pid}; sleep 600`] });
    const working = shop.work(task, 'w1').catch(ignoreGone);
    await expect.poll(() => existsSync(pid), { timeout: 20_000 }).toBe(true);
    await leave(task.id);
    // When the change is answered nothing of it is left.
    expect(isAlive(pid)).toBe(false);
    await working;
    expect(await shop.place.store.listReviews({ task_id: task.id }).catch(() => [])).not.toContainEqual(
      expect.objectContaining({ status: 'running' }),
    );
  });

  it.each(shareOf(LEAVES, 4))('%s while it is merged, which then does not land', async (_, leave) => {
    const pid = await file('merge');
    shop.addAgent('w1', 'echo x > x');
    // Only in the tree of the candidate, which has what main got meanwhile.
    const task = await shop.create('Merged', { steps: [`[ ! -e y ] || { echo $$ > ${pid}; sleep 600; }`] });
    await shop.work(task, 'w1');
    await shop.repo.write('y', 'y\n');
    shop.repo.git('add', 'y');
    shop.repo.git('commit', '-qm', 'y');
    const before = shop.repo.git('rev-parse', 'main');
    const merging = transitionTask(shop.as(), { id: task.id, to: 'merging', reason: null }).catch(ignoreGone);
    await expect.poll(() => existsSync(pid), { timeout: 20_000 }).toBe(true);
    await leave(task.id);
    await merging;
    await shop.workshop.settled();
    expect(isAlive(pid)).toBe(false);
    expect(shop.repo.git('rev-parse', 'main')).toBe(before);
    expect(await shop.place.store.listOpenMerges()).toEqual([]);
  });
});

describe('[O1] a merge that is about to land', () => {
  it.each(shareOf(LEAVES, 6))('does not where the task is %s while a hook is asked', async (_, leave) => {
    const task = await passed();
    const asked = await file('asked');
    const hook = join(shop.repo.path, '.git', 'hooks', 'pre-receive');
    mkdirSync(dirname(hook), { recursive: true });
    writeFileSync(hook, `#!/bin/sh\ntouch ${asked}; sleep 1\n`, { mode: 0o755 });
    const before = shop.repo.git('rev-parse', 'main');
    const merging = startMerge(task.id);
    await expect.poll(() => existsSync(asked), { timeout: 20_000 }).toBe(true);
    await leave(task.id);
    await merging;
    await shop.workshop.settled();
    expect(shop.repo.git('rev-parse', 'main')).toBe(before);
    expect(await shop.place.store.listOpenMerges()).toEqual([]);
  });

  it.each(shareOf(LEAVES, 6))('is not %s before it has landed', async (_, leave) => {
    const task = await passed();
    const lock = join(shop.repo.path, '.git', 'index.lock');
    writeFileSync(lock, '');
    const merging = startMerge(task.id);
    await expect.poll(isLanding, { timeout: 20_000 }).toBe(true);
    let isAnswered = false;
    const leaving = leave(task.id)
      .then(
        () => 'done',
        () => 'refused',
      )
      .finally(() => (isAnswered = true));
    await sleep(300);
    expect(isAnswered).toBe(false);
    rmSync(lock);
    await merging;
    await leaving;
    // Whatever it was asked for is done with a task that is merged, and says so.
    expect(shop.repo.git('show', 'main:x')).toBe('x');
    const [merge] = await shop.place.store.listMerges({ task_id: task.id }).catch(() => []);
    expect(merge?.state ?? 'landed').toBe('landed');
    const moves = await shop.place.store.listTransitions({ id: task.id, limit: undefined }).catch(() => []);
    expect(moves.map(({ to_state }) => to_state)).not.toContain('cancelled');
  });

  it('may be taken away again where the landing was given up', async () => {
    const task = await passed();
    await shop.repo.write('x', 'mine\n');
    await startMerge(task.id);
    expect(await isLanding()).toBe(false);
    await transitionTask(shop.as(), { id: task.id, to: 'cancelled', reason: null });
    expect(await shop.place.store.getTask(task.id)).toMatchObject({ state: 'cancelled' });
  });
});

async function passed(): Promise<Task> {
  shop.addAgent('w1', 'echo x > x');
  const task = await shop.create('About to land');
  await shop.work(task, 'w1');
  return task;
}

function startMerge(id: string): Promise<unknown> {
  return transitionTask(shop.as(), { id, to: 'merging', reason: null }).catch(ignoreGone);
}

async function isLanding(): Promise<boolean> {
  const path = shop.engine.temp.database;
  using db = new DatabaseSync(path, { readOnly: true });
  return db.prepare('SELECT 1 FROM merges WHERE landing_at IS NOT NULL').get() !== undefined;
}

function release(id: string): Parameters<typeof releaseTask>[1] {
  return { id, owner: 'w1', force: true, reason: null };
}

async function remove(id: string): Promise<void> {
  await shop.place.store.deleteTask({ id }, shop.as().by);
  await endLost(shop.as(), id);
}

async function archive(id: string): Promise<void> {
  const workflow_fields = new Map([['archived_at', 'now']]);
  await shop.place.store.updateTask({ id, workflow_fields }, shop.as().by);
  await endLost(shop.as(), id);
}

async function file(name: string): Promise<string> {
  return join(shop.place.records, '..', `${name}.pid`);
}

function isAlive(path: string): boolean {
  try {
    return !/\) Z /.test(readFileSync(`/proc/${readFileSync(path, 'utf8').trim()}/stat`, 'utf8'));
  } catch {
    return false;
  }
}

function ignoreGone(error: unknown): undefined {
  if (!isForgeError(error) || error.code !== 'not_found') throw error;
  return undefined;
}

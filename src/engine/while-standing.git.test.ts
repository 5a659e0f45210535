import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { isForgeError } from '#kernel/errors.ts';
import { tempWorkshop, type TempWorkshop } from '../../tests/support/temp-workshop.ts';
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
  ['deleted', (id: string) => shop.place.store.deleteTask({ id }, shop.as().by)],
  ['archived', (id: string) => archive(id)],
] as const;

describe('[C1] checks end with the task that they are for', () => {
  it.each(LEAVES)('%s while it is reviewed', async (_, leave) => {
    const pid = await file('review');
    shop.addAgent('w1', 'echo x > x');
    const task = await shop.create('Reviewed', { steps: [`echo $$ > ${pid}; sleep 600`] });
    const working = shop.work(task, 'w1').catch(ignoreGone);
    await expect.poll(() => existsSync(pid), { timeout: 20_000 }).toBe(true);
    await leave(task.id);
    await working;
    expect(isAlive(pid)).toBe(false);
    expect(await shop.place.store.listReviews({ task_id: task.id }).catch(() => [])).not.toContainEqual(
      expect.objectContaining({ status: 'running' }),
    );
  });

  it.each(LEAVES)('%s while it is merged, which then does not land', async (_, leave) => {
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

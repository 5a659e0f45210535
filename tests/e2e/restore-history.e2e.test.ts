import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import type { Task } from '#contract/task.ts';
import { forgeClones, type Clone } from '../support/git-clones.ts';

const FILE = '.forge/tasks.jsonl';

interface Family {
  readonly id: string;
  readonly child: string;
  readonly detached: string;
  readonly dependent: string;
}

/** A task with everything on it, committed, then deleted, committed and pushed. */
async function deleteFamily(clone: Clone): Promise<Family> {
  const { id } = await clone.create('Gone', '--description', 'All of it', '--label', 'x', '--priority', '1');
  await clone.json('task', 'comment', id, 'Kept');
  const child = (await clone.create('Child', '--parent', id)).id;
  const detached = (await clone.create('Detached before', '--parent', id)).id;
  const dependent = (await clone.create('Dependent', '--depends-on', id)).id;
  await clone.commitTasks();
  await clone.json('task', 'update', detached, '--parent', 'none');
  await clone.json('task', 'delete', id);
  await clone.commitTasks();
  // More commits of the file after the deletion.
  await clone.create('Later');
  await clone.commitTasks();
  clone.git('push', '--quiet', 'origin', 'main');
  return { id, child, detached, dependent };
}

async function expectBack(clone: Clone, { id, child, detached, dependent }: Family): Promise<void> {
  const restored = await clone.run('task', 'restore', id);
  expect(restored).toMatchObject({ exit: 0, stdout: `Restored task ${id}: Gone\n` });
  const show = (one: string): Promise<Task> => clone.json<Task>('task', 'show', one);
  expect(await show(id)).toMatchObject({
    title: 'Gone',
    description: 'All of it',
    labels: ['x'],
    priority: 1,
    comments: [expect.objectContaining({ body: 'Kept' })],
  });
  expect(await show(child)).toMatchObject({ parent_id: id });
  expect(await show(detached)).toMatchObject({ parent_id: null });
  expect(await show(dependent)).toMatchObject({ dependencies: [expect.objectContaining({ id })] });
}

describe('[D6] forge task restore reaches into git', () => {
  it('in a fresh clone, and in the clone that deleted it after .git/forge was lost', async () => {
    await using world = await forgeClones(['a']);
    const { a } = world.clone;
    const family = await deleteFamily(a);
    const late = await world.addClone('late');
    await expectBack(late, family);
    rmSync(join(a.path, '.git/forge'), { recursive: true });
    await a.run('ready');
    await expectBack(a, family);
  });

  it('[D15] where another clone deleted it, its children and edges come back as well', async () => {
    await using world = await forgeClones(['a', 'b']);
    const { a, b } = world.clone;
    const family = await deleteFamily(a);
    // b has seen the task alive.
    b.git('fetch', '--quiet');
    b.git('merge', '--quiet', 'origin/main~2');
    await b.run('ready');
    b.git('pull', '--quiet', 'origin', 'main');
    await expectBack(b, family);
  });

  it('in branch mode, and says where nothing knows it', async () => {
    await using world = await forgeClones(['a'], { init: ['init', '--branch', 'forge-data'] });
    const { a } = world.clone;
    const { id } = await a.create('Gone');
    await a.json('sync');
    await a.json('task', 'delete', id);
    const { id: never } = await a.create('Never committed');
    await a.json('task', 'delete', never);
    await a.json('sync');
    const late = await world.addClone('late');
    expect(await late.run('task', 'restore', id)).toMatchObject({ stdout: `Restored task ${id}: Gone\n` });
    const { error } = await late.fails('task', 'restore', never);
    expect(error).toMatchObject({
      code: 'not_found',
      message: `What ${never} held is neither in this store nor in git's history here`,
    });
    expect(await a.run('task', 'restore', never)).toMatchObject({ exit: 0 });
  });
});

it('[T14-1] forge task restore keeps what another clone, or a hand, edited after the deletion', async () => {
  await using world = await forgeClones(['a', 'b']);
  const { a, b } = world.clone;
  const byCommand = await a.create('One', '--description', 'old', '--label', 'x');
  const byHand = await a.create('Two', '--priority', '3');
  await a.commitTasks();
  a.git('push', '--quiet', 'origin', 'main');
  b.git('pull', '--quiet', 'origin', 'main');
  await a.json('task', 'delete', byCommand.id);
  const { deleted_at } = await a.json<{ deleted_at: string }>('task', 'delete', byHand.id);
  while (Date.now() <= Date.parse(deleted_at)) await sleep(1);
  a.write(FILE, a.read(FILE).replace('"title":"Two"', '"title":"Two by hand"'));
  await b.json('task', 'update', byCommand.id, '--title', 'One later', '--priority', '0');
  await b.commitTasks();
  b.git('push', '--quiet', 'origin', 'main');
  await a.run('ready');
  await a.commitTasks();
  a.git('pull', '--quiet', '--no-rebase', '--no-edit', 'origin', 'main');
  for (const { id } of [byCommand, byHand]) await a.json('task', 'restore', id);
  expect(await a.show(byCommand.id)).toMatchObject({
    title: 'One later',
    priority: 0,
    description: 'old',
    labels: ['x'],
  });
  expect(await a.show(byHand.id)).toMatchObject({ title: 'Two by hand', priority: 3 });
});

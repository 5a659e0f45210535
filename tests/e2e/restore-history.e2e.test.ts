import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import type { Task } from '#contract/task.ts';
import { decodeRecord, encodeRecord } from '#domain/record-codec.ts';
import { emptyRecord } from '../support/old-deletion.ts';
import { forgeClones, titlesAt, titlesOf, type Clone } from '../support/git-clones.ts';
import { inSoak, shareOf } from '../support/share-of.ts';

const FILE = '.forge/tasks.jsonl';
const FOREIGN = {
  id: 'fg-old1',
  title: 'Long ago',
  status: 'open',
  created_by: 'Ada',
  created_at: '2026-02-10T09:00:00.000Z',
};

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

  it.each(
    shareOf(
      [
        ['alive', false],
        ['deleted', true],
      ],
      2,
    ),
  )('a task that was %s when its line left the file, and of which no store knows', async (_, isDeleted) => {
    await using world = await forgeClones(['a']);
    const { a } = world.clone;
    const { id } = await a.create('Gone', '--description', 'All of it');
    await a.create('Stays');
    await a.commitTasks();
    if (isDeleted) await a.json('task', 'delete', id);
    await a.commitTasks();
    for (const file of ['.forge/tasks.jsonl', '.forge/history.jsonl'])
      a.write(file, a.read(file).replaceAll(new RegExp(`^.*"${id}".*\n`, 'gm'), ''));
    a.git('commit', '--quiet', '--all', '--no-verify', '-m', 'without it');
    rmSync(join(a.path, '.git/forge'), { recursive: true });
    expect(await titlesOf(a)).toEqual(['Stays']);
    // Without the prefix too, as every command takes it.
    const restored = await a.run('task', 'restore', id.slice(id.indexOf('-') + 1));
    expect(restored.stdout).toBe(`Restored task ${id}: Gone\n`);
    expect(await a.show(id)).toMatchObject({ title: 'Gone', description: 'All of it', status: 'open' });
    await a.commitTasks();
    expect(titlesAt(a)).toEqual(['Gone', 'Stays']);
    expect((await a.fails('task', 'restore', 'zzzz')).error.code).toBe('not_found');
  });

  inSoak(() => {
    it('in branch mode, and says where nothing knows it', async () => {
      await using world = await forgeClones(['a'], { init: ['init', '--branch', 'forge-data'] });
      const { a } = world.clone;
      const { id } = await a.create('Gone');
      await a.json('sync');
      await a.json('task', 'delete', id);
      const { id: never } = await a.create('Never committed');
      await a.json('task', 'delete', never);
      // As earlier versions deleted: nothing is left of what it held.
      const emptied = encodeRecord(emptyRecord(decodeRecord(FOREIGN), Date.now()));
      a.write('emptied.jsonl', `${emptied}\n`);
      await a.json('import', 'emptied.jsonl');
      await a.json('sync');
      const late = await world.addClone('late');
      expect(await late.run('task', 'restore', id)).toMatchObject({ stdout: `Restored task ${id}: Gone\n` });
      expect(await late.run('task', 'restore', never)).toMatchObject({
        stdout: `Restored task ${never}: Never committed\n`,
      });
      const { error } = await late.fails('task', 'restore', FOREIGN.id);
      expect(error).toMatchObject({
        code: 'not_found',
        message: `What ${FOREIGN.id} held is neither in this store nor in git's history here`,
      });
      expect(await a.run('task', 'restore', never)).toMatchObject({ exit: 0 });
    });
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

it.each(
  shareOf(
    [
      { mode: 'standard', init: ['init'], exchange: byPull },
      { mode: 'branch', init: ['init', '--branch', 'forge-data'], exchange: bySync },
    ],
    2,
  ),
)(
  'a deletion that is taken back loses nothing that another clone wrote meanwhile, in $mode mode',
  async ({ init, exchange }) => {
    await using world = await forgeClones(['a', 'b'], { init });
    const { a, b } = world.clone;
    const { id } = await a.create('Shared', '--label', 'base');
    const { id: other } = await a.create('Other');
    await exchange([a, b]);
    const texts = ['--title', 'By b', '--description', 'All of it', '--priority', '0'];
    await b.json('task', 'update', id, ...texts, '--label-add', 'from-b', '--meta-set', 'kb=1');
    await b.json('dep', 'add', id, other);
    await b.json('task', 'comment', id, 'Said');
    const { updated_at } = await b.show(id);
    while (Date.now() <= Date.parse(updated_at)) await sleep(1);
    await a.json('task', 'delete', id);
    await a.json('task', 'restore', id);
    await exchange([a, b]);
    for (const clone of [a, b]) {
      expect(await clone.show(id)).toMatchObject({
        title: 'By b',
        description: 'All of it',
        priority: 0,
        labels: ['base', 'from-b'],
        metadata: { kb: 1 },
        dependencies: [expect.objectContaining({ id: other })],
        comments: [expect.objectContaining({ body: 'Said' })],
      });
      expect(await clone.json('conflicts')).toEqual([]);
    }
    // Also where the other clone heard of the deletion before it was taken back.
    await b.json('task', 'update', id, '--title', 'By b again', '--label-add', 'late');
    await a.json('task', 'delete', id);
    await exchange([a, b]);
    await a.json('task', 'restore', id);
    await exchange([a, b]);
    for (const clone of [a, b])
      expect(await clone.show(id)).toMatchObject({ title: 'By b again', labels: ['base', 'from-b', 'late'] });
  },
);

/** There and back, so that each has what the others wrote. */
async function byPull(clones: readonly Clone[]): Promise<void> {
  for (const clone of [...clones, ...clones]) {
    await clone.run('commit');
    clone.git('pull', '--quiet', '--no-rebase', '--no-edit', 'origin', 'main');
    clone.git('push', '--quiet', 'origin', 'main');
  }
}

async function bySync(clones: readonly Clone[]): Promise<void> {
  for (const clone of [...clones, ...clones]) await clone.json('sync');
}

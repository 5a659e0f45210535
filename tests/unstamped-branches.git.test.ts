import { describe, expect, it } from 'vitest';
import type { JsonObject } from '#kernel/json.ts';
import { readJson } from '#kernel/read-json.ts';
import { forgeClones, type Clone, type Clones } from './support/git-clones.ts';
import { inSoak, shareOf } from './support/share-of.ts';

const FILE = '.forge/tasks.jsonl';

type EditArguments = [id: string, change: JsonObject, options?: { stamps?: boolean }];

/** Writes the line of one task anew, with its stamps or without. */
function edit(clone: Clone, ...[id, change, { stamps = true } = {}]: EditArguments): void {
  const lines = clone.read(FILE).split('\n');
  const written = lines.map((text) => {
    if (!text.includes(`"id":"${id}"`)) return text;
    const { _v = {}, ...line } = readJson(text) as JsonObject;
    return JSON.stringify({ ...line, ...change, ...(stamps && { _v }) });
  });
  clone.write(FILE, written.join('\n'));
}

function commit(clone: Clone, ...more: string[]): void {
  clone.git('commit', '--quiet', '-am', 'tasks', ...more);
}

const now = (): string => new Date().toISOString();

/** A title on another branch, which a script that leaves out the stamps has never seen. */
describe.each(
  shareOf(
    [
      { by: 'hand', isTimed: false },
      { by: 'hand', isTimed: true },
      { by: 'command', isTimed: false },
      { by: 'command', isTimed: true },
    ],
    4,
  ),
)('a title by $by on a branch, and a script on another (with a new time: $isTimed)', ({ by, isTimed }) => {
  it('stands, with what the script wrote, before and after the branches are merged', async () => {
    await using world = await forgeClones(['a']);
    const { a } = world.clone;
    const { id } = await a.create('first');
    await a.commitTasks();
    a.git('checkout', '--quiet', '-b', 'other');
    if (by === 'hand') {
      edit(a, id, { title: 'second' });
      commit(a);
    } else {
      await a.json('task', 'update', id, '--title', 'second');
      await a.commitTasks();
    }
    a.git('checkout', '--quiet', 'main');
    await a.run('ready');
    edit(a, id, { labels: ['x'], ...(isTimed && { updated_at: now() }) }, { stamps: false });
    commit(a);
    expect(await a.show(id)).toMatchObject({ title: 'second', labels: ['x'] });
    a.git('merge', '--quiet', '--no-edit', 'other');
    expect(await a.show(id)).toMatchObject({ title: 'second', labels: ['x'] });
    expect(await a.json('conflicts')).toEqual([]);
  });
});

it('a script over a command that no file has says nothing of a title that another clone edited', async () => {
  await using world = await forgeClones(['a', 'b']);
  const { a, b } = world.clone;
  const { id } = await a.create('first');
  await exchange(a, b);
  edit(a, id, { title: 'second' });
  await a.commitTasks();
  await b.json('task', 'update', id, '--label-add', 'x');
  edit(b, id, { labels: ['y'], updated_at: now() }, { stamps: false });
  commit(b, '--no-verify');
  await b.run('ready');
  b.git('push', '--quiet');
  await a.run('sync');
  await exchange(a, b, a, b);
  for (const clone of [a, b])
    expect(await clone.show(id)).toMatchObject({ title: 'second', labels: ['x', 'y'] });
});

it('a key of one’s own stays where a script wrote the line that had never seen it', async () => {
  await using world = await forgeClones(['a', 'b']);
  const { a, b } = world.clone;
  const { id } = await a.create('first');
  await exchange(a, b);
  edit(a, id, { zebra: 'mine' });
  commit(a, '--no-verify');
  b.git('checkout', '--quiet', '-b', 'feature');
  edit(b, id, { description: 'long', updated_at: now() }, { stamps: false });
  commit(b);
  b.git('push', '--quiet', '-u', 'origin', 'feature');
  await a.run('sync');
  await a.commitTasks();
  a.git('push', '--quiet');
  b.git('checkout', '--quiet', 'main');
  b.git('merge', '--quiet', '--no-edit', 'feature');
  await exchange(b, a, b, a);
  for (const clone of [a, b]) {
    expect(clone.read(FILE)).toContain('"zebra":"mine"');
    expect(await clone.show(id)).toMatchObject({ description: 'long' });
  }
});

it('what a script wrote and wrote back before a commit is back', async () => {
  await using world = await forgeClones(['a']);
  const { a } = world.clone;
  const { id } = await a.create('first');
  await a.commitTasks();
  for (const title of ['second', 'first', 'third', 'second']) {
    edit(a, id, { title }, { stamps: false });
    await a.run('ready');
    expect((await a.show(id)).title).toBe(title);
  }
  expect(await a.json('conflicts')).toEqual([]);
});

it('what a pull has brought is not taken in once more by a sync', async () => {
  await using world = await forgeClones(['a']);
  const { a } = world.clone;
  const { id } = await a.create('first');
  const web = await addWeb(world, a);
  publish(web, id, { title: 'second' }, { stamps: false });
  a.git('pull', '--quiet');
  await a.json('task', 'update', id, '--title', 'third');
  await a.run('sync');
  expect((await a.show(id)).title).toBe('third');
  expect(await a.json('conflicts')).toEqual([]);
});

inSoak(() => {
  it('a script over what Forge wrote anew stands, where the other side began before that', async () => {
    await using world = await forgeClones(['a']);
    const { a } = world.clone;
    const { id } = await a.create('first');
    const web = await addWeb(world, a);
    publish(web, id, { description: 'by hand' });
    a.git('pull', '--quiet', '--rebase');
    await a.commitTasks();
    publish(web, id, { title: 'second' }, { stamps: false });
    edit(a, id, { description: 'by a script' }, { stamps: false });
    commit(a, '--no-verify');
    a.git('pull', '--quiet', '--no-rebase', '--no-edit');
    expect(await a.show(id)).toMatchObject({ title: 'second', description: 'by a script' });
    expect(await a.json('conflicts')).toEqual([]);
  });
});

it.for(
  shareOf(
    [
      { how: ['pull', '--no-rebase', '--no-edit'], isCommitted: false },
      { how: ['pull', '--no-rebase', '--no-edit'], isCommitted: true },
      { how: ['pull', '--rebase'], isCommitted: true },
      { how: ['fetch'], isCommitted: true },
    ],
    2,
  ),
)(
  'a command over an edit by hand stands, also where a script wrote upon that edit: $how, $isCommitted',
  async ({ how, isCommitted }) => {
    await using world = await forgeClones(['a']);
    const { a } = world.clone;
    const { id } = await a.create('first');
    await exchange(a);
    const web = await world.addClone('web', { init: false });
    edit(web, id, { description: 'by hand' });
    commit(web);
    web.git('push', '--quiet');
    a.git('pull', '--quiet', '--rebase');
    await a.json('task', 'update', id, '--description', 'by command');
    if (isCommitted) await a.commitTasks();
    edit(web, id, { title: 'second' }, { stamps: false });
    commit(web);
    web.git('push', '--quiet');
    a.git(...how);
    await a.run('sync');
    expect(await a.show(id)).toMatchObject({ title: 'second', description: 'by command' });
    expect(await a.json('conflicts')).toEqual([]);
  },
);

/** A clone without Forge, as the editor of a website is one, that has all that `first` has. */
async function addWeb(world: Clones<'a'>, first: Clone): Promise<Clone> {
  await exchange(first);
  return world.addClone('web', { init: false });
}

function publish(web: Clone, ...edited: EditArguments): void {
  edit(web, ...edited);
  commit(web);
  web.git('push', '--quiet');
}

/** Each in its turn commits what it has, and takes and gives. */
async function exchange(...turns: Clone[]): Promise<void> {
  for (const clone of turns) {
    await clone.commitTasks();
    clone.git('pull', '--quiet', '--no-rebase', '--no-edit', 'origin', 'main');
    clone.git('push', '--quiet', 'origin', 'main');
  }
}

/** After the edit was replaced by a command, its branch is met again: as the parent of a merge that was made elsewhere. */
describe.each(shareOf([{ how: '--ff' }, { how: '--no-ff' }], 2))(
  'a branch that holds a merge, merged with $how',
  ({ how }) => {
    it.each(
      shareOf(
        [
          {
            what: 'label',
            change: { labels: ['x'] },
            command: ['--label-remove', 'x'],
            stands: { labels: [] },
          },
          {
            what: 'title',
            change: { title: 'second' },
            command: ['--title', 'third'],
            stands: { title: 'third' },
          },
        ],
        2,
      ),
    )('makes a $what that a script wrote no second time', async ({ change, command, stands }) => {
      await using world = await forgeClones(['a', 'b']);
      const { a, b } = world.clone;
      const { id } = await a.create('first');
      const other = await a.create('other');
      await exchange(a, b);
      edit(a, id, change, { stamps: false });
      commit(a, '--allow-empty');
      edit(b, other.id, { priority: 1 });
      commit(b, '--no-verify');
      b.git('push', '--quiet');
      a.git('checkout', '--quiet', '-b', 'feature');
      await a.json('task', 'update', id, ...command);
      a.git('pull', '--quiet', '--no-rebase', '--no-edit', 'origin', 'main');
      a.git('checkout', '--quiet', 'main');
      expect(await a.show(id)).toMatchObject(stands);
      a.git('merge', '--quiet', '--no-edit', how, 'feature');
      expect(await a.show(id)).toMatchObject(stands);
      await exchange(a, b, a, b);
      for (const clone of [a, b]) expect(await clone.show(id)).toMatchObject(stands);
    });
  },
);

/** One clone takes the edit in by `sync`, and merges the commit that has it only then. */
it.each(shareOf([{ by: 'their' }, { by: 'our' }], 2))(
  '$by command over what a script wrote stands after the merge of the commit that has it',
  async ({ by }) => {
    await using world = await forgeClones(['a', 'b']);
    const { a, b } = world.clone;
    const { id } = await a.create('first');
    await exchange(a, b);
    edit(b, id, { title: 'script' }, { stamps: false });
    commit(b, '--allow-empty');
    if (by === 'their') await b.json('task', 'update', id, '--title', 'command');
    b.git('push', '--quiet');
    await a.run('sync');
    if (by === 'our') await a.json('task', 'update', id, '--title', 'command');
    await exchange(a, b, a, b);
    for (const clone of [a, b]) {
      expect(await clone.show(id)).toMatchObject({ title: 'command' });
      expect(await clone.json('conflicts')).toEqual([]);
    }
  },
);

inSoak(() => {
  it('a key of others that a sync brought stays where a script wrote a line that does not have it yet', async () => {
    await using world = await forgeClones(['a', 'b']);
    const { a, b } = world.clone;
    const { id } = await a.create('first');
    await exchange(a, b);
    edit(b, id, { zebra: 'theirs' });
    commit(b, '--no-verify');
    b.git('push', '--quiet');
    await a.run('sync');
    edit(a, id, { priority: 0 }, { stamps: false });
    expect(await a.show(id)).toMatchObject({ priority: 0 });
    await exchange(a, b, a, b);
    for (const clone of [a, b]) {
      expect(clone.read(FILE)).toContain('"zebra":"theirs"');
      expect(await clone.show(id)).toMatchObject({ priority: 0 });
    }
  });
});

import { describe, expect, it } from 'vitest';
import type { JsonObject } from '#kernel/json.ts';
import { readJson } from '#kernel/read-json.ts';
import { forgeClones, type Clone } from './support/git-clones.ts';
import { shareOf } from './support/share-of.ts';

const FILE = '.forge/tasks.jsonl';
/** Later than all that happens in a test. */
const LATER = new Date(Date.now() + 3_600_000).toISOString();
const EARLIER = '2026-01-01T00:00:00Z';

/** What a script does that knows nothing of stamps: reads every line, leaves `_v` out, writes the file anew. */
function rewrite(clone: Clone, id: string, change: (line: JsonObject) => JsonObject): void {
  const lines = clone.read(FILE).split('\n').slice(0, -1);
  const written = lines.map((text) => {
    const { _v, ...line } = readJson(text) as JsonObject;
    return line['id'] === id ? JSON.stringify(change(line)) : text;
  });
  clone.write(FILE, `${written.join('\n')}\n`);
}

describe.each([
  { mode: 'standard', init: ['init'] },
  { mode: 'branch', init: ['init', '--branch', 'forge-data'] },
])('lines that lost their stamps, in $mode mode', ({ init }) => {
  it('take nothing back that was written since the file was', async () => {
    await using world = await forgeClones(['a'], { init });
    const { a } = world.clone;
    const { id } = await a.create('old', '--label', 'base');
    await a.run('export');
    await a.json('task', 'update', id, '--title', 'new', '--description', 'long', '--meta-set', 'k=1');
    await a.json('claim', id, '--actor', 'bob');
    const { labels: _base, ...before } = await a.show(id);
    rewrite(a, id, (line) => ({ ...line, labels: ['base', 'x'], updated_at: LATER }));
    expect(await a.show(id)).toMatchObject({
      title: before.title,
      description: 'long',
      status: 'in_progress',
      assignee: 'bob',
      metadata: { k: 1 },
      labels: ['base', 'x'],
    });
    expect(await a.json('conflicts')).toEqual([]);
    // The same once more, in the file that was read meanwhile and is not the store's own.
    await a.json('task', 'update', id, '--title', 'newer');
    rewrite(a, id, (line) => ({
      ...line,
      labels: ['base', 'x', 'y'],
      updated_at: `${LATER.slice(0, -5)}.999Z`,
    }));
    expect(await a.show(id)).toMatchObject({ title: 'newer', assignee: 'bob', labels: ['base', 'x', 'y'] });
  });

  it.for(
    shareOf(
      [
        ['a value', { title: 'by hand' }],
        ['an empty text', { description: '' }],
        ['labels', { labels: ['other'] }],
        ['metadata', { metadata: {} }],
        ['a status', { status: 'closed' }],
        ['an owner', { status: 'in_progress', assignee: 'cleo' }],
      ] as const,
      6,
    ),
  )('count where they are edited, whatever their time says: %s', async ([, edit]) => {
    await using world = await forgeClones(['a'], { init });
    const { a } = world.clone;
    const { id } = await a.create('one', '--description', 'text', '--label', 'x');
    await a.json('task', 'update', id, '--meta-set', 'k=1', '--title', 'two');
    for (const time of [{}, { updated_at: EARLIER }, { updated_at: undefined }]) {
      await a.json('task', 'update', id, '--title', 'again', '--description', 'more', '--status', 'open');
      await a.json('task', 'update', id, '--label-add', 'x', '--meta-set', 'k=1');
      await a.run('export');
      rewrite(a, id, (line) => ({ ...line, ...edit, ...time }) as JsonObject);
      expect(await a.show(id)).toMatchObject(edit);
      expect(await a.json('conflicts')).toEqual([]);
    }
  });

  it('are told of where somebody else changed the same value', async () => {
    await using world = await forgeClones(['a'], { init });
    const { a } = world.clone;
    const { id } = await a.create('one');
    await a.run('export');
    await a.json('task', 'update', id, '--title', 'by command');
    rewrite(a, id, (line) => ({ ...line, title: 'by hand', updated_at: LATER }));
    expect((await a.run('ready')).stderr).toContain('1 value lost');
    expect((await a.show(id)).title).toBe('by hand');
    expect(await a.json('conflicts')).toMatchObject([{ id, name: 'title', lost: 'by command' }]);
  });

  it('may lack what the task is known by', async () => {
    await using world = await forgeClones(['a'], { init });
    const { a } = world.clone;
    const { id } = await a.create('one', '--description', 'text', '--label', 'x');
    await a.run('export');
    a.write(
      FILE,
      `${JSON.stringify({ id, title: 'two' })}\n{"id":"fg-new1","title":"new","status":"open"}\n`,
    );
    const { stderr } = await a.run('ready');
    expect(stderr).toContain('line 2: Not a task: it has no "created_at"; write when the task was made');
    expect(await a.show(id)).toMatchObject({ title: 'two', description: 'text', labels: ['x'] });
  });
});

it('lines of a file that was never read go by their time, and what loses is kept', async () => {
  await using world = await forgeClones(['a']);
  const { a } = world.clone;
  const { id } = await a.create('old');
  await a.run('export');
  const old = readJson(a.read(FILE).trimEnd()) as JsonObject;
  await a.json('task', 'update', id, '--title', 'new', '--description', 'long');
  await a.json('claim', id, '--actor', 'bob');
  const { _v, ...line } = old;
  a.write('other.jsonl', `${JSON.stringify({ ...line, title: 'theirs', updated_at: LATER })}\n`);
  await a.json('import', 'other.jsonl');
  expect(await a.show(id)).toMatchObject({ title: 'theirs', status: 'in_progress', assignee: 'bob' });
  const lost = await a.json<{ name: string; lost: unknown }[]>('conflicts');
  expect(lost.map(({ name, lost: value }) => [name, value])).toEqual([
    ['description', 'long'],
    ['title', 'new'],
  ]);
});

it('an older line without stamps that git brings back is not an edit', async () => {
  await using world = await forgeClones(['a']);
  const { a } = world.clone;
  const { id } = await a.create('first');
  await a.run('export');
  rewrite(a, id, (line) => ({ ...line, title: 'second', updated_at: new Date().toISOString() }));
  a.git('add', '.');
  a.git('commit', '--quiet', '--no-verify', '-m', 'second');
  a.git('branch', 'old');
  await a.run('ready');
  await a.json('task', 'update', id, '--title', 'third');
  await a.commitTasks();
  a.git('switch', '--quiet', 'old');
  expect((await a.show(id)).title).toBe('third');
});

it('what belongs to the local replica leaves it by no way', async () => {
  await using world = await forgeClones(['a']);
  const { a } = world.clone;
  const { id } = await a.create('one');
  await a.json('claim', id, '--actor', 'bob');
  await a.commitTasks();
  a.write('copy.jsonl', a.read('.git/forge/tasks.jsonl'));
  const { stdout } = await a.run('import', 'copy.jsonl');
  expect(stdout).toContain('0 new, 0 changed and 0 deleted');
  await a.run('export');
  expect(a.read(FILE)).not.toContain('_local');
  // As an earlier version may have committed it: cleaned by the next export.
  a.write(FILE, a.read(FILE).replace(',"_v":{', ',"_local":[1,0],"_v":{'));
  await a.json('task', 'update', id, '--title', 'two');
  await a.run('export');
  expect(a.read(FILE)).not.toContain('_local');
  expect(a.read(FILE)).toContain('"title":"two"');
});

it.for(
  shareOf(
    [
      ['before it is committed', ['status']],
      ['when it is committed', ['commit', '--quiet', '-am', 'by a script']],
    ] as const,
    2,
  ),
)(
  'an edit in a clone that never read the file says nothing of what it left alone, read %s',
  async ([, look]) => {
    await using world = await forgeClones(['a']);
    const { a } = world.clone;
    const { id } = await a.create('one');
    await a.commitTasks();
    a.git('push', '--quiet');
    const b = await world.addClone('b', { init: false });
    expect((await b.run('init')).exit).toBe(0);
    await a.json('task', 'update', id, '--label-add', 'x', '--description', 'long', '--priority', '0');
    await a.commitTasks();
    rewrite(b, id, (line) => ({ ...line, title: 'two', updated_at: new Date().toISOString() }));
    b.git(...look);
    await b.run('ready');
    b.tryGit(['commit', '--quiet', '-am', 'by a script']);
    b.git('push', '--quiet');
    a.git('pull', '--quiet', '--no-edit');
    await a.commitTasks();
    a.git('push', '--quiet');
    b.git('pull', '--quiet', '--no-edit');
    const expected = { title: 'two', description: 'long', priority: 0, labels: ['x'] };
    expect(await a.show(id)).toMatchObject(expected);
    expect(await b.show(id)).toMatchObject(expected);
    expect([await a.json('conflicts'), await b.json('conflicts')]).toEqual([[], []]);
  },
);

import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Task } from '#contract/task.ts';
import { forgeClones, settle, type Clone } from './support/git-clones.ts';
import { inSoak, shareOf } from './support/share-of.ts';

const FILE = '.forge/tasks.jsonl';

/** What stands in the line, what a person makes of it, and what of that. */
const EDITS: readonly (readonly [string, string, string])[] = [
  ['"title":"one"', '"title":"two"', '"title":"three"'],
  ['"priority":2', '"priority":0', '"priority":4'],
  ['"labels":[]', '"labels":["x"]', '"labels":[]'],
  ['"status":"open"', '"status":"closed"', '"status":"open"'],
];
const ONCE = { title: 'two', priority: 0, labels: ['x'], status: 'closed' };
const TWICE = { title: 'three', priority: 4, labels: [], status: 'open' };

it('[D8] a file that was exported in branch mode is read when a person edits it', async () => {
  await using world = await forgeClones(['a'], { init: ['init', '--branch', 'forge-data'] });
  const { a } = world.clone;
  const task = await a.create('one');
  await a.run('export');
  for (const [from, to] of EDITS) edit(a, from, to);
  expect(await show(a, task.id)).toMatchObject(ONCE);
  edit(a, '"labels":["x"]', '"labels":[]');
  expect((await show(a, task.id)).labels).toEqual([]);
  const line = { id: 'fg-new1', title: 'new', status: 'open', created_by: 'ann' };
  const created_at = new Date().toISOString();
  a.write(FILE, `${a.read(FILE)}${JSON.stringify({ ...line, created_at })}\n`);
  expect((await show(a, 'fg-new1')).title).toBe('new');
});

describe('[D1] edits of the task file by hand', () => {
  it('(a, d) count, the second one too, and are never reverted', async () => {
    await using world = await forgeClones(['a']);
    const { a } = world.clone;
    const task = await shared(a, 'one');
    for (const [from, to] of EDITS) edit(a, from, to);
    expect(await show(a, task.id)).toMatchObject(ONCE);
    for (const [, from, to] of EDITS) edit(a, from, to);
    expect(await show(a, task.id)).toMatchObject(TWICE);
    await a.run('commit');
    for (const [, , text] of EDITS) expect(a.git('show', `HEAD:${FILE}`)).toContain(text);
  });

  it.for(shareOf(EDITS, 2))('(d) count when a person changes them back: %s', async ([from, to]) => {
    await using world = await forgeClones(['a']);
    const { a } = world.clone;
    const task = await shared(a, 'one');
    const before = await show(a, task.id);
    edit(a, from, to);
    await show(a, task.id);
    edit(a, to, from);
    const { title, priority, labels, status } = before;
    expect(await show(a, task.id)).toMatchObject({ title, priority, labels, status });
  });

  it('(d) count when a person changes them back and looks with git before Forge does', async () => {
    await using world = await forgeClones(['a']);
    const { a } = world.clone;
    const task = await shared(a, 'one');
    edit(a, '"title":"one"', '"title":"two"');
    expect((await show(a, task.id)).title).toBe('two');
    edit(a, '"title":"two"', '"title":"one"');
    expect(a.git('status', '--porcelain')).toBe('');
    expect((await show(a, task.id)).title).toBe('one');
  });

  it('(b) count in commits that others pull', async () => {
    await using world = await forgeClones(['a', 'b']);
    const { a, b } = world.clone;
    const task = await shared(a, 'one');
    await settle(world.all);
    const publish = (): void => {
      a.git('commit', '--quiet', '--no-verify', '-am', 'by hand');
      a.git('push', '--quiet');
      b.git('pull', '--quiet');
    };
    const line = a.read(FILE);
    for (const [from, to] of EDITS) edit(a, from, to);
    publish();
    expect(await show(b, task.id)).toMatchObject(ONCE);
    for (const [, from, to] of EDITS) edit(a, from, to);
    publish();
    expect(await show(b, task.id)).toMatchObject(TWICE);
    // All as it was, to the byte.
    a.write(FILE, line);
    publish();
    const first = { title: 'one', priority: 2, labels: [], status: 'open' };
    expect(await show(b, task.id)).toMatchObject(first);
    await settle(world.all);
    for (const clone of [a, b]) expect(await show(clone, task.id)).toMatchObject(first);
    expect(a.read(FILE)).toBe(b.read(FILE));
  });

  inSoak(() => {
    it('(b) count where `forge sync` joins them, and where they are changed back', async () => {
      await using world = await forgeClones(['a', 'b']);
      const { a, b } = world.clone;
      const task = await shared(a, 'one');
      a.git('push', '--quiet');
      b.git('pull', '--quiet');
      for (const [from, to] of [
        ['one', 'two'],
        ['two', 'one'],
      ] as const) {
        edit(b, `"title":"${from}"`, `"title":"${to}"`);
        b.git('commit', '--quiet', '--no-verify', '-am', 'by hand');
        b.git('push', '--quiet');
        await a.json('sync');
        expect((await show(a, task.id)).title).toBe(to);
      }
    });
  });

  it('(c) count after the database was lost, and what they stand against is kept', async () => {
    await using world = await forgeClones(['a']);
    const { a } = world.clone;
    const task = await shared(a, 'one');
    await a.json('task', 'update', task.id, '--title', 'two');
    for (const end of ['', '-wal', '-shm'])
      rmSync(join(a.path, `.git/forge/forge.db${end}`), { force: true });
    edit(a, '"title":"one"', '"title":"hand"');
    await a.run('ready'); // tells what it found
    expect((await show(a, task.id)).title).toBe('hand');
    expect(await a.json('conflicts')).toMatchObject([{ name: 'title', lost: 'two' }]);
  });

  it('(c) once taken in do not come back over a later command, also after the database was lost', async () => {
    await using world = await forgeClones(['a']);
    const { a } = world.clone;
    const task = await shared(a, 'one');
    const other = await shared(a, 'other');
    edit(a, '"title":"one"', '"title":"hand"');
    expect((await show(a, task.id)).title).toBe('hand');
    await a.json('task', 'update', task.id, '--title', 'command');
    for (const end of ['', '-wal', '-shm'])
      rmSync(join(a.path, `.git/forge/forge.db${end}`), { force: true });
    edit(a, '"title":"other"', '"title":"other hand"');
    await a.run('ready');
    expect((await show(a, task.id)).title).toBe('command');
    expect((await show(a, other.id)).title).toBe('other hand');
  });

  it('(e) count under an old id, after two tasks were told apart', async () => {
    await using world = await forgeClones(['a']);
    const { a } = world.clone;
    const task = await shared(a, 'one');
    const own = a.read(FILE);
    const { _v, ...line } = JSON.parse(own) as Record<string, unknown>;
    const twin = `${JSON.stringify({ ...line, created_by: 'twin', title: 'twin' })}\n`;
    a.write(FILE, own + twin);
    await a.run('ready');
    const tasks = await a.json<Task[]>('task', 'list');
    const named = tasks.find(({ title }) => title === 'one');
    expect(named?.id).not.toBe(task.id);
    for (const title of ['two', 'three']) {
      a.write(FILE, own.replace('"title":"one"', `"title":"${title}"`));
      expect((await show(a, named?.id ?? '')).title).toBe(title);
    }
  });

  it('(f) stand against a change that was made elsewhere before', async () => {
    await using world = await forgeClones(['a', 'b']);
    const { a, b } = world.clone;
    const task = await shared(a, 'one');
    await settle(world.all);
    await b.json('task', 'update', task.id, '--title', 'elsewhere');
    await b.commitTasks();
    b.git('push', '--quiet');
    edit(a, '"title":"one"', '"title":"hand"');
    expect((await show(a, task.id)).title).toBe('hand');
    await a.commitTasks();
    await settle(world.all);
    for (const clone of [a, b]) expect((await show(clone, task.id)).title).toBe('hand');
    expect(await a.json('conflicts')).toMatchObject([{ name: 'title', lost: 'elsewhere' }]);
  });

  it('that git takes out of the working tree again stay taken in', async () => {
    await using world = await forgeClones(['a']);
    const { a } = world.clone;
    const task = await shared(a, 'one');
    for (const [title, back] of [
      ['checked out', ['checkout', '--quiet', '--', FILE]],
      ['stashed', ['stash', '--quiet']],
    ] as const) {
      edit(a, /"title":"[^"]*"/, `"title":"${title}"`);
      await a.run('ready'); // tells that the file did not show what was taken in before
      expect((await show(a, task.id)).title).toBe(title);
      a.git(...back);
      expect((await show(a, task.id)).title).toBe(title);
    }
  });

  inSoak(() => {
    it('that git takes away again stay taken in, also where a commit took an older edit of the line away', async () => {
      await using world = await forgeClones(['a']);
      const { a } = world.clone;
      const task = await shared(a, 'one');
      // Git's own log of where the branch was counts in seconds, and takes this for the time.
      const GIT_COMMITTER_DATE = new Date(Date.now() - 60_000).toISOString();
      for (const title of ['two', 'three']) {
        edit(a, /"title":"[^"]*"/, `"title":"${title}"`);
        const commit = ['commit', '--quiet', '--no-verify', '-am', title];
        expect(a.tryGit(commit, { env: { GIT_COMMITTER_DATE } }).exit).toBe(0);
      }
      expect((await show(a, task.id)).title).toBe('three');
      for (const title of ['four', 'one', 'two']) {
        edit(a, '"title":"three"', `"title":"${title}"`);
        await a.run('ready'); // tells that the file did not show what was taken in before
        expect((await show(a, task.id)).title).toBe(title);
        a.git('stash', '--quiet');
        expect((await show(a, task.id)).title).toBe(title);
      }
    });
  });

  it('stay where git leaves conflict markers around them and an older line', async () => {
    await using world = await forgeClones(['a', 'b']);
    const { a, b } = world.clone;
    const tasks = [await a.create('one'), await a.create('two')].sort((x, y) => (x.id < y.id ? -1 : 1));
    await a.commitTasks();
    await settle(world.all);
    await b.json('task', 'update', tasks[0]?.id ?? '', '--title', 'elsewhere');
    await b.commitTasks();
    b.git('push', '--quiet');
    const [, second = ''] = a.read(FILE).split('\n');
    a.write(FILE, a.read(FILE).replace(second, second.replace('"labels":[]', '"labels":["x"]')));
    expect((await show(a, tasks[1]?.id ?? '')).labels).toEqual(['x']);
    await a.commitTasks();
    const asText = ['-c', 'merge.forge.driver=git merge-file -q --marker-size=%L %A %O %B'];
    expect(a.tryGit([...asText, 'pull', '--quiet', '--no-rebase', '--no-edit']).exit).toBe(1);
    expect(a.read(FILE)).toContain('<<<<<<<');
    await a.run('ready'); // tells of both sides
    expect((await show(a, tasks[1]?.id ?? '')).labels).toEqual(['x']);
    expect((await show(a, tasks[0]?.id ?? '')).title).toBe('elsewhere');
  });

  it('that a stash brings back count as made again, and what they beat is kept', async () => {
    await using world = await forgeClones(['a']);
    const { a } = world.clone;
    const task = await shared(a, 'one');
    edit(a, '"title":"one"', '"title":"hand"');
    await a.run('ready');
    a.git('stash', '--quiet');
    await a.json('task', 'update', task.id, '--title', 'command');
    a.git('stash', 'pop', '--quiet');
    await a.run('ready'); // tells of the value that lost
    expect((await show(a, task.id)).title).toBe('hand');
    expect(await a.json('conflicts')).toMatchObject([{ name: 'title', lost: 'command' }]);
  });
});

async function shared(clone: Clone, title: string): Promise<Task> {
  const task = await clone.create(title);
  await clone.commitTasks();
  return task;
}

function show(clone: Clone, id: string): Promise<Task> {
  return clone.json<Task>('task', 'show', id);
}

function edit(clone: Clone, from: string | RegExp, to: string): void {
  const text = clone.read(FILE);
  const edited = text.replace(from, to);
  expect(edited).not.toBe(text);
  clone.write(FILE, edited);
}

import { describe, expect, it } from 'vitest';
import type { JsonObject } from '#kernel/json.ts';
import { readJson } from '#kernel/read-json.ts';
import { forgeClones, type Clone } from './support/git-clones.ts';
import { shareOf } from './support/share-of.ts';

const FILE = '.forge/tasks.jsonl';

/** Of the line of one task, as a person or a script does it. */
function edit(clone: Clone, change: JsonObject, { stamps = true } = {}): void {
  const { _v = {}, ...line } = readJson(clone.read(FILE)) as JsonObject;
  clone.write(FILE, `${JSON.stringify({ ...line, ...change, ...(stamps && { _v }) })}\n`);
}

/** Without hooks: Forge does not look at the file. */
function commit(clone: Clone): void {
  clone.git('commit', '--quiet', '--no-verify', '--all', '--message', 'by hand');
}

interface Case {
  readonly name: string;
  readonly first: JsonObject;
  readonly second: JsonObject;
  /** The edit in the commit, or the one upon it, leaves out the stamps. */
  readonly bare?: 'first' | 'second';
}

const CASES: readonly Case[] = [
  { name: 'a title changed back', first: { title: 'x' }, second: { title: 'T' } },
  { name: 'another title', first: { title: 'x' }, second: { title: 'y' } },
  { name: 'a title, without stamps', first: { title: 'x' }, second: { title: 'y' }, bare: 'second' },
  { name: 'a title over one without stamps', first: { title: 'x' }, second: { title: 'y' }, bare: 'first' },
  { name: 'a label taken out', first: { labels: ['x'] }, second: { labels: [] } },
  { name: 'a task opened again', first: { status: 'closed' }, second: { status: 'open' } },
  { name: 'a key of metadata', first: { metadata: { k: 1 } }, second: { metadata: { k: 2 } } },
  { name: 'one of two values', first: { title: 'x', priority: 0 }, second: { title: 'T', priority: 0 } },
];

describe('an edit by hand in a commit that no hook saw, and another one upon it', () => {
  it.each(shareOf(CASES, 4))('$name: the last one stands', async ({ first, second, bare }) => {
    await using world = await forgeClones(['a', 'b']);
    const { a, b } = world.clone;
    const { id } = await a.create('T');
    await a.commitTasks();
    a.git('push', '--quiet');
    edit(a, first, { stamps: bare !== 'first' });
    commit(a);
    edit(a, second, { stamps: bare !== 'second' });
    await a.run('commit');
    expect(await a.show(id)).toMatchObject(second);
    expect(await a.json('conflicts')).toEqual([]);
    a.git('push', '--quiet');
    await b.run('sync');
    b.git('pull', '--quiet');
    expect(await b.show(id)).toMatchObject(second);
  });

  it('also where other commits came between, and where a pull brought the first one', async () => {
    await using world = await forgeClones(['a', 'b']);
    const { a, b } = world.clone;
    const { id } = await a.create('T');
    await a.commitTasks();
    a.git('push', '--quiet');
    b.git('pull', '--quiet');
    edit(a, { title: 'x' });
    commit(a);
    a.write('code', '1');
    a.git('add', 'code');
    commit(a);
    a.git('push', '--quiet');
    b.git('-c', 'core.hooksPath=/dev/null', 'pull', '--quiet');
    for (const clone of [a, b]) {
      edit(clone, { title: 'y' });
      await clone.run('commit');
      expect(await clone.show(id)).toMatchObject({ title: 'y' });
      expect(await clone.json('conflicts')).toEqual([]);
    }
  });

  it.each(shareOf(['--soft', '--mixed'], 2))(
    'but a line that `git reset %s` brought is no such one',
    async (how) => {
      await using world = await forgeClones(['a']);
      const { a } = world.clone;
      const { id } = await a.create('T');
      await a.commitTasks();
      edit(a, { title: 'x' });
      commit(a);
      a.git('reset', '--quiet', '--hard', 'HEAD~1');
      a.git('reset', '--quiet', how, 'ORIG_HEAD');
      await a.run('commit');
      expect(await a.show(id)).toMatchObject({ title: 'x' });
    },
  );

  it('nor one that a sparse checkout hides', async () => {
    await using world = await forgeClones(['a']);
    const { a } = world.clone;
    const { id } = await a.create('T');
    await a.commitTasks();
    const before = a.read(FILE);
    edit(a, { title: 'x' });
    commit(a);
    a.git('update-index', '--skip-worktree', FILE);
    a.write(FILE, before);
    await a.run('commit');
    expect(await a.show(id)).toMatchObject({ title: 'x' });
  });
});

import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { removeDriver, titlesAt, titlesIn } from '../support/git-clones.ts';
import { importSeed } from '../support/seed-sync.ts';
import { onBoth, type TaskClone } from '../support/two-syncs.ts';

const titles = async (clone: TaskClone, options?: { import?: boolean }): Promise<string[]> =>
  (await clone.look(options)).map(({ title }) => title);

// As in the file of S1 to S8: the seed's own algorithm has to lose what ours keeps.
describe('where the seed loses tasks (S9 to S16)', () => {
  /** What the seed supposes of a merge: two lines with the same id. */
  const keepBoth = (clone: TaskClone): void => {
    const text = clone.read('.forge/tasks.jsonl').replaceAll(/^(<<<<<<<|=======|>>>>>>>).*\n/gm, '');
    clone.write('.forge/tasks.jsonl', text);
    clone.git('add', '.forge/tasks.jsonl');
  };

  it('[data-plane S9] two edits of one line are merged field by field', async () => {
    const { seed, forge } = await onBoth(async (world) => {
      const a = await world.open('a');
      await a.create('shared');
      a.commitFile('a.txt');
      a.git('push', '--quiet');
      const b = await world.open('b');
      await a.change('shared', { title: 'renamed' });
      a.commitFile('a.txt', 'again\n');
      a.git('push', '--quiet');
      await b.change('shared', { priority: 0 });
      b.commitFile('b.txt');
      const { exit } = b.tryGit(['pull']);
      return { exit, shared: await b.look() };
    });
    expect(seed).toMatchObject({ exit: 1, shared: [{ title: 'shared', priority: 0 }] });
    expect(forge).toMatchObject({ exit: 0, shared: [{ title: 'renamed', priority: 0 }] });
  });

  it('[data-plane S10] conflict markers and a torn line: both sides count, the torn line stays', async () => {
    const { seed, forge } = await onBoth(async (world) => {
      const [a, b] = [await world.open('a'), await world.open('b')];
      await a.create('shared');
      a.commitFile('a.txt');
      a.git('push', '--quiet');
      b.git('pull', '--quiet');
      await a.change('shared', { priority: 0 });
      a.commitFile('a.txt', 'again\n');
      a.git('push', '--quiet');
      await b.change('shared', { title: 'renamed' });
      b.commitFile('b.txt');
      removeDriver(b);
      b.tryGit(['pull']);
      const torn = '{"id":"fg-torn","title":"cut off in the mid';
      b.write('.forge/tasks.jsonl', `${b.read('.forge/tasks.jsonl')}${torn}\n`);
      const [shared] = await b.look({ import: true });
      b.git('add', '.');
      b.git('commit', '--quiet', '--no-edit');
      const kept = b.git('show', 'HEAD:.forge/tasks.jsonl').includes(torn);
      return { title: shared?.title, priority: shared?.priority, kept };
    });
    expect(seed).toEqual({ title: 'renamed', priority: 2, kept: false });
    expect(forge).toEqual({ title: 'renamed', priority: 0, kept: true });
  });

  it('[data-plane S11] a stale line below the newer one does not take a close back', async () => {
    const { seed, forge } = await onBoth(async (world) => {
      const a = await world.open('a');
      await a.create('one');
      a.commitFile('a.txt');
      const stale = a.read('.forge/tasks.jsonl');
      await a.close('one');
      a.commitFile('b.txt');
      a.forget();
      rmSync(join(a.path, '.git/forge'), { recursive: true, force: true });
      a.write('.forge/tasks.jsonl', a.read('.forge/tasks.jsonl') + stale);
      if (world.sync === 'seed') importSeed(a.path, 'last line');
      return a.look();
    });
    expect(seed).toMatchObject([{ title: 'one', status: 'open' }]);
    expect(forge).toMatchObject([{ title: 'one', status: 'closed' }]);
  });

  it('[data-plane S12] edits of different fields both stand, whichever was later', async () => {
    const { seed, forge } = await onBoth(async (world) => {
      const a = await world.open('a');
      await a.create('shared');
      a.commitFile('a.txt');
      a.git('push', '--quiet');
      const b = await world.open('b');
      await a.change('shared', { title: 'renamed' });
      a.commitFile('a.txt', 'again\n');
      a.git('push', '--quiet');
      await b.change('shared', { priority: 0 });
      b.commitFile('b.txt');
      removeDriver(b);
      b.tryGit(['pull']);
      keepBoth(b);
      const [shared] = await b.look({ import: true });
      return { title: shared?.title, priority: shared?.priority };
    });
    expect(seed).toEqual({ title: 'shared', priority: 0 });
    expect(forge).toEqual({ title: 'renamed', priority: 0 });
  });

  it('[data-plane S13] of two offline claims the first stands, and the other is told', async () => {
    let told = '';
    const { seed, forge } = await onBoth(async (world) => {
      const a = await world.open('a');
      await a.create('shared');
      a.commitFile('a.txt');
      a.git('push', '--quiet');
      const b = await world.open('b');
      await a.claim('shared', 'first');
      a.commitFile('a.txt', 'again\n');
      a.git('push', '--quiet');
      await b.claim('shared', 'second');
      b.commitFile('b.txt');
      const pulled = b.tryGit(['pull']);
      told = pulled.output;
      if (world.sync === 'seed') keepBoth(b);
      return (await b.look({ import: true })).map(({ assignee }) => assignee);
    });
    expect(seed).toEqual(['second']);
    expect(forge).toEqual(['first']);
    expect(told).toContain('second lost the claim');
  });

  it('[data-plane S14] a deleted task does not come back from another clone', async () => {
    const { seed, forge } = await onBoth(async (world) => {
      const a = await world.open('a');
      await a.create('kept');
      await a.create('deleted');
      a.commitFile('a.txt');
      a.git('push', '--quiet');
      const b = await world.open('b');
      await a.remove('deleted');
      a.commitFile('a.txt', 'again\n');
      a.git('push', '--quiet');
      b.git('pull', '--quiet');
      const pulled = await titles(b, { import: true });
      b.commitFile('b.txt');
      return { pulled, committed: titlesAt(b) };
    });
    expect(seed).toEqual({ pulled: ['deleted', 'kept'], committed: ['deleted', 'kept'] });
    expect(forge).toEqual({ pulled: ['kept'], committed: ['kept'] });
  });

  it('[data-plane S15] merge --squash brings tasks that the next commit keeps', async () => {
    const { seed, forge } = await onBoth(async (world) => {
      const [a, b] = [await world.open('a'), await world.open('b')];
      await a.create('of feat');
      a.commitFile('feat.txt');
      a.git('push', '--quiet', 'origin', 'main:feat');
      b.git('fetch', '--quiet');
      b.git('merge', '--quiet', '--squash', 'origin/feat');
      const staged = titlesIn(b.read('.forge/tasks.jsonl'));
      b.git('commit', '--quiet', '-m', 'squash');
      return { staged, committed: titlesAt(b) };
    });
    expect(seed).toEqual({ staged: ['of feat'], committed: [] });
    expect(forge).toEqual({ staged: ['of feat'], committed: ['of feat'] });
  });

  it('[data-plane S16] an automatic merge keeps the local change that it does not contain', async () => {
    const { seed, forge } = await onBoth(async (world) => {
      const a = await world.open('a');
      await a.create('shared');
      a.commitFile('a.txt');
      a.git('push', '--quiet');
      const b = await world.open('b');
      b.commitFile('b.txt');
      await b.change('shared', { title: 'renamed, not committed' });
      await a.change('shared', { priority: 0 });
      a.commitFile('a.txt', 'again\n');
      a.git('push', '--quiet');
      b.git('pull', '--quiet');
      const merged = titlesAt(b);
      b.commitFile('c.txt');
      return { merged, committed: titlesAt(b) };
    });
    expect(seed).toEqual({ merged: ['shared'], committed: ['shared'] });
    expect(forge).toEqual({ merged: ['shared'], committed: ['renamed, not committed'] });
  });
});

import { describe, expect, it } from 'vitest';
import { removeDriver, titlesAt, titlesIn } from '../support/git-clones.ts';
import { installSeedHooks } from '../support/seed-sync.ts';
import { onBoth, type TaskClone } from '../support/two-syncs.ts';

const titles = async (clone: TaskClone, options?: { import?: boolean }): Promise<string[]> =>
  (await clone.look(options)).map(({ title }) => title);

// The numbers are those of the research; each scenario runs on the seed's own algorithm first, which has to lose.
describe('where the seed loses tasks (S1 to S8)', () => {
  it('[data-plane S1] a clone without a database commits code: the tasks stay in the file', async () => {
    const { seed, forge } = await onBoth(async (world) => {
      const a = await world.open('a');
      await a.create('one');
      a.commitFile('a.txt');
      a.git('push', '--quiet');
      const b = await world.open('b');
      b.forget();
      b.commitFile('b.txt');
      return titlesAt(b);
    });
    expect(seed).toEqual([]);
    expect(forge).toEqual(['one']);
  });

  it('[data-plane S2] a conflict resolved by hand is what is committed', async () => {
    const { seed, forge } = await onBoth(async (world) => {
      const [a, b] = [await world.open('a'), await world.open('b')];
      await a.create('from a');
      a.commitFile('a.txt');
      a.git('push', '--quiet');
      await b.create('from b');
      b.commitFile('b.txt');
      removeDriver(b);
      const { exit } = b.tryGit(['pull']);
      const both = b.read('.forge/tasks.jsonl').replaceAll(/^(<<<<<<<|=======|>>>>>>>).*\n/gm, '');
      b.write('.forge/tasks.jsonl', both);
      b.git('add', '.forge/tasks.jsonl');
      b.git('commit', '--quiet', '--no-edit');
      return { exit, resolved: titlesIn(both), committed: titlesAt(b) };
    });
    const resolved = ['from a', 'from b'];
    expect(seed).toEqual({ exit: 1, resolved, committed: ['from b'] });
    expect(forge).toEqual({ exit: 1, resolved, committed: resolved });
  });

  it('[data-plane S3] after pull --rebase the next commit keeps the tasks of the others', async () => {
    const { seed, forge } = await onBoth(async (world) => {
      const [a, b] = [await world.open('a'), await world.open('b')];
      await a.create('theirs');
      a.commitFile('a.txt');
      a.git('push', '--quiet');
      b.commitFile('b.txt');
      b.git('pull', '--quiet', '--rebase');
      const pulled = titlesAt(b);
      b.commitFile('c.txt');
      return { pulled, committed: titlesAt(b) };
    });
    expect(seed).toEqual({ pulled: ['theirs'], committed: [] });
    expect(forge).toEqual({ pulled: ['theirs'], committed: ['theirs'] });
  });

  // The research would carry over only what is not committed. The design goes further: the graph belongs to the
  // repository, so a task may be in commits of any branch, and what must hold is that the branches still merge.
  it('[data-plane S4] a task of one branch in a commit on another does not make them conflict', async () => {
    const { seed, forge } = await onBoth(async (world) => {
      const a = await world.open('a');
      a.git('switch', '--quiet', '-c', 'feat');
      await a.create('of feat');
      a.commitFile('feat.txt');
      a.git('switch', '--quiet', 'main');
      await a.change('of feat', { priority: 0 });
      a.commitFile('main.txt');
      const leaked = titlesAt(a);
      a.git('switch', '--quiet', 'feat');
      await a.change('of feat', { title: 'renamed on feat' });
      a.commitFile('feat.txt', 'again\n');
      a.git('switch', '--quiet', 'main');
      const { exit } = a.tryGit(['merge', '--no-edit', 'feat']);
      return { leaked, exit, status: a.git('status', '--porcelain') };
    });
    expect(seed).toEqual({
      leaked: ['of feat'],
      exit: 1,
      status: expect.stringContaining('UU .forge/tasks.jsonl'),
    });
    expect(forge).toEqual({ leaked: ['of feat'], exit: 0, status: '' });
  });

  it('[data-plane S5] a commit of nothing but tasks leaves a clean tree that can be switched', async () => {
    const { seed, forge } = await onBoth(async (world) => {
      const a = await world.open('a');
      a.git('branch', 'other');
      await a.create('one');
      a.commitFile('a.txt');
      await a.create('two');
      const { exit, output } = a.tryGit(['commit', '-m', 'tasks']);
      const status = a.git('status', '--porcelain');
      return {
        exit,
        status,
        switched: a.tryGit(['switch', 'other']).exit,
        told: output.includes('forge commit'),
      };
    });
    expect(seed).toEqual({ exit: 1, status: 'M  .forge/tasks.jsonl', switched: 1, told: false });
    expect(forge).toEqual({ exit: 1, status: '', switched: 0, told: true });
  });

  it('[data-plane S6] git clean and a deleted database lose nothing that was not committed yet', async () => {
    const { seed, forge } = await onBoth(async (world) => {
      const a = await world.open('a');
      await a.create('committed');
      a.commitFile('a.txt');
      await a.create('not committed');
      a.git('clean', '--quiet', '-fdX');
      const cleaned = await titles(a, { import: true });
      a.forget();
      return [cleaned, await titles(a, { import: true })];
    });
    expect(seed).toEqual([['committed'], ['committed']]);
    expect(forge).toEqual([
      ['committed', 'not committed'],
      ['committed', 'not committed'],
    ]);
  });

  it('[data-plane S7] a commit in a linked worktree carries the tasks', async () => {
    const { seed, forge } = await onBoth(async (world) => {
      const a = await world.open('a');
      await a.create('one');
      a.commitFile('a.txt');
      const linked = await world.link(a, 'linked');
      let installed = true;
      try {
        if (world.sync === 'seed') installSeedHooks(linked.path);
        else installed = linked.tryGit(['hook', 'run', '--ignore-missing', 'post-checkout']).exit === 0;
      } catch {
        installed = false;
      }
      linked.commitFile('b.txt');
      return { installed, committed: titlesAt(linked) };
    });
    expect(seed).toEqual({ installed: false, committed: [] });
    expect(forge).toEqual({ installed: true, committed: ['one'] });
  });

  it('[data-plane S8] two clones that each add a task merge without a conflict', async () => {
    const { seed, forge } = await onBoth(async (world) => {
      const [a, b] = [await world.open('a'), await world.open('b')];
      await a.create('from a');
      a.commitFile('a.txt');
      a.git('push', '--quiet');
      await b.create('from b');
      b.commitFile('b.txt');
      const { exit } = b.tryGit(['pull']);
      return { exit, titles: exit === 0 ? titlesAt(b) : [] };
    });
    expect(seed).toEqual({ exit: 1, titles: [] });
    expect(forge).toEqual({ exit: 0, titles: ['from a', 'from b'] });
  });
});

import { describe, expect, it } from 'vitest';
import { expectSettled, forgeClones, settle, titlesAt, titlesOf } from '../support/git-clones.ts';
import { inSoak } from '../support/share-of.ts';

describe('git rewrites history', () => {
  it('rebase: commits that each carry tasks are replayed without a stop, ours and theirs swapped', async () => {
    await using world = await forgeClones(['a', 'b']);
    const { a, b } = world.clone;
    const shared = await a.create('shared');
    await settle(world.all);
    a.git('switch', '--quiet', '-c', 'feat');
    await a.create('feat 1');
    a.commitFile('feat-1.txt');
    await a.json('task', 'update', shared.id, '--title', 'shared, renamed');
    a.commitFile('feat-2.txt');
    await b.json('task', 'update', shared.id, '--priority', '0');
    await b.create('main 1');
    b.commitFile('main.txt');
    b.git('push', '--quiet');
    a.git('fetch', '--quiet');
    expect(a.tryGit(['rebase', 'origin/main'])).toMatchObject({ exit: 0 });
    expect(titlesAt(a, 'HEAD~1')).toEqual(expect.arrayContaining(['feat 1', 'main 1']));
    expect(titlesAt(a)).toEqual(['feat 1', 'main 1', 'shared, renamed']);
    expect(a.git('status', '--porcelain')).toBe('');
    // Again with --exec, which commits between the steps, and a task that nobody has committed.
    await a.create('not committed');
    expect(
      a.tryGit(['rebase', '--force-rebase', '--exec', 'git commit --allow-empty -m x', 'origin/main']),
    ).toMatchObject({
      exit: 0,
    });
    a.git('switch', '--quiet', 'main');
    a.git('merge', '--quiet', 'feat');
    await settle(world.all);
    await expectSettled(world.all, {
      titles: ['feat 1', 'main 1', 'not committed', 'shared, renamed'],
      files: { 'feat-1.txt': 'feat-1.txt\n', 'feat-2.txt': 'feat-2.txt\n', 'main.txt': 'main.txt\n' },
    });
    expect(await b.show(shared.id)).toMatchObject({ title: 'shared, renamed', priority: 0 });
  });

  inSoak(() => {
    it('rebase and cherry-pick that stop at a conflict of the code: tasks made in the middle stay', async () => {
      await using world = await forgeClones(['a', 'b']);
      const { a } = world.clone;
      a.git('switch', '--quiet', '-c', 'feat');
      await a.create('on feat');
      a.commitFile('code.txt', 'feat\n');
      a.git('switch', '--quiet', 'main');
      await a.create('on main');
      a.commitFile('code.txt', 'main\n');
      a.git('switch', '--quiet', 'feat');
      for (const args of [
        ['rebase', 'main'],
        ['rebase', '--abort'],
        ['rebase', 'main'],
      ])
        expect(a.tryGit(args).exit).toBe(args.includes('--abort') ? 0 : 1);
      expect(a.git('diff', '--name-only', '--diff-filter=U')).toBe('code.txt');
      await a.create('in the middle of a rebase');
      a.write('code.txt', 'both\n');
      a.git('add', 'code.txt');
      a.git('rebase', '--continue');
      a.git('switch', '--quiet', 'main');
      a.commitFile('code.txt', 'main again\n');
      expect(a.tryGit(['cherry-pick', 'feat']).exit).toBe(1);
      await a.create('in the middle of a cherry-pick');
      a.write('code.txt', 'picked\n');
      a.git('add', 'code.txt');
      a.git('cherry-pick', '--continue');
      expect(a.git('status', '--porcelain')).toBe('');
      await settle(world.all);
      await expectSettled(world.all, {
        titles: ['in the middle of a cherry-pick', 'in the middle of a rebase', 'on feat', 'on main'],
        files: { 'code.txt': 'picked\n' },
      });
    });

    it('pull --rebase, then another commit: the tasks of the others stay', async () => {
      await using world = await forgeClones(['a', 'b']);
      const { a, b } = world.clone;
      await a.create('theirs');
      a.commitFile('a.txt');
      a.git('push', '--quiet');
      await b.create('mine');
      b.commitFile('b.txt');
      await b.create('not committed');
      expect(b.tryGit(['pull', '--rebase'])).toMatchObject({ exit: 0 });
      b.commitFile('c.txt');
      expect(titlesAt(b)).toEqual(['mine', 'not committed', 'theirs']);
      await settle(world.all);
      await expectSettled(world.all, {
        titles: ['mine', 'not committed', 'theirs'],
        files: { 'a.txt': 'a.txt\n', 'b.txt': 'b.txt\n', 'c.txt': 'c.txt\n' },
      });
    });
  });

  it('merge --squash, cherry-pick and revert: what was known once is never forgotten', async () => {
    await using world = await forgeClones(['a', 'b']);
    const { a, b } = world.clone;
    b.git('switch', '--quiet', '-c', 'feat');
    await b.create('squashed');
    b.commitFile('squashed.txt');
    b.git('push', '--quiet', 'origin', 'feat');
    b.git('switch', '--quiet', '-c', 'pick', 'main');
    await b.create('picked');
    b.commitFile('picked.txt');
    b.git('push', '--quiet', 'origin', 'pick');
    b.git('switch', '--quiet', 'main');

    await a.create('mine');
    a.commitFile('mine.txt');
    a.git('fetch', '--quiet');
    a.git('merge', '--quiet', '--squash', 'origin/feat');
    a.git('commit', '--quiet', '-m', 'squash');
    expect(titlesAt(a)).toEqual(['mine', 'squashed']);
    expect(a.tryGit(['cherry-pick', 'origin/pick'])).toMatchObject({ exit: 0 });
    expect(titlesAt(a)).toEqual(['mine', 'picked', 'squashed']);
    expect(a.git('status', '--porcelain')).toBe('');
    expect(await titlesOf(a)).toEqual(['mine', 'picked', 'squashed']);
    // A revert takes the user's change back. Tasks are not the code's: they stay, and the next commit has them.
    expect(a.tryGit(['revert', '--no-edit', 'HEAD'])).toMatchObject({ exit: 0 });
    expect(await titlesOf(a)).toEqual(['mine', 'picked', 'squashed']);
    a.commitFile('after.txt');
    expect(titlesAt(a)).toEqual(['mine', 'picked', 'squashed']);
    await settle(world.all);
    await expectSettled(world.all, {
      titles: ['mine', 'picked', 'squashed'],
      files: { 'after.txt': 'after.txt\n', 'mine.txt': 'mine.txt\n', 'squashed.txt': 'squashed.txt\n' },
    });
  });

  inSoak(() => {
    it('stash and pop, also with the task files in it', async () => {
      await using world = await forgeClones(['a', 'b']);
      const { a } = world.clone;
      const one = await a.create('one');
      a.commitFile('a.txt');
      await a.create('before the stash');
      a.write('a.txt', 'stashed\n');
      a.git('stash', '--quiet');
      expect(await titlesOf(a)).toEqual(['before the stash', 'one']);
      await a.json('task', 'update', one.id, '--title', 'one, changed');
      a.git('stash', 'pop', '--quiet');
      expect(a.git('status', '--porcelain')).toBe(' M a.txt');
      // The user asked for it: the files are written, and stashed away together with an untracked file.
      await a.json('export');
      a.write('new.txt', 'new\n');
      expect(a.git('status', '--porcelain')).toBe(' M .forge/tasks.jsonl\n M a.txt\n?? new.txt');
      a.git('stash', '--quiet', '--include-untracked');
      expect(await titlesOf(a)).toEqual(['before the stash', 'one, changed']);
      await a.create('after the stash');
      await a.commitTasks();
      expect(a.tryGit(['stash', 'pop'])).toMatchObject({ exit: 0 });
      a.git('add', '.');
      a.git('commit', '--quiet', '-m', 'all of it');
      await settle(world.all);
      await expectSettled(world.all, {
        titles: ['after the stash', 'before the stash', 'one, changed'],
        files: { 'a.txt': 'stashed\n', 'new.txt': 'new\n' },
      });
    });
  });

  it('reset --soft, --mixed and --hard: tasks outlive the commits they were in', async () => {
    await using world = await forgeClones(['a', 'b']);
    const { a } = world.clone;
    for (const how of ['soft', 'mixed'] as const) {
      await a.create(`in the ${how} commit`);
      a.commitFile(`${how}.txt`);
      a.git('reset', '--quiet', `--${how}`, 'HEAD~1');
      expect(await titlesOf(a)).toContain(`in the ${how} commit`);
      a.git('add', '.');
      a.git('commit', '--quiet', '-m', how);
      expect(titlesAt(a)).toContain(`in the ${how} commit`);
      expect(a.git('status', '--porcelain')).toBe('');
    }
    await a.create('in the hard commit');
    a.commitFile('hard.txt');
    a.git('reset', '--quiet', '--hard', 'HEAD~1');
    expect(a.git('status', '--porcelain')).toBe('');
    expect(await titlesOf(a)).toContain('in the hard commit');
    await settle(world.all);
    await expectSettled(world.all, {
      titles: ['in the hard commit', 'in the mixed commit', 'in the soft commit'],
      files: { 'mixed.txt': 'mixed.txt\n', 'soft.txt': 'soft.txt\n' },
    });
  });

  inSoak(() => {
    it('bisect walks through commits with fewer tasks, and nothing changes', async () => {
      await using world = await forgeClones(['a', 'b']);
      const { a } = world.clone;
      const good = a.git('rev-parse', 'HEAD');
      for (const n of [1, 2, 3, 4]) {
        await a.create(`task ${n}`);
        a.commitFile('n.txt', `${n}\n`);
      }
      const uncommitted = await a.create('not committed');
      a.git('bisect', 'start', 'HEAD', good);
      const found = a.git('bisect', 'run', 'sh', '-c', 'forge ready >/dev/null; ! grep -q "[34]" n.txt');
      expect(found).toContain('is the first bad commit');
      a.git('bisect', 'reset');
      expect(a.git('status', '--porcelain')).toBe('');
      expect((await a.show(uncommitted.id)).title).toBe('not committed');
      await settle(world.all);
      await expectSettled(world.all, {
        titles: ['not committed', 'task 1', 'task 2', 'task 3', 'task 4'],
        files: { 'n.txt': '4\n' },
      });
    });
  });
});

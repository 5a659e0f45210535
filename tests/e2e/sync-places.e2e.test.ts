import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { ProjectConfig } from '#sync/project-config.ts';
import {
  expectSettled,
  forgeClones,
  hasFile,
  settle,
  titlesAt,
  titlesOf,
  toClone,
  writeGitSettings,
  type Clone,
} from '../support/git-clones.ts';
import { inSoak } from '../support/share-of.ts';

describe('places', () => {
  it('worktree add: one store for all, a commit in each carries everything', async () => {
    await using world = await forgeClones(['a', 'b']);
    const { a } = world.clone;
    await a.create('before');
    a.commitFile('a.txt');
    await a.create('not committed');
    const path = join(world.folder, 'linked');
    expect(a.tryGit(['worktree', 'add', '--quiet', '-b', 'feat', path])).toMatchObject({ exit: 0 });
    const linked = toClone(path, world.place);
    expect(linked.git('status', '--porcelain')).toBe('');
    expect(await titlesOf(linked)).toEqual(['before', 'not committed']);
    await linked.create('in the worktree');
    expect(await titlesOf(a)).toEqual(['before', 'in the worktree', 'not committed']);
    expect(linked.commitFile('b.txt')).toContain('[forge] .forge/tasks.jsonl updated and staged');
    expect(titlesAt(linked)).toEqual(['before', 'in the worktree', 'not committed']);
    expect(linked.git('status', '--porcelain')).toBe('');
    a.commitFile('c.txt');
    a.git('merge', '--quiet', 'feat');
    a.git('worktree', 'remove', path);
    await settle(world.all);
    await expectSettled(world.all, {
      titles: ['before', 'in the worktree', 'not committed'],
      files: { 'a.txt': 'a.txt\n', 'b.txt': 'b.txt\n', 'c.txt': 'c.txt\n' },
    });
  });

  it('a submodule with a project of its own inside a project: each commit carries its own tasks', async () => {
    await using world = await forgeClones(['a', 'b']);
    await using parts = await forgeClones(['part'], { init: ['init', '--prefix', 'pt'] });
    const { a, b } = world.clone;
    const allow = ['-c', 'protocol.file.allow=always'];
    a.git(...allow, 'submodule', '--quiet', 'add', parts.remote, 'part');
    a.git('commit', '--quiet', '-m', 'part');
    const part = toClone(join(a.path, 'part'), world.place);
    part.git('config', 'user.name', 'Test User');
    part.git('config', 'user.email', 'test@example.com');
    await part.run('init');
    expect((await part.create('of the part')).id).toMatch(/^pt-/);
    expect((await a.create('of the whole')).id).toMatch(/^fg-/);
    part.commitFile('part.txt');
    expect(titlesAt(part)).toEqual(['of the part']);
    expect(part.git('status', '--porcelain')).toBe('');
    // Nothing but the submodule's commit is staged, and that is something else than tasks.
    a.git('add', 'part');
    a.git('commit', '--quiet', '-m', 'newer part');
    expect(titlesAt(a)).toEqual(['of the whole']);
    part.git('push', '--quiet', 'origin', 'HEAD:main');
    await settle(world.all);
    b.git(...allow, 'submodule', '--quiet', 'update', '--init');
    await expectSettled([a, b], {
      titles: ['of the whole'],
      files: { 'part/part.txt': 'part.txt\n', 'part/readme.txt': 'readme\n' },
    });
    expect(await titlesOf(part)).toEqual(['of the part']);
  });

  inSoak(() => {
    it('a branch from before init: commands work there, its commits stay free of Forge, and back', async () => {
      await using world = await forgeClones(['a', 'b']);
      const { a } = world.clone;
      // As it was before Forge came: the first commit without our files.
      a.git('switch', '--quiet', '--orphan', 'old');
      a.commitFile('old.txt');
      expect(a.git('ls-files')).toBe('old.txt');
      a.git('switch', '--quiet', 'main');
      await a.create('on main');
      a.git('switch', '--quiet', 'old');
      expect(a.git('status', '--porcelain')).toBe('');
      expect(hasFile(a, '.forge/tasks.jsonl')).toBe(false);
      await a.create('on the old branch');
      expect(await titlesOf(a)).toEqual(['on main', 'on the old branch']);
      expect(a.commitFile('old.txt', 'fixed\n')).toContain(
        'this branch has no .forge; a branch that has it brings it: git merge',
      );
      expect(a.git('ls-files')).toBe('old.txt');
      a.git('clean', '--quiet', '-fdx');
      expect(readdirSync(a.path).toSorted()).toEqual(['.git', 'old.txt']);
      expect(await titlesOf(a)).toEqual(['on main', 'on the old branch']);
      a.git('switch', '--quiet', 'main');
      expect(a.git('status', '--porcelain')).toBe('');
      a.git('merge', '--quiet', '--allow-unrelated-histories', 'old');
      expect(await titlesOf(a)).toEqual(['on main', 'on the old branch']);
      await settle(world.all);
      await expectSettled(world.all, {
        titles: ['on main', 'on the old branch'],
        files: { 'old.txt': 'fixed\n' },
      });
    });
  });
});

inSoak(() => {
  describe('clones of other kinds', () => {
    it('a sparse checkout without .forge and a shallow clone exchange tasks like any other', async () => {
      await using world = await forgeClones(['a', 'b']);
      const { a, b } = world.clone;
      b.commitFile('src/code.txt');
      b.git('push', '--quiet');
      b.git('sparse-checkout', 'set', 'src');
      expect(hasFile(b, '.forge/tasks.jsonl')).toBe(false);
      await b.create('sparse');
      b.commitFile('src/code.txt', 'again\n');
      await b.commitTasks();
      expect(b.git('status', '--porcelain')).toBe('');
      expect(titlesAt(b)).toEqual(['sparse']);
      b.git('push', '--quiet');
      const path = join(world.folder, 'shallow');
      a.git('clone', '--quiet', '--depth', '1', `file://${world.remote}`, path);
      writeGitSettings(path);
      const shallow = toClone(path, world.place);
      await shallow.run('init');
      await shallow.run('task', 'create', 'shallow');
      // An autostash that holds the task file too.
      await a.create('stashed');
      await a.json('export');
      a.git('pull', '--quiet', '--rebase', '--autostash');
      b.git('sparse-checkout', 'disable');
      await settle([a, shallow, b]);
      await expectSettled([a, shallow, b], {
        titles: ['shallow', 'sparse', 'stashed'],
        files: { 'src/code.txt': 'again\n' },
      });
    });
  });
});

describe('sync.exportOn', () => {
  const setSync = (clone: Clone, exportOn: ProjectConfig['sync']['exportOn']): void => {
    const config = JSON.parse(clone.read('.forge/config.json')) as object;
    clone.write('.forge/config.json', `${JSON.stringify({ ...config, sync: { exportOn } }, null, 2)}\n`);
    clone.git('commit', '--quiet', '-a', '-m', exportOn);
  };

  it('default-branch: other branches carry no task changes, so that they never conflict on a server', async () => {
    await using world = await forgeClones(['a', 'b']);
    const { a, b } = world.clone;
    setSync(a, 'default-branch');
    await settle(world.all);
    for (const [clone, name] of [
      [a, 'a'],
      [b, 'b'],
    ] as const) {
      clone.git('switch', '--quiet', '-c', `feat-${name}`);
      await clone.create(`from ${name}`);
      expect(clone.commitFile(`${name}.txt`)).toContain(
        'carries no tasks: sync.exportOn is default-branch; to commit them here all the same: forge commit',
      );
      expect(clone.git('show', '--format=', '--name-only', 'HEAD')).toBe(`${name}.txt`);
      clone.git('push', '--quiet', 'origin', `feat-${name}`);
    }
    // What a server does: a text merge, without any driver.
    a.git('switch', '--quiet', 'main');
    a.git('fetch', '--quiet');
    a.git('-c', 'merge.forge.driver=false', 'merge', '--quiet', 'feat-a', 'origin/feat-b');
    a.commitFile('main.txt');
    expect(titlesAt(a)).toEqual(['from a']);
    b.git('switch', '--quiet', 'main');
    await settle(world.all);
    await expectSettled(world.all, {
      titles: ['from a', 'from b'],
      files: { 'a.txt': 'a.txt\n', 'b.txt': 'b.txt\n', 'main.txt': 'main.txt\n' },
    });
  });

  it('manual: no commit carries tasks until forge commit or forge export says so', async () => {
    await using world = await forgeClones(['a', 'b']);
    const { a } = world.clone;
    setSync(a, 'manual');
    await a.create('one');
    expect(a.commitFile('a.txt')).toContain(
      '[forge] This commit carries no tasks: sync.exportOn is manual; to commit them here all the same: forge commit',
    );
    expect(titlesAt(a)).toEqual([]);
    await a.commitTasks();
    expect(a.commitFile('quiet.txt')).not.toContain('[forge]');
    expect(titlesAt(a)).toEqual(['one']);
    await a.create('two');
    await a.json('export');
    a.git('commit', '--quiet', '-a', '-m', 'by hand');
    expect(titlesAt(a)).toEqual(['one', 'two']);
    await settle(world.all);
    await expectSettled(world.all, {
      titles: ['one', 'two'],
      files: { 'a.txt': 'a.txt\n', 'quiet.txt': 'quiet.txt\n' },
    });
  });

  it('a branch of an attempt gets no task files', async () => {
    await using world = await forgeClones(['a', 'b']);
    const { a } = world.clone;
    await a.create('one');
    a.git('switch', '--quiet', '-c', 'forge/35a4-one');
    expect(a.commitFile('a.txt')).toContain('carries no tasks: forge/35a4-one is the branch of an attempt');
    expect(titlesAt(a)).toEqual([]);
    a.git('switch', '--quiet', 'main');
    a.git('merge', '--quiet', 'forge/35a4-one');
    await settle(world.all);
    await expectSettled(world.all, { titles: ['one'], files: { 'a.txt': 'a.txt\n' } });
  });
});

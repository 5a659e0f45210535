import { describe, expect, it } from 'vitest';
import {
  expectSettled,
  forgeClones,
  linesOf,
  removeDriver,
  settle,
  titlesAt,
  titlesOf,
} from '../support/git-clones.ts';
import { inSoak } from '../support/share-of.ts';

describe('git merge', () => {
  it('-s ours and -X ours take nothing of the code, and all of the tasks', async () => {
    await using world = await forgeClones(['a', 'b']);
    const { a, b } = world.clone;
    await b.create('theirs');
    b.commitFile('code.txt', 'b\n');
    b.git('push', '--quiet');
    await a.create('ours');
    a.commitFile('code.txt', 'a\n');
    const merged = a.tryGit(['pull', '-s', 'ours']);
    expect(merged).toMatchObject({ exit: 0 });
    expect(merged.output).toContain('[forge] 1 task change joined in');
    expect(a.read('code.txt')).toBe('a\n');
    expect(await titlesOf(a)).toEqual(['ours', 'theirs']);
    a.commitFile('after.txt');
    expect(titlesAt(a)).toEqual(['ours', 'theirs']);
    await settle(world.all);
    await b.create('theirs again');
    b.commitFile('code.txt', 'b again\n');
    b.git('push', '--quiet');
    await a.create('ours again');
    a.commitFile('code.txt', 'a again\n');
    a.git('pull', '--quiet', '-X', 'ours');
    await settle(world.all);
    await expectSettled(world.all, {
      titles: ['ours', 'ours again', 'theirs', 'theirs again'],
      files: { 'after.txt': 'after.txt\n', 'code.txt': 'a again\n' },
    });
  });

  it('an octopus: git runs no driver there, so it refuses or merges as text; all its sides count', async () => {
    await using world = await forgeClones(['a', 'b']);
    const { a, b } = world.clone;
    const shared = await a.create('shared');
    await settle(world.all);
    const flags = { one: ['--priority', '0'], two: ['--label-add', 'two'], three: ['--type', 'bug'] };
    for (const [branch, change] of Object.entries(flags)) {
      a.git('switch', '--quiet', '-c', branch, 'main');
      await a.create(`on ${branch}`);
      await a.json('task', 'update', shared.id, ...change);
      a.commitFile(`${branch}.txt`);
      a.git('push', '--quiet', 'origin', branch);
    }
    a.git('switch', '--quiet', 'main');
    // All three changed the same line.
    const refused = a.tryGit(['merge', 'one', 'two', 'three']);
    expect(refused).toMatchObject({ exit: 2 });
    expect(refused.output).toContain('Should not be doing an octopus');
    expect(a.git('status', '--porcelain')).toBe('');
    for (const branch of ['four', 'five']) {
      a.git('switch', '--quiet', '-c', branch, 'main');
      a.write(`${branch}.txt`, `${branch}\n`);
      a.git('add', '.');
      a.git('commit', '--quiet', '--no-verify', '-m', branch);
    }
    a.git('switch', '--quiet', 'main');
    a.git('merge', '--quiet', 'three', 'four', 'five');
    expect(a.git('rev-list', '--parents', '-1', 'HEAD').split(' ')).toHaveLength(4);
    // The other clone has seen none of it, and takes nothing of the files.
    b.git('fetch', '--quiet');
    b.git('merge', '--quiet', '-s', 'ours', 'origin/one', 'origin/two', 'origin/three');
    expect(await titlesOf(b)).toEqual(['on one', 'on three', 'on two', 'shared']);
    await settle(world.all);
    await expectSettled(world.all, {
      titles: ['on one', 'on three', 'on two', 'shared'],
      files: { 'four.txt': 'four\n', 'five.txt': 'five\n' },
    });
    expect(await b.show(shared.id)).toMatchObject({ priority: 0, type: 'bug', labels: ['two'] });
  });

  inSoak(() => {
    it('criss-cross: both sides merged each other, and both went on', async () => {
      await using world = await forgeClones(['a', 'b']);
      const { a, b } = world.clone;
      const shared = await a.create('shared');
      await settle(world.all);
      await a.json('task', 'update', shared.id, '--priority', '1', '--meta-set', 'a=1');
      a.commitFile('a.txt');
      await b.json('task', 'update', shared.id, '--title', 'shared of b', '--meta-set', 'b=1');
      b.commitFile('b.txt');
      for (const [clone, branch] of [
        [a, 'a-1'],
        [b, 'b-1'],
      ] as const) {
        clone.git('push', '--quiet', 'origin', `HEAD:refs/heads/${branch}`);
      }
      for (const [clone, branch] of [
        [a, 'b-1'],
        [b, 'a-1'],
      ] as const) {
        clone.git('fetch', '--quiet');
        expect(clone.tryGit(['merge', '--no-edit', `origin/${branch}`])).toMatchObject({ exit: 0 });
      }
      await a.json('task', 'update', shared.id, '--meta-set', 'a=2');
      await a.create('later of a');
      a.commitFile('a.txt', 'a again\n');
      await b.json('task', 'update', shared.id, '--meta-set', 'b=2');
      await b.create('later of b');
      b.commitFile('b.txt', 'b again\n');
      a.git('push', '--quiet');
      b.git('fetch', '--quiet');
      expect(b.git('merge-base', '--all', 'main', 'origin/main').split('\n')).toHaveLength(2);
      expect(b.tryGit(['merge', '--no-edit', 'origin/main'])).toMatchObject({ exit: 0 });
      await settle(world.all);
      await expectSettled(world.all, {
        titles: ['later of a', 'later of b', 'shared of b'],
        files: { 'a.txt': 'a again\n', 'b.txt': 'b again\n' },
      });
      expect(await a.show(shared.id)).toMatchObject({ priority: 1, metadata: { a: 2, b: 2 } });
    });
  });

  it('without the driver markers are read as the two sides, in either style', async () => {
    await using world = await forgeClones(['a', 'b', 'c']);
    const { a, b, c } = world.clone;
    const shared = await a.create('shared');
    await settle(world.all);
    await a.json('task', 'update', shared.id, '--priority', '0');
    await a.create('from a');
    a.commitFile('a.txt');
    a.git('push', '--quiet');
    for (const clone of [b, c]) {
      clone.git('config', 'merge.conflictStyle', clone === b ? 'merge' : 'diff3');
      await clone.json('task', 'update', shared.id, '--title', 'shared of b');
      await clone.create(`from ${clone === b ? 'b' : 'c'}`);
      clone.commitFile(clone === b ? 'b.txt' : 'c.txt');
      removeDriver(clone);
      const pulled = clone.tryGit(['pull', '--quiet']);
      expect(pulled.output).toContain('CONFLICT (content): Merge conflict in .forge/tasks.jsonl');
      expect(pulled.exit).toBe(1);
      const marks = linesOf(clone.read('.forge/tasks.jsonl')).flatMap(
        (line) => /^([<|=>])\1{6}/.exec(line)?.[1] ?? [],
      );
      expect(marks).toEqual(clone === b ? ['<', '=', '>'] : ['<', '|', '=', '>']);
      expect(await titlesOf(clone)).toContain('from a');
    }
    // One resolves it by hand, in no careful way; the other lets Forge write the file.
    b.git('add', '.forge/tasks.jsonl');
    b.git('commit', '--quiet', '--no-edit');
    expect(titlesAt(b)).toEqual(['from a', 'from b', 'shared of b']);
    await c.run('export');
    c.git('add', '.forge/tasks.jsonl');
    c.git('commit', '--quiet', '--no-edit');
    expect(titlesAt(c)).toEqual(['from a', 'from c', 'shared of b']);
    for (const clone of [b, c]) expect(clone.git('status', '--porcelain')).toBe('');
    await settle(world.all);
    await expectSettled(world.all, {
      titles: ['from a', 'from b', 'from c', 'shared of b'],
      files: { 'a.txt': 'a.txt\n', 'b.txt': 'b.txt\n', 'c.txt': 'c.txt\n' },
    });
    expect(await c.show(shared.id)).toMatchObject({ title: 'shared of b', priority: 0 });
  });

  it('a driver that is gone leaves a text merge, and any command registers it again', async () => {
    await using world = await forgeClones(['a', 'b']);
    const { a, b } = world.clone;
    removeDriver(b);
    expect((await b.run('task', 'create', 'heals')).stderr).toBe(
      'forge: Registered the merge driver in this clone\n',
    );
    expect(b.git('config', '--get', 'merge.forge.driver')).toContain('merge-driver %O %A %B %P');
    await a.create('from a');
    a.commitFile('a.txt');
    a.git('push', '--quiet');
    b.commitFile('b.txt');
    // A path that is not there any more, as after another version of Node, and no command or commit since.
    const driver = b.git('config', '--get', 'merge.forge.driver');
    b.git('config', 'merge.forge.driver', driver.replace(/^'[^']*'/, "'/gone/node'"));
    const { exit, output } = b.tryGit(['pull', '--quiet']);
    expect({ exit, output }).toMatchObject({ exit: 1 });
    expect(output).toContain('CONFLICT');
    b.git('add', '.');
    b.git('commit', '--quiet', '--no-edit');
    await settle(world.all);
    await expectSettled(world.all, {
      titles: ['from a', 'heals'],
      files: { 'a.txt': 'a.txt\n', 'b.txt': 'b.txt\n' },
    });
  });

  it('refuses pointers of Git LFS, and leaves both sides', async () => {
    await using world = await forgeClones(['a']);
    const { a } = world.clone;
    const pointer = (oid: string): string =>
      `version https://git-lfs.github.com/spec/v1\noid sha256:${oid.repeat(64)}\nsize 3\n`;
    const sides = { base: pointer('a'), ours: pointer('b'), theirs: a.read('.forge/tasks.jsonl') };
    for (const [name, text] of Object.entries(sides)) a.write(name, text);
    const path = '.forge/tasks.jsonl';
    const failure = await a.fails('merge-driver', 'base', 'ours', 'theirs', path);
    expect(failure.error).toMatchObject({
      code: 'invalid_input',
      message: `${path} is a pointer of Git LFS in a commit, so that it was not merged`,
    });
    expect(a.read('ours')).toBe(sides.ours);
    // What both began with may be one: it was stored before Forge switched the filter off.
    a.write('ours', sides.theirs);
    expect(await a.json('merge-driver', 'base', 'ours', 'theirs', path)).toMatchObject({ conflicts: 0 });
    expect(a.read('ours')).toBe(sides.theirs);
  });
});

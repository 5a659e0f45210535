import { execFileSync, spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, expect, it } from 'vitest';
import { expectSettled, forgeClones, settle, titlesAt, titlesOf, type Clone } from '../support/git-clones.ts';

describe('hooks and where they run', () => {
  it('none installed: a plain clone commits, merges and loses nothing', async () => {
    await using world = await forgeClones(['a']);
    const { a } = world.clone;
    const b = await world.addClone('b', { init: false });
    await a.create('from a');
    a.commitFile('a.txt');
    a.git('push', '--quiet');
    b.commitFile('b.txt');
    b.git('pull', '--quiet');
    expect(titlesAt(b)).toEqual(['from a']);
    const first = await b.run('ready');
    expect(first).toMatchObject({ exit: 0, stdout: expect.stringContaining('from a') });
    await b.create('from b');
    expect(b.commitFile('c.txt')).not.toContain('[forge]');
    expect(titlesAt(b)).toEqual(['from a']);
    expect(await titlesOf(b)).toEqual(['from a', 'from b']);
    await settle(world.all);
    await expectSettled(world.all, {
      titles: ['from a', 'from b'],
      files: { 'a.txt': 'a.txt\n', 'b.txt': 'b.txt\n', 'c.txt': 'c.txt\n' },
    });
  });

  it('[S48] core.hooksPath and a husky: the hooks that git runs are the ones that carry tasks', async () => {
    await using world = await forgeClones(['a']);
    const { a } = world.clone;
    const b = await world.addClone('b', { init: false });
    mkdirSync(join(b.path, '.git/my hooks'));
    b.git('config', 'core.hooksPath', join(b.path, '.git/my hooks'));
    await b.run('init');
    await b.create('by core.hooksPath');
    expect(b.commitFile('b.txt')).toContain('[forge] .forge/tasks.jsonl updated and staged');
    expect(titlesAt(b)).toEqual(['by core.hooksPath']);
    b.git('push', '--quiet');

    const c = await world.addClone('c', { init: false });
    c.git('config', 'core.hooksPath', '.husky/_');
    c.write('.husky/_/.gitignore', '*');
    c.write('.husky/_/h', 'sh -e "$(dirname "$(dirname "$0")")/$(basename "$0")" "$@"\n');
    c.write('.husky/_/pre-commit', '#!/usr/bin/env sh\n. "$(dirname "$0")/h"');
    c.write('.husky/pre-commit', 'echo the team was here\n');
    chmodSync(join(c.path, '.husky/_/pre-commit'), 0o755);
    await c.run('init');
    await c.run('task', 'create', 'by husky');
    c.git('add', '.');
    const said = c.git('commit', '-m', 'husky');
    expect(said).toContain('the team was here');
    expect(said).toContain('[forge] .forge/tasks.jsonl updated and staged');
    expect(titlesAt(c)).toEqual(['by core.hooksPath', 'by husky']);
    await settle(world.all);
    expect(await titlesOf(a)).toEqual(['by core.hooksPath', 'by husky']);
    for (const clone of world.all) expect(clone.git('status', '--porcelain')).toBe('');
  });

  it('a hook of the user runs too, and its refusal stops the commit as before', async () => {
    await using world = await forgeClones(['a']);
    const { a } = world.clone;
    const b = await world.addClone('b', { init: false });
    b.write('.git/hooks/pre-commit', '#!/bin/sh\necho mine >&2\n! grep -q bad *.txt\n');
    chmodSync(join(b.path, '.git/hooks/pre-commit'), 0o755);
    await b.run('init');
    await b.create('one');
    const said = b.commitFile('b.txt');
    expect(said).toContain('mine');
    expect(titlesAt(b)).toEqual(['one']);
    await b.create('two');
    b.write('b.txt', 'bad\n');
    expect(b.tryGit(['commit', '-a', '-m', 'bad'])).toMatchObject({ exit: 1 });
    expect(titlesAt(b)).toEqual(['one']);
    // The hook before the user's had staged the file; nothing of that stands in the way.
    b.git('checkout', '--quiet', 'HEAD', '--', '.');
    expect(await titlesOf(b)).toEqual(['one', 'two']);
    await settle([a, b]);
    await expectSettled([a, b], { titles: ['one', 'two'], files: { 'b.txt': 'b.txt\n' } });
  });

  it('while somebody holds the lock the commit goes through, and says what it left out', async () => {
    await using world = await forgeClones(['a', 'b']);
    const { a } = world.clone;
    await a.create('one');
    {
      using db = new DatabaseSync(join(a.path, '.git/forge/forge.db'));
      db.exec('BEGIN IMMEDIATE');
      const said = a.commitFile('a.txt');
      expect(said).toMatch(/\[forge\] Left out: Another process is writing to the task database/);
      expect(titlesAt(a)).toEqual([]);
      db.exec('ROLLBACK');
    }
    expect(a.commitFile('b.txt')).toContain('[forge] .forge/tasks.jsonl updated and staged');
    await settle(world.all);
    await expectSettled(world.all, { titles: ['one'], files: { 'a.txt': 'a.txt\n', 'b.txt': 'b.txt\n' } });
  });

  it('[S50] without .forge, and without Forge, nothing is printed and nothing fails', async () => {
    await using world = await forgeClones(['a']);
    const { a } = world.clone;
    const verbs = (clone: Clone, name: string): string => {
      const said = clone.commitFile(`${name}.txt`);
      clone.git('switch', '--quiet', '-c', name);
      clone.commitFile(`${name}-2.txt`);
      clone.git('switch', '--quiet', 'main');
      return said + clone.git('merge', '--no-ff', name) + clone.git('commit', '--amend', '--no-edit');
    };
    // The hooks are there, and the project is gone from this working tree.
    a.git('rm', '--quiet', '-r', '--cached', '.forge');
    rmSync(join(a.path, '.forge'), { recursive: true });
    a.git('commit', '--quiet', '--no-verify', '-m', 'removed');
    expect(verbs(a, 'removed')).not.toContain('forge]');
    rmSync(join(a.path, '.git/forge'), { recursive: true });
    expect(verbs(a, 'nothing')).not.toContain('forge]');
    expect(a.git('status', '--porcelain')).toBe('');

    const b = await world.addClone('b');
    await b.run('task', 'create', 'one');
    for (const hook of ['pre-commit', 'post-merge', 'post-checkout', 'post-rewrite']) {
      const text = b.read(`.git/hooks/${hook}`);
      expect(text).toContain(process.execPath);
      b.write(`.git/hooks/${hook}`, text.replaceAll(process.execPath, '/gone/bin/node'));
    }
    expect(verbs(b, 'no-node')).not.toContain('forge]');
    expect(titlesAt(b)).toEqual([]);
    expect(await titlesOf(b)).toEqual(['one']);
  });

  it('a .forge that may not be written stops no commit, and the tasks wait', async () => {
    await using world = await forgeClones(['a', 'b']);
    const { a } = world.clone;
    await a.create('one');
    a.write('a.txt', 'a\n');
    a.git('add', 'a.txt');
    // Root may write everywhere, so then git runs as nobody, to whom everything is given.
    const nobody = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {};
    if (nobody.uid !== undefined) {
      for (const path of [dirname(world.folder), world.folder]) chmodSync(path, 0o755);
      execFileSync('chown', ['-R', `${nobody.uid}:${nobody.gid}`, a.path, world.place.home]);
    }
    chmodSync(join(a.path, '.forge'), 0o555);
    const { status, stdout, stderr } = spawnSync('git', ['commit', '-m', 'read only'], {
      cwd: a.path,
      env: world.place.env,
      encoding: 'utf8',
      ...nobody,
    });
    chmodSync(join(a.path, '.forge'), 0o755);
    if (nobody.uid !== undefined) execFileSync('chown', ['-R', '0:0', a.path, world.place.home]);
    expect({ status, stdout, stderr }).toMatchObject({ status: 0 });
    expect(stdout + stderr).toMatch(/\[forge\] Left out: .*tasks\.jsonl/);
    expect(titlesAt(a)).toEqual([]);
    await settle(world.all);
    await expectSettled(world.all, { titles: ['one'], files: { 'a.txt': 'a\n' } });
  });

  it('a checkout of single files, a bare repository and a hook by hand do no harm', async () => {
    await using world = await forgeClones(['a']);
    const { a } = world.clone;
    await a.create('one');
    a.commitFile('a.txt');
    expect(a.git('checkout', 'HEAD', '--', 'a.txt')).not.toContain('[forge]');
    for (const hook of ['pre-commit', 'post-merge', 'post-checkout', 'post-rewrite'])
      expect(await a.run('hook', hook)).toMatchObject({ exit: 0, stderr: '' });
    const bare = world.place.with({ cwd: world.remote });
    expect(await bare.run('hook', 'pre-commit')).toEqual({ exit: 0, stdout: '', stderr: '' });
    expect(readFileSync(join(world.remote, 'HEAD'), 'utf8')).toBe('ref: refs/heads/main\n');
    expect(a.git('status', '--porcelain')).toBe('');
  });
});

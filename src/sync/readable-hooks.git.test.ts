import { chmodSync, existsSync, mkdirSync, readdirSync, statSync, symlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, it } from 'vitest';
import { hookRepo } from '../../tests/support/hook-repo.ts';
import { writeReadableHooks } from './readable-hooks.ts';

it('[S9] writes .forge/hooks/pre-commit and post-merge, executable and without a path of this machine', async () => {
  await using repo = await hookRepo();
  mkdirSync(repo.paths.forge_dir);
  writeReadableHooks(repo.paths);
  expect(readdirSync(join(repo.path, '.forge/hooks'))).toEqual(['post-merge', 'pre-commit']);
  for (const hook of ['pre-commit', 'post-merge']) {
    expect(statSync(join(repo.path, '.forge/hooks', hook)).mode & 0o100).toBe(0o100);
    const text = await repo.read(`.forge/hooks/${hook}`);
    expect(text).toMatch(/^#!\/bin\/sh\n# /);
    expect(text).toContain(`\ncommand -v forge >/dev/null 2>&1 && forge hook ${hook} "$@" || true\n`);
    expect(text).not.toContain(dirname(repo.path));
  }
});

it('does what it says when somebody has git run it', async () => {
  await using repo = await hookRepo();
  mkdirSync(repo.paths.forge_dir);
  writeReadableHooks(repo.paths);
  repo.git('config', 'core.hooksPath', '.forge/hooks');
  await repo.writeScript('.git/bin/forge', '#!/bin/sh\necho "[line] $*"\nexit 7\n');
  const env = { PATH: `${join(repo.path, '.git/bin')}:${process.env['PATH']}` };
  const answer = repo.tryGit(['commit', '--allow-empty', '-m', 'x'], { env });
  expect(answer).toMatchObject({ exit: 0, output: expect.stringContaining('[line] hook pre-commit') });
});

it('leaves what is there, gives back the right to run, and can be taken back', async () => {
  await using repo = await hookRepo();
  mkdirSync(repo.paths.forge_dir);
  const undo: (() => void)[] = [];
  writeReadableHooks(repo.paths, undo);
  const file = join(repo.path, '.forge/hooks/pre-commit');
  await repo.write('.forge/hooks/pre-commit', '# mine\n');
  chmodSync(file, 0o644);
  writeReadableHooks(repo.paths);
  expect(await repo.read('.forge/hooks/pre-commit')).toBe('# mine\n');
  expect(statSync(file).mode & 0o777).toBe(0o755);
  for (const step of undo.toReversed()) step();
  expect(existsSync(join(repo.path, '.forge/hooks'))).toBe(false);
});

it('does not follow a link that a repository came with', async () => {
  await using repo = await hookRepo();
  const outside = join(dirname(repo.path), 'outside');
  mkdirSync(outside);
  mkdirSync(repo.paths.forge_dir);
  symlinkSync(outside, join(repo.paths.forge_dir, 'hooks'));
  expect(() => writeReadableHooks(repo.paths)).toThrow('in the way');
  expect(readdirSync(outside)).toEqual([]);
});

import { existsSync } from 'node:fs';
import { basename } from 'node:path';
import { expect, it } from 'vitest';
import { tempFolder, tempRepo, testGitEnv } from './temp-repo.ts';

it('makes a repository of its own on main and removes it', async () => {
  let path: string;
  {
    await using repo = await tempRepo({ folder: 'a b' });
    path = repo.path;
    await repo.write('deep/er/a.txt', 'ä\n');
    expect(await repo.read('deep/er/a.txt')).toBe('ä\n');
    repo.git('add', '.');
    repo.git('commit', '--quiet', '-m', 'first');
    expect(repo.git('log', '--format=%an <%ae> %D')).toBe('Test User <test@example.com> HEAD -> main');
    expect(repo.git('rev-parse', '--show-toplevel')).toBe(path);
    expect(() => repo.git('no-such-command')).toThrow('no-such-command');
  }
  expect(existsSync(path)).toBe(false);
});

it('makes a folder that is no repository', async () => {
  await using folder = await tempFolder({ folder: 'x' });
  expect(basename(folder.path)).toBe('x');
  expect(existsSync(folder.path)).toBe(true);
});

it('keeps the variables of a git that runs the tests out', () => {
  const names = Object.keys(testGitEnv()).filter((name) => name.startsWith('GIT_'));
  expect(names.toSorted()).toEqual(['GIT_CONFIG_GLOBAL', 'GIT_CONFIG_SYSTEM']);
});

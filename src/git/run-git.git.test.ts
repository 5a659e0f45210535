import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { tempFolder, tempRepo, testGitEnv } from '../../tests/support/temp-repo.ts';
import { runGit, runGitSync } from './run-git.ts';

describe.each([
  ['runGit', runGit],
  ['runGitSync', async (...args: Parameters<typeof runGitSync>) => runGitSync(...args)],
])('%s', (_name, run) => {
  it('gives what git prints, and exit 0', async () => {
    await using repo = await tempRepo({ folder: 'a b' });
    const result = await run(['rev-parse', '--show-toplevel'], { cwd: repo.path, env: testGitEnv() });
    expect(result).toEqual({ stdout: `${repo.path}\n`, stderr: '', exit: 0 });
  });

  it('gives an exit code and stderr as a result', async () => {
    await using folder = await tempFolder();
    const result = await run(['rev-parse', '--show-toplevel'], { cwd: folder.path, env: testGitEnv() });
    expect(result).toMatchObject({
      stdout: '',
      exit: 128,
      stderr: expect.stringContaining('not a git repository'),
    });
  });

  it('passes arguments as they are, never through a shell', async () => {
    await using repo = await tempRepo();
    const odd = 'a "b" $(touch x) `id` ; * \'c\'';
    await run(['config', 'test.value', odd], { cwd: repo.path });
    expect(repo.git('config', 'test.value')).toBe(odd);
  });

  it('holds an answer of several megabytes', async () => {
    await using repo = await tempRepo();
    await repo.write('big.txt', `${'x'.repeat(99)}\n`.repeat(30_000));
    repo.git('add', '.');
    const result = await run(['show', ':big.txt'], { cwd: repo.path });
    expect(result.stdout).toHaveLength(3_000_000);
  });

  it('says that git is missing', async () => {
    await using folder = await tempFolder();
    await expect(run(['--version'], { cwd: folder.path, env: { PATH: folder.path } })).rejects.toMatchObject({
      code: 'dependency_missing',
      message: 'git was not found on the PATH',
      hint: expect.stringContaining('Install git'),
    });
  });

  it('says that the folder is missing, not git', async () => {
    await using folder = await tempFolder();
    const cwd = join(folder.path, 'gone');
    await expect(run(['--version'], { cwd })).rejects.toMatchObject({ code: 'io_failed', details: { cwd } });
  });

  it.skipIf(process.platform === 'win32')('shows a killed git as a shell does', async () => {
    await using repo = await tempRepo();
    const kill = ['-c', 'alias.die=!kill -KILL $PPID', 'die'];
    expect(await run(kill, { cwd: repo.path })).toMatchObject({ exit: 137 });
  });
});

it('ends git when the signal fires', async () => {
  await using repo = await tempRepo();
  const stop = new AbortController();
  const waiting = runGit(['cat-file', '--batch'], { cwd: repo.path, signal: stop.signal });
  stop.abort();
  await expect(waiting).rejects.toMatchObject({ code: 'interrupted' });
});

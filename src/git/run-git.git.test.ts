import { chmodSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { tempFolder, tempRepo, testGitEnv } from '../../tests/support/temp-repo.ts';
import { runGit, runGitBytes, runGitSync, startGit, streamGit, toShownStderr } from './run-git.ts';

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

describe('the time limit', () => {
  it.skipIf(process.platform === 'win32').each([
    ['waits for an answer', 'exec sleep 1000'],
    ['does not listen', "trap '' TERM; while :; do sleep 0.1; done"],
  ])('ends a git that %s', async (_name, script) => {
    await using folder = await tempFolder();
    await folder.write('git', `#!/bin/sh\n${script}\n`);
    chmodSync(join(folder.path, 'git'), 0o755);
    const env = { ...testGitEnv(), PATH: `${folder.path}:${process.env['PATH']}` };
    const options = { cwd: folder.path, env, timeout_ms: 50 };
    await expect(runGit(['-c', 'a.b=c', 'fetch', 'origin'], options)).rejects.toMatchObject({
      code: 'io_failed',
      message: 'git fetch did not end within 0.05 s',
      details: { command: 'fetch', timeout_ms: 50 },
    });
  });

  it('does not disturb one that is in time', async () => {
    await using folder = await tempFolder();
    const options = { cwd: folder.path, env: testGitEnv(), timeout_ms: 60_000 };
    expect(await runGit(['--version'], options)).toMatchObject({ exit: 0 });
  });
});

describe('what goes in and comes out', () => {
  it('writes the input to stdin, any bytes of any size', async () => {
    await using repo = await tempRepo();
    const input = Buffer.from(Array.from({ length: 2_000_000 }, (_, at) => (at * 7) % 256));
    const stored = await runGit(['hash-object', '-w', '--stdin'], { cwd: repo.path, input });
    const read = await runGitBytes(['cat-file', 'blob', stored.stdout.trim()], { cwd: repo.path });
    expect(read.stdout.equals(input)).toBe(true);
  });

  it('does not mind a git that ends without reading its input', async () => {
    await using repo = await tempRepo();
    const input = Buffer.alloc(5_000_000);
    expect(await runGit(['rev-parse', 'HEAD^{}'], { cwd: repo.path, input })).toMatchObject({ exit: 128 });
  });

  it('streams an answer in parts, and characters that are split between chunks stay whole', async () => {
    await using repo = await tempRepo();
    const names = Array.from({ length: 4000 }, (_, at) => `größe-名前-${at}`);
    const index = names.map((name) => `100644 ${'1'.repeat(40)} 0\t${name}\0`).join('');
    await runGit(['update-index', '-z', '--index-info'], { cwd: repo.path, input: index });
    const parts: string[] = [];
    for await (const part of streamGit(['ls-files', '-z'], { cwd: repo.path })) parts.push(part);
    expect(parts.toSorted()).toEqual(names.toSorted());
  });

  it('ends a stream with git’s words, or with what kept it from starting', async () => {
    await using folder = await tempFolder();
    const first = (env: NodeJS.ProcessEnv) => streamGit(['log', '-z'], { cwd: folder.path, env }).next();
    await expect(first(testGitEnv())).rejects.toMatchObject({
      code: 'io_failed',
      message: expect.stringContaining('git log failed: fatal: not a git repository'),
    });
    await expect(first({ PATH: folder.path })).rejects.toMatchObject({ code: 'dependency_missing' });
  });

  it('ends a conversation that is left', async () => {
    await using repo = await tempRepo();
    const git = startGit(['cat-file', '--batch'], { cwd: repo.path });
    await git[Symbol.asyncDispose]();
    await expect(git.ended).rejects.toMatchObject({ code: 'io_failed', details: { exit: 143 } });
  });
});

describe('toShownStderr', () => {
  it('is one short line without hints and control characters', () => {
    const stderr = 'remote: \u001b[2Jno\r\nhint: try\n\nfatal: \u202ehidden\n';
    expect(toShownStderr(stderr)).toBe('remote: \\u001b[2Jno / fatal: \\u202ehidden');
    expect(toShownStderr('x'.repeat(1000))).toBe(`${'x'.repeat(300)}…`);
  });

  it('[H5] tells no password of an address, and nothing that looks like a key', () => {
    const token = `ghp_${'a1B2'.repeat(9)}`;
    const stderr = `fatal: unable to access 'https://me:hunter2@example.org/x.git/': 403\nremote: ${token}?`;
    expect(toShownStderr(stderr)).toBe(
      "fatal: unable to access 'https://[redacted]@example.org/x.git/': 403 / remote: [redacted]?",
    );
  });
});

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import type { OutputOf } from '#contract/declare.ts';
import type { examineProject } from '#contract/sync-operations.ts';
import { type ForgeProject, forgeProject } from '../support/forge-cli.ts';

const WORKER = fileURLToPath(new URL('../support/land-worker.ts', import.meta.url));

/** A project in which a merge into main was cut short at that step. */
async function cutShort(
  step: string,
): Promise<ForgeProject & { readonly old: string; readonly commit: string }> {
  const project = await forgeProject();
  await project.write('a.txt', 'old\n');
  await project.write('mine.txt', 'old\n');
  project.git('add', '.');
  project.git('commit', '--quiet', '-m', 'first');
  const old = project.git('rev-parse', 'HEAD');
  project.git('checkout', '--quiet', '--detach');
  await project.write('a.txt', 'landed\n');
  await project.write('new.txt', 'landed\n');
  project.git('add', '.');
  project.git('commit', '--quiet', '-m', 'landed');
  const commit = project.git('rev-parse', 'HEAD');
  project.git('checkout', '--quiet', 'main');
  await project.write('mine.txt', 'mine\n');
  project.git('add', 'mine.txt');
  const args = [WORKER, project.path, old, commit, step, '1', 'group'];
  const child = spawn(process.execPath, args, { detached: true, stdio: 'ignore' });
  expect((await once(child, 'close'))[1]).toBe('SIGKILL');
  return Object.assign(project, { old, commit });
}

describe('[A5] a merge that was cut short in the checkout', () => {
  it.each([
    ['files', 'taken back'],
    ['committed', 'finished'],
  ])('after %s: the next command says that it was %s', async (step, what) => {
    await using project = await cutShort(step);
    const { exit, stderr } = await project.run('ready');
    expect({ exit, stderr }).toEqual({
      exit: 0,
      stderr: `forge: A merge into main was cut short in ${project.path}, and was ${what}\n`,
    });
    expect(project.git('status', '--porcelain')).toBe('M  mine.txt');
    expect(project.git('rev-parse', 'HEAD')).toBe(step === 'files' ? project.old : project.commit);
    expect(existsSync(join(project.path, '.git/index.lock'))).toBe(false);
    expect(await project.run('ready')).toMatchObject({ exit: 0, stderr: '' });
  });

  it('is put right by the hook of a commit, so that the commit has nothing of it', async () => {
    await using project = await cutShort('files');
    // What git's own sentence tells a user to do.
    rmSync(join(project.path, '.git/index.lock'));
    rmSync(join(project.path, '.git/HEAD.lock'));
    rmSync(join(project.path, '.git/refs/heads/main.lock'));
    project.git('add', '--all');
    const { exit } = await project.exec('git', ['commit', '--quiet', '-m', 'mine']);
    expect(exit).toBe(0);
    const names = project.git('show', '--format=', '--name-only').split('\n');
    expect(names.filter((name) => !name.startsWith('.forge/'))).toEqual(['mine.txt']);
    expect(readFileSync(join(project.path, 'a.txt'), 'utf8')).toBe('old\n');
    expect(project.git('status', '--porcelain')).toBe('');
  });

  it('is shown by the doctor where another git is in the way', async () => {
    await using project = await cutShort('files');
    const lock = join(project.path, '.git/index.lock');
    rmSync(lock);
    writeFileSync(lock, 'of another');
    const { stdout } = await project.run('doctor', '--json');
    const { findings, healthy } = JSON.parse(stdout) as OutputOf<typeof examineProject>;
    expect(healthy).toBe(false);
    expect(findings.find(({ name }) => name === 'merge')).toMatchObject({
      state: 'failed',
      message: expect.stringContaining(lock),
    });
    rmSync(lock);
    expect((await project.run('doctor')).exit).toBe(0);
    expect(project.git('status', '--porcelain')).toBe('M  mine.txt');
  });
});

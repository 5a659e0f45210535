import { writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { keepControl } from '#engine/keep-control.ts';
import { isGitTooOld, refuseOldGit } from '#git/read-git-version.ts';
import { findRepository } from '#git/find-repository.ts';
import { runGit, toGitFailure } from '#git/run-git.ts';
import { forgeFolderHere, forgeProjectHere } from './support/forge-here.ts';
import { tempFolder, type TempFolder, tempRepo } from './support/temp-repo.ts';

const HINT = /^Install git 2\.39 or newer/;

/** A folder for the PATH with a git that says to be another; all else is done by the real one. */
async function fakeGit(version: string): Promise<TempFolder & { says(version: string): void; PATH: string }> {
  const folder = await tempFolder();
  const says = (text: string): void => {
    const script = `#!/bin/sh\n[ "$1" = --version ] && { echo "${text}"; exit 0; }\nPATH=\${PATH#*:} exec git "$@"\n`;
    writeFileSync(join(folder.path, 'git'), script, { mode: 0o755 });
  };
  says(version);
  return { ...folder, says, PATH: [folder.path, process.env['PATH']].join(delimiter) };
}

describe.skipIf(process.platform === 'win32')('[F29] a git that is too old', () => {
  it.each([
    ['1.8.3', true],
    ['2.30.1', true],
    ['2.38.5', true],
    ['2.39', false],
    ['2.39.5', false],
    ['2.51.0', false],
    ['3.0.0', false],
    // It tells nothing.
    ['0.0', false],
  ])('%s: %s', (version, isOld) => {
    expect(isGitTooOld(version)).toBe(isOld);
  });

  it('is asked for its version again until it is new enough, and then no more', async () => {
    await using git = await fakeGit('git version 2.38.5');
    const ask = () => refuseOldGit(git.path, { PATH: git.PATH });
    const refused = { code: 'dependency_missing', hint: expect.stringMatching(HINT) };
    await expect(ask()).rejects.toMatchObject(refused);
    git.says('git version 2.39.0.windows.1');
    await ask();
    git.says('git version 2.0.0');
    await ask();
  });

  it('makes no project', async () => {
    await using git = await fakeGit('git version 2.25.1');
    await using folder = await forgeFolderHere();
    const forge = folder.with({ env: { PATH: git.PATH } });
    await folder.exec('git', ['init', '-q']);
    const { error } = await forge.fails('init');
    expect(error).toMatchObject({ code: 'dependency_missing', message: 'git 2.25.1 is too old for Forge' });
    expect(error.hint).toMatch(HINT);
    expect((await folder.exec('ls', ['-a', '.git'])).stdout).not.toContain('forge');
  });

  it('is what forge doctor finds, and everything that only reads goes on', async () => {
    await using git = await fakeGit('git version 2.38.5');
    await using project = await forgeProjectHere();
    const forge = project.with({ env: { PATH: git.PATH } });
    const { exit, stdout } = await forge.run('doctor');
    expect(exit).toBe(1);
    expect(stdout).toMatch(/^FAILED\s+git\s+git 2\.38\.5 is too old for Forge\n {2}try: Install git 2\.39/m);
    await project.create('One');
    expect(await forge.text('ready')).toContain('One');
  });

  it('starts no work on an attempt', async () => {
    await using git = await fakeGit('git version 2.38.5');
    await using repo = await tempRepo();
    const found = findRepository(repo.path);
    expect(found).toBeDefined();
    if (found === undefined) return;
    const open = keepControl({
      repo: { ...found, env: { PATH: git.PATH } },
      project: { name: 'x', prefix: 'x', root: repo.path },
      clock: { now: () => 0 },
    });
    await expect(open([])).rejects.toMatchObject({ code: 'dependency_missing' });
  });

  it.each([
    ['an option', ['merge-tree', '--no-such-option', 'HEAD', 'HEAD']],
    ['a command', ['no-such-command']],
  ])('says so by how it fails on %s that it does not know', async (_what, args) => {
    await using repo = await tempRepo();
    const failure = toGitFailure(args, await runGit(args, { cwd: repo.path }));
    expect(failure).toMatchObject({ code: 'dependency_missing', hint: expect.stringMatching(HINT) });
    expect(failure.message).toContain('does not know what Forge asks of it');
  });

  it('is not blamed for what fails otherwise', async () => {
    await using repo = await tempRepo();
    const args = ['cat-file', 'blob', 'HEAD:none'];
    expect(toGitFailure(args, await runGit(args, { cwd: repo.path }))).toMatchObject({ code: 'io_failed' });
  });
});

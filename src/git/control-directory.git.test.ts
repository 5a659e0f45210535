import { execFile } from 'node:child_process';
import { chownSync, existsSync, lstatSync, readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { GIT_PLACES, gitPlace } from '../../tests/support/git-places.ts';
import { runTestGit } from '../../tests/support/temp-repo.ts';
import { askGit, getFromGit } from './ask-git.ts';
import { openControlDirectory } from './control-directory.ts';
import { parseGitConfig } from './parse-git-config.ts';

const keysOf = (path: string) => (parseGitConfig(readFileSync(path, 'utf8')) ?? []).map(({ key }) => key);

describe('openControlDirectory', () => {
  it.each(GIT_PLACES)('opens a git directory with the objects of the user, in %s', async (shape) => {
    await using place = await gitPlace(shape);
    const before = place.git('status', '--porcelain');
    const control = await openControlDirectory(place.repo);
    expect(control.git_dir).toBe(join(place.repo.common_dir, 'forge', 'control.git'));
    const head = place.git('rev-parse', 'HEAD');
    expect(await getFromGit(control, ['cat-file', '-t', head])).toBe('commit');
    expect(await getFromGit(control, ['rev-parse', '--is-bare-repository', '--absolute-git-dir'])).toBe(
      `true\n${control.git_dir}`,
    );
    expect(control.object_format).toBe(shape === 'sha256' ? 'sha256' : 'sha1');
    const stored = await getFromGit(control, ['hash-object', '-w', '--stdin'], { input: 'new' });
    expect(place.git('cat-file', '-p', stored)).toBe('new');
    expect(existsSync(join(control.git_dir, 'hooks'))).toBe(false);
    expect(place.git('status', '--porcelain')).toBe(before);
  });

  it('copies what is on the list and nothing else', async () => {
    await using place = await gitPlace();
    const settings: [string, string][] = [
      ['core.autocrlf', 'input'],
      ['i18n.commitEncoding', 'UTF-8'],
      ['remote.a "b".c.url', 'https://example.com/x'],
      ['lfs.locksverify', 'true'],
      ['filter.lfs.smudge', 'git-lfs smudge -- %f'],
      ['filter.lfs.clean', 'git-lfs clean -- %f'],
      ['lfs.customtransfer.x.path', 'evil'],
      ['core.hooksPath', 'evil'],
      ['core.fsmonitor', 'evil'],
      ['core.sshCommand', 'evil'],
      ['filter.x.clean', 'tidy'],
      ['merge.x.driver', 'evil'],
      ['alias.status', '!evil'],
      ['credential.helper', '!evil'],
      ['gpg.program', 'evil'],
      ['diff.external', 'evil'],
      ['remote.origin.uploadpack', 'evil'],
      ['submodule.x.update', '!evil'],
      ['include.path', 'evil'],
    ];
    for (const [key, value] of settings) place.git('config', key, value);
    const control = await openControlDirectory(place.repo, {
      settings: [{ key: 'merge.forge.driver', value: 'a "b" \\c\n' }],
    });
    const path = join(control.git_dir, 'config');
    expect(readFileSync(path, 'utf8')).not.toContain('evil');
    expect(keysOf(path)).toEqual(
      expect.arrayContaining([
        'core.autocrlf',
        'filter.lfs.smudge',
        'filter.x.clean',
        'lfs.locksverify',
        'remote.a "b".c.url',
        'user.email',
        'forge.project',
        'lfs.storage',
      ]),
    );
    // And git reads what was written.
    const read = (key: string) => getFromGit(control, ['config', '--get', key]);
    expect(await read('merge.forge.driver')).toBe('a "b" \\c\n');
    expect(await read('remote.a "b".c.url')).toBe('https://example.com/x');
    expect(await read('forge.project')).toBe(place.path);
    // A filter of the user's own runs where the user's git would run it; LFS as it is.
    expect(await read('filter.x.clean')).toMatch(/^cd '.+' && unset GIT_DIR [A-Z_ ]+ && tidy$/);
    expect(await read('filter.x.required')).toBe('true');
    expect(await read('filter.lfs.clean')).toBe('git-lfs clean -- %f');
    expect(lstatSync(path).mode & 0o777).toBe(0o600);
  });

  it("follows the user's configuration, and has the identity that an include gives", async () => {
    await using place = await gitPlace();
    place.git('config', '--unset', 'user.email');
    await place.write('../identity', '[user]\n\temail = included@example.com\n');
    await place.write(
      '../global',
      `[includeIf "gitdir:${place.path}/.git"]\n\tpath = ${join(place.path, '../identity')}\n`,
    );
    const env = { ...place.repo.env, GIT_CONFIG_GLOBAL: join(place.path, '../global') };
    const control = await openControlDirectory({ ...place.repo, env });
    expect(await getFromGit(control, ['config', '--get', 'user.email'])).toBe('included@example.com');
    place.git('config', 'user.name', 'Somebody Else');
    await openControlDirectory({ ...place.repo, env });
    expect(await getFromGit(control, ['config', '--get', 'user.name'])).toBe('Somebody Else');
  });

  it('[E9] [E12] has no say of an inherited GIT_ variable, asks nobody and reaches only whom it may', async () => {
    await using place = await gitPlace();
    const planted = { GIT_DIR: '/nowhere', GIT_INDEX_FILE: '/nowhere', GIT_OBJECT_DIRECTORY: '/nowhere' };
    const control = await openControlDirectory({ ...place.repo, env: { ...place.repo.env, ...planted } });
    const env = await getFromGit(control, ['-c', 'alias.env=!env', 'env']);
    expect(env).not.toContain('/nowhere');
    expect(env).toMatch(/^GIT_TERMINAL_PROMPT=0$/m);
    const fetch = (url: string) => askGit(control, ['fetch', url]);
    for (const url of [place.path, 'ext::sh -c true', 'git://127.0.0.1/x', 'http://127.0.0.1/x'])
      expect((await fetch(url)).stderr).toMatch(/transport '.+' not allowed/);
    // A bare repository that lies in a tree is no repository to it.
    expect(control.settings).toContain('safe.bareRepository=explicit');
  });

  it('ends a git that takes too long', async () => {
    await using place = await gitPlace();
    const control = await openControlDirectory(place.repo, { timeout_ms: 5_000 });
    const slow = { ...control, timeout_ms: 100 };
    await expect(getFromGit(slow, ['-c', 'alias.wait=!exec sleep 60', 'wait'])).rejects.toMatchObject({
      message: 'git wait did not end within 0.1 s',
    });
  });

  it('links what is shallow, and excludes what the user excludes and what is copied', async () => {
    await using place = await gitPlace();
    await place.write('.git/info/exclude', 'mine');
    const control = await openControlDirectory(place.repo, { copied: ['.env*'] });
    expect(readlinkSync(join(control.git_dir, 'shallow'))).toBe(join(place.repo.common_dir, 'shallow'));
    expect(readFileSync(join(control.git_dir, 'info/exclude'), 'utf8')).toBe('mine\n.env*\n');
  });

  it.skipIf(process.getuid?.() !== 0)('[E5] refuses a repository of another user', async () => {
    await using place = await gitPlace();
    for (const path of [place.path, join(place.path, '.git')]) chownSync(path, 12_345, 12_345);
    await expect(openControlDirectory(place.repo)).rejects.toMatchObject({
      code: 'permission_denied',
      hint: expect.stringContaining('safe.directory'),
    });
    expect(existsSync(join(place.path, '.git', 'forge'))).toBe(false);
  });

  it('refuses what is no repository any more', async () => {
    await using place = await gitPlace();
    await place.write('.git/HEAD', 'rubbish');
    await expect(openControlDirectory(place.repo)).rejects.toMatchObject({ code: 'not_a_repository' });
  });

  it('is opened by many processes at once', async () => {
    await using place = await gitPlace();
    const script = `
      const { openControlDirectory } = await import('#git/control-directory.ts');
      const { getFromGit } = await import('#git/ask-git.ts');
      for (let round = 0; round < 10; round += 1) {
        const opened = Array.from({ length: 5 }, () => openControlDirectory(${JSON.stringify(place.repo)}));
        for (const control of await Promise.all(opened)) await getFromGit(control, ['config', 'forge.project']);
      }`;
    const args = ['--input-type=module', '--eval', script];
    const runs = Array.from({ length: 5 }, () =>
      promisify(execFile)(process.execPath, args, { cwd: process.cwd() }),
    );
    await expect(Promise.all(runs)).resolves.toHaveLength(5);
    const folder = join(place.repo.common_dir, 'forge/control.git');
    expect(readdirSync(folder).sort()).toEqual([
      'HEAD',
      'attempts',
      'config',
      'info',
      'objects',
      'refs',
      'shallow',
    ]);
    expect(runTestGit(folder, ['rev-parse', '--git-dir'])).toBe('.');
  });
});

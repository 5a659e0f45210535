import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { gitPlace } from '../../tests/support/git-places.ts';
import { runTestGit, testGitEnv } from '../../tests/support/temp-repo.ts';
import { askGit, getFromGit } from './ask-git.ts';
import { gitEnvironment } from './git-environment.ts';
import { runGit } from './run-git.ts';

describe('gitEnvironment', () => {
  it('[E12] drops everything that git itself calls local to a repository', async () => {
    await using place = await gitPlace();
    const local = place.git('rev-parse', '--local-env-vars').split('\n');
    const names = [
      ...local,
      'GIT_NAMESPACE',
      'GIT_CEILING_DIRECTORIES',
      'GIT_EXTERNAL_DIFF',
      'GIT_REFLOG_ACTION',
    ];
    const kept = gitEnvironment(Object.fromEntries(names.map((name) => [name, 'x'])));
    // Settings given to this very command (`git -c …`) are the person's.
    expect(Object.keys(kept).sort()).toEqual([
      'GIT_CONFIG_COUNT',
      'GIT_CONFIG_PARAMETERS',
      'GIT_EDITOR',
      'GIT_PAGER',
      'GIT_TERMINAL_PROMPT',
      'LC_ALL',
    ]);
    expect(local).toContain('GIT_INDEX_FILE');
  });

  it('keeps who somebody is and how they reach a server', () => {
    const env = {
      PATH: '/bin',
      HOME: '/home/ada',
      SSH_AUTH_SOCK: '/run/agent',
      GIT_SSH_COMMAND: 'ssh -i key',
      GIT_ASKPASS: '/bin/ask',
      GIT_SSL_CAINFO: '/ca.pem',
      GIT_AUTHOR_NAME: 'Ada',
      GIT_COMMITTER_DATE: '2026-01-01T00:00:00Z',
      GIT_CONFIG_GLOBAL: '/dev/null',
      GIT_ALLOW_PROTOCOL: 'https',
    };
    expect(gitEnvironment({ ...env, MISSING: undefined })).toEqual({
      ...env,
      LC_ALL: 'C',
      GIT_TERMINAL_PROMPT: '0',
      GIT_PAGER: 'cat',
      GIT_EDITOR: 'false',
    });
  });

  it('does not take the author of the commit that a hook runs in for ours', () => {
    const author = { GIT_AUTHOR_NAME: 'Other', GIT_AUTHOR_EMAIL: 'o@x', GIT_AUTHOR_DATE: '1 +0000' };
    expect(gitEnvironment(author)).toMatchObject(author);
    expect(Object.keys(gitEnvironment({ ...author, GIT_INDEX_FILE: '.git/index' }))).not.toContain(
      'GIT_AUTHOR_NAME',
    );
    const committer = { GIT_COMMITTER_NAME: 'Me', GIT_COMMITTER_EMAIL: 'm@x' };
    const kept = gitEnvironment({ ...author, ...committer, GIT_DIR: '.git' });
    expect(kept).toMatchObject({ GIT_AUTHOR_NAME: 'Me', GIT_AUTHOR_EMAIL: 'm@x' });
    expect(kept).not.toHaveProperty('GIT_AUTHOR_DATE');
  });

  it('speaks English whatever the language', () => {
    expect(gitEnvironment({ LANG: 'de_DE.UTF-8', LC_ALL: 'de_DE.UTF-8' })).toMatchObject({ LC_ALL: 'C' });
  });
});

describe('git as Forge runs it', () => {
  it('[E12] works on its own repository inside a hook of another', async () => {
    await using place = await gitPlace();
    await using other = await gitPlace();
    const hook = {
      GIT_DIR: join(other.path, '.git'),
      GIT_WORK_TREE: other.path,
      GIT_INDEX_FILE: join(other.path, '.git', 'index'),
      GIT_PREFIX: 'src/',
    };
    const show = ['rev-parse', '--show-toplevel'];
    // The planted variables do mislead a git that inherits them.
    const misled = await runGit(show, { cwd: place.path, env: { ...testGitEnv(), ...hook } });
    expect(misled.stdout.trim()).toBe(other.path);
    expect(await getFromGit({ ...place.repo, env: { ...testGitEnv(), ...hook } }, show)).toBe(place.path);
  });

  it('runs no hook and no file-system monitor of the repository', async () => {
    await using place = await gitPlace();
    const trap = '#!/bin/sh\necho ran >> "$(git rev-parse --git-common-dir)/trapped"\n';
    await place.write('.git/hooks/reference-transaction', trap);
    await place.write('.git/hooks/post-index-change', trap);
    await place.write('.git/monitor', trap);
    for (const file of ['hooks/reference-transaction', 'hooks/post-index-change', 'monitor'])
      runTestGit(place.path, ['-c', `alias.x=!chmod +x .git/${file}`, 'x']);
    place.git('config', 'core.fsmonitor', '.git/monitor');
    const trapped = () => place.read('.git/trapped').catch(() => '');
    await place.write('b.txt', 'b\n');
    await askGit(place.repo, ['add', 'b.txt']);
    await askGit(place.repo, ['update-ref', 'refs/heads/x', 'HEAD']);
    expect(await trapped()).toBe('');
    // The traps are real ones.
    place.git('update-ref', 'refs/heads/y', 'HEAD');
    expect(await trapped()).toContain('ran');
  });

  it('[E10] gives git’s words when it fails, shortened and without control characters', async () => {
    await using place = await gitPlace();
    await expect(getFromGit(place.repo, ['rev-parse', '--verify', '\u001b[31mred'])).rejects.toMatchObject({
      code: 'io_failed',
      message: expect.stringMatching(/^git rev-parse failed: [^\u001b]*$/),
      details: { command: 'rev-parse', exit: 128 },
    });
  });
});

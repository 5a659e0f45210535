import { existsSync } from 'node:fs';
import { chmod, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { describe, expect, it, vi } from 'vitest';
import { GIT_PLACES, type GitPlace, gitPlace } from '../../tests/support/git-places.ts';
import { tempFolder, testGitEnv } from '../../tests/support/temp-repo.ts';
import { type CommitRequest, commitFiles } from './commit-files.ts';

type Files = Readonly<Record<string, string | null>>;

function commit(place: GitPlace, files: Files, more: Partial<CommitRequest> = {}) {
  const bytes = Object.entries(files).map(
    ([path, text]) => [path, text === null ? null : Buffer.from(text)] as const,
  );
  return commitFiles({
    repo: place.repo,
    files: new Map(bytes),
    message: 'tasks',
    ref: 'HEAD',
    patience_ms: 200,
    ...more,
  });
}

const status = (place: GitPlace) =>
  place.git('status', '--porcelain', '--untracked-files=all', '--ignore-submodules');
const show = (place: GitPlace, name: string) => place.git('show', name);

describe.each(GIT_PLACES)('commitFiles to HEAD in a repository of the shape "%s"', (shape) => {
  it('commits the files alone, and index and working tree follow', async () => {
    await using place = await gitPlace(shape);
    const before = place.git('rev-parse', 'HEAD');
    const result = await commit(place, { '.forge/tasks.jsonl': 'one\n', 'a.txt': 'changed\n' });
    expect(result).toEqual({ commit: place.git('rev-parse', 'HEAD'), changed: true, kept: [] });
    expect(place.git('rev-parse', 'HEAD~1')).toBe(before);
    expect(show(place, 'HEAD:.forge/tasks.jsonl')).toBe('one');
    expect(await place.read('.forge/tasks.jsonl')).toBe('one\n');
    expect(await place.read('a.txt')).toBe('changed\n');
    expect(status(place)).toBe('');
    expect(place.git('fsck', '--strict')).not.toContain('error');
    expect(place.git('log', '-1', '--format=%an <%ae> %cn %B')).toBe(
      'Test User <test@example.com> Test User tasks\n',
    );
    expect(place.git('reflog', '-1', '--format=%gs')).toBe('forge commit: tasks');
  });

  it('makes no commit where nothing changes', async () => {
    await using place = await gitPlace(shape);
    const head = place.git('rev-parse', 'HEAD');
    expect(await commit(place, { 'a.txt': 'a\n', 'gone.txt': null })).toEqual({
      commit: head,
      changed: false,
      kept: [],
    });
    expect(place.git('rev-parse', 'HEAD')).toBe(head);
  });

  it('removes files, also the last one', async () => {
    await using place = await gitPlace(shape);
    expect(await commit(place, { 'a.txt': null })).toMatchObject({ changed: true, kept: [] });
    expect(place.git('ls-tree', '-r', '--name-only', 'HEAD')).toBe('');
    expect(existsSync(join(place.path, 'a.txt'))).toBe(false);
    expect(status(place)).toBe('');
  });
});

describe('commitFiles to HEAD', () => {
  it('makes the first commit of a repository', async () => {
    await using place = await gitPlace('without commits');
    await place.write('mine.txt', 'mine\n');
    place.git('add', 'mine.txt');
    expect(await commit(place, { 'nothing.txt': null })).toEqual({
      commit: undefined,
      changed: false,
      kept: [],
    });
    const result = await commit(place, { 'a/b/c.txt': 'c\n' });
    expect(result).toMatchObject({ commit: place.git('rev-parse', 'main'), changed: true });
    expect(place.git('ls-tree', '-r', '--name-only', 'HEAD')).toBe('a/b/c.txt');
    expect(status(place)).toBe('A  mine.txt');
  });

  it('leaves what is staged and edited elsewhere byte for byte', async () => {
    await using place = await gitPlace();
    await place.write('staged.txt', 'staged\n');
    place.git('add', 'staged.txt');
    await place.write('staged.txt', 'staged and edited\n');
    await place.write('a.txt', 'edited\n');
    await place.write('untracked.txt', 'untracked\n');
    await place.write('intended.txt', 'intended\n');
    place.git('add', '--intent-to-add', 'intended.txt');
    const [before, diff, cached] = [status(place), place.git('diff'), place.git('diff', '--cached')];
    expect(await commit(place, { tasks: 'tasks\n' })).toMatchObject({ changed: true, kept: [] });
    expect([status(place), place.git('diff'), place.git('diff', '--cached')]).toEqual([before, diff, cached]);
    expect(show(place, ':staged.txt')).toBe('staged');
    expect(place.git('diff', '--name-only', 'HEAD~1', 'HEAD')).toBe('tasks');
  });

  it('leaves the user’s own version of a committed file where it is', async () => {
    await using place = await gitPlace();
    await commit(place, { staged: 'old\n', edited: 'old\n', removed: 'old\n', both: 'old\n' });
    await place.write('staged', 'mine\n');
    place.git('add', 'staged');
    await place.write('edited', 'mine\n');
    await rm(join(place.path, 'removed'));
    place.git('rm', '--quiet', '--cached', 'both');
    const result = await commit(place, { staged: 'new\n', edited: 'new\n', removed: 'new\n', both: 'new\n' });
    expect(result.kept).toEqual(['staged', 'edited', 'removed', 'both']);
    expect(show(place, 'HEAD:staged')).toBe('new');
    expect(show(place, ':staged')).toBe('mine');
    expect(await place.read('staged')).toBe('mine\n');
    expect(await place.read('edited')).toBe('mine\n');
    expect(await place.read('both')).toBe('old\n');
    expect(existsSync(join(place.path, 'removed'))).toBe(false);
    expect(status(place).split('\n').sort()).toEqual(
      [' D removed', ' M edited', '?? both', 'D  both', 'M  staged'].sort(),
    );
  });

  it('leaves a file alone that is there already as it was committed', async () => {
    await using place = await gitPlace();
    await place.write('tasks', 'new\n');
    const { mtimeMs, ino } = await stat(join(place.path, 'tasks'));
    expect(await commit(place, { tasks: 'new\n' })).toMatchObject({ changed: true, kept: [] });
    expect(await stat(join(place.path, 'tasks'))).toMatchObject({
      mtimeMs,
      ino,
    });
    expect(status(place)).toBe('');
  });

  it('keeps the mode of a file and makes a file of a link', async () => {
    await using place = await gitPlace();
    await place.write('run.sh', 'old\n');
    await chmod(join(place.path, 'run.sh'), 0o755);
    await symlink('a.txt', join(place.path, 'link'));
    place.git('add', '.');
    place.git('commit', '--quiet', '-m', 'modes');
    const result = await commit(place, { 'run.sh': 'new\n', link: 'text\n' });
    expect(place.git('ls-tree', 'HEAD', 'run.sh', 'link')).toMatch(
      /^100644 blob \w+\tlink\n100755 blob \w+\trun\.sh$/,
    );
    // A link on disk may lead anywhere: it is not written through.
    expect(result.kept).toEqual(['link']);
    expect(await place.read('a.txt')).toBe('a\n');
    expect(status(place)).toBe(' T link');
  });

  it('writes nothing through a folder that is a link', async () => {
    await using outside = await tempFolder();
    await using place = await gitPlace();
    await symlink(outside.path, join(place.path, 'dir'));
    expect((await commit(place, { 'dir/tasks': 'x\n' })).kept).toEqual(['dir/tasks']);
    expect(existsSync(join(outside.path, 'tasks'))).toBe(false);
    expect(show(place, 'HEAD:dir/tasks')).toBe('x');
  });

  it('stores files as git add would', async () => {
    await using place = await gitPlace();
    await place.write('.gitattributes', '*.txt text eol=crlf\n*.up filter=up\n');
    place.git('config', 'filter.up.clean', 'tr a-z A-Z');
    place.git('config', 'filter.up.smudge', 'tr A-Z a-z');
    place.git('add', '.');
    place.git('commit', '--quiet', '-m', 'attributes');
    expect(await commit(place, { 'a.txt': 'one\r\ntwo\r\n', 'b.up': 'loud' })).toMatchObject({ kept: [] });
    expect(show(place, 'HEAD:a.txt')).toBe('one\ntwo');
    expect(show(place, 'HEAD:b.up')).toBe('LOUD');
    expect(await place.read('a.txt')).toBe('one\r\ntwo\r\n');
    expect(await place.read('b.up')).toBe('loud');
    expect(status(place)).toBe('');
  });

  it('puts a file where a folder was', async () => {
    await using place = await gitPlace();
    await commit(place, { 'x/y': 'y\n' });
    const result = await commit(place, { x: 'x\n', 'x/y': null });
    expect(place.git('ls-tree', '-r', '--name-only', 'HEAD')).toBe('a.txt\nx');
    expect(result.changed).toBe(true);
  });

  it('leaves nothing behind in the git directory or the temporary one', async () => {
    await using place = await gitPlace();
    await using temporary = await tempFolder();
    place.git('config', 'core.splitIndex', 'true');
    place.git('status');
    const look = async () =>
      (await readdir(join(place.path, '.git'))).filter((name) => !name.startsWith('sharedindex'));
    const before = await look();
    vi.stubEnv('TMPDIR', temporary.path);
    try {
      expect(tmpdir()).toBe(temporary.path);
      await commit(place, { tasks: 'x\n' });
    } finally {
      vi.unstubAllEnvs();
    }
    expect(await look()).toEqual(before);
    expect(await readdir(temporary.path)).toEqual([]);
    expect(status(place)).toBe('');
  });

  it.each(['../out', '/etc/x', '.git/config', 'a/../../b', ''])('refuses the path %j', async (path) => {
    await using place = await gitPlace();
    const head = place.git('rev-parse', 'HEAD');
    await expect(commit(place, { [path]: 'x' })).rejects.toMatchObject({ code: 'io_failed' });
    expect(place.git('rev-parse', 'HEAD')).toBe(head);
    expect(status(place)).toBe('');
  });

  it('refuses in the middle of a merge, and says how to go on', async () => {
    await using place = await gitPlace();
    place.git('checkout', '--quiet', '-b', 'side');
    await commit(place, { 'a.txt': 'side\n' });
    place.git('checkout', '--quiet', 'main');
    await commit(place, { 'a.txt': 'main\n' });
    expect(() => place.git('merge', 'side')).toThrow('Command failed');
    const [head, before] = [place.git('rev-parse', 'HEAD'), status(place)];
    await expect(commit(place, { tasks: 'x\n' })).rejects.toMatchObject({
      code: 'state_invalid',
      message: 'git is in the middle of a merge here',
      hint: 'Finish it first (git merge --continue), or give it up (git merge --abort)',
    });
    expect([place.git('rev-parse', 'HEAD'), status(place)]).toEqual([head, before]);
  });

  it('refuses while another git holds the index, and changes nothing', async () => {
    await using place = await gitPlace();
    const head = place.git('rev-parse', 'HEAD');
    await writeFile(join(place.path, '.git', 'index.lock'), '');
    await expect(commit(place, { tasks: 'x\n' })).rejects.toMatchObject({
      code: 'store_busy',
      message: expect.stringContaining('index.lock'),
    });
    expect(place.git('rev-parse', 'HEAD')).toBe(head);
  });

  it('waits for an index that is free soon', async () => {
    await using place = await gitPlace();
    const lock = join(place.path, '.git', 'index.lock');
    await writeFile(lock, '');
    const waiting = commit(place, { tasks: 'x\n' }, { patience_ms: 10_000 });
    await setTimeout(60);
    await rm(lock);
    expect(await waiting).toMatchObject({ changed: true, kept: [] });
    expect(status(place)).toBe('');
  });

  it('says so when the index could not follow', async () => {
    await using place = await gitPlace();
    // The clean filter runs after the look at the lock, and leaves one that nobody releases.
    await place.write('.gitattributes', 'tasks filter=lock\n');
    place.git('add', '.');
    place.git('commit', '--quiet', '-m', 'attributes');
    place.git('config', 'filter.lock.clean', `touch '${join(place.path, '.git', 'index.lock')}'; cat`);
    const result = await commit(place, { tasks: 'x\n' });
    expect(result).toMatchObject({ changed: true, index_failure: expect.stringContaining('index.lock') });
    expect(result.commit).toBe(place.git('rev-parse', 'HEAD'));
    expect(show(place, 'HEAD:tasks')).toBe('x');
  });

  it('works on its own index inside a hook', async () => {
    await using place = await gitPlace();
    await using other = await gitPlace();
    const index = join(other.path, '.git', 'index');
    const before = await readFile(index);
    const env = {
      ...testGitEnv(),
      GIT_DIR: join(other.path, '.git'),
      GIT_INDEX_FILE: index,
      GIT_AUTHOR_NAME: 'Other',
    };
    await commit(place, { tasks: 'x\n' }, { repo: { ...place.repo, env } });
    expect((await readFile(index)).equals(before)).toBe(true);
    expect(place.git('log', '-1', '--format=%an %s')).toBe('Test User tasks');
    expect(status(other)).toBe('');
  });
});

describe('commitFiles to a branch', () => {
  const ref = 'refs/heads/forge';

  it.each(['sha1', 'sha256', 'linked worktree'] as const)(
    'makes and moves it without a trace in %s',
    async (shape) => {
      await using place = await gitPlace(shape);
      await place.write('mine.txt', 'mine\n');
      place.git('add', 'mine.txt');
      const before = [status(place), place.git('rev-parse', 'HEAD')];
      const first = await commit(place, { tasks: 'one\n' }, { ref });
      const second = await commit(place, { tasks: 'two\n', more: 'more\n' }, { ref });
      expect(place.git('rev-list', ref).split('\n')).toEqual([second.commit, first.commit]);
      expect(place.git('ls-tree', '-r', '--name-only', ref)).toBe('more\ntasks');
      expect([status(place), place.git('rev-parse', 'HEAD')]).toEqual(before);
      expect(await commit(place, { tasks: 'two\n' }, { ref })).toMatchObject({
        changed: false,
        commit: second.commit,
      });
    },
  );

  it('does not mind a merge or a held index in the working tree', async () => {
    await using place = await gitPlace();
    await place.write('.git/MERGE_HEAD', place.git('rev-parse', 'HEAD'));
    await place.write('.git/index.lock', '');
    expect(await commit(place, { tasks: 'one\n' }, { ref })).toMatchObject({ changed: true });
  });

  it('commits on top of the expected commit, or not at all', async () => {
    await using place = await gitPlace();
    const first = await commit(place, { tasks: 'one\n' }, { ref });
    const onTop = first.commit ?? '';
    const second = await commit(place, { tasks: 'two\n' }, { ref, onTop });
    expect(second.changed).toBe(true);
    await expect(commit(place, { tasks: 'three\n' }, { ref, onTop })).rejects.toMatchObject({
      code: 'version_conflict',
    });
    expect(place.git('rev-parse', ref)).toBe(second.commit);
  });

  it('refuses a branch that a working tree has', async () => {
    await using place = await gitPlace('linked worktree');
    for (const branch of ['main', 'elsewhere']) {
      await expect(commit(place, { tasks: 'x' }, { ref: `refs/heads/${branch}` })).rejects.toMatchObject({
        code: 'state_invalid',
        message: expect.stringContaining(`Branch ${branch} is checked out in /`),
      });
    }
  });

  it.each(['forge', 'refs/tags/x', '--all', 'refs/heads/../x', 'refs/heads/a b'])(
    'refuses the ref %j',
    async (name) => {
      await using place = await gitPlace();
      const refs = place.git('for-each-ref');
      await expect(commit(place, { tasks: 'x' }, { ref: name })).rejects.toMatchObject({
        code: expect.stringMatching(/^(invalid_input|io_failed)$/),
      });
      expect(place.git('for-each-ref')).toBe(refs);
    },
  );
});

describe('who commits', () => {
  it('asks for an identity with the commands that set it', async () => {
    await using place = await gitPlace();
    place.git('config', '--unset', 'user.name');
    place.git('config', '--unset', 'user.email');
    place.git('config', 'user.useConfigOnly', 'true');
    const head = place.git('rev-parse', 'HEAD');
    await expect(commit(place, { tasks: 'x\n' })).rejects.toMatchObject({
      code: 'state_invalid',
      hint: 'git config user.name "Your Name" && git config user.email you@example.com',
    });
    expect(place.git('rev-parse', 'HEAD')).toBe(head);
    const env = {
      ...testGitEnv(),
      GIT_AUTHOR_NAME: 'Env',
      GIT_AUTHOR_EMAIL: 'e@x',
      GIT_COMMITTER_NAME: 'Env',
      GIT_COMMITTER_EMAIL: 'e@x',
    };
    expect(await commit(place, { tasks: 'x\n' }, { repo: { ...place.repo, env } })).toMatchObject({
      changed: true,
    });
    expect(place.git('log', '-1', '--format=%an <%ae>')).toBe('Env <e@x>');
  });

  it('signs where commit.gpgSign says so', async () => {
    await using place = await gitPlace();
    const signer = join(place.path, '.git', 'signer');
    await writeFile(signer, '#!/bin/sh\ncat >/dev/null\necho "[GNUPG:] SIG_CREATED " >&2\necho signature\n', {
      mode: 0o755,
    });
    place.git('config', 'gpg.program', signer);
    await commit(place, { tasks: 'unsigned\n' });
    expect(place.git('cat-file', 'commit', 'HEAD')).not.toContain('gpgsig');
    place.git('config', 'commit.gpgSign', 'true');
    await commit(place, { tasks: 'signed\n' });
    expect(place.git('cat-file', 'commit', 'HEAD')).toContain('gpgsig signature');
    place.git('config', 'gpg.program', 'false');
    const head = place.git('rev-parse', 'HEAD');
    await expect(commit(place, { tasks: 'not signed\n' })).rejects.toMatchObject({
      code: 'io_failed',
      message: expect.stringContaining('could not sign'),
    });
    expect(place.git('rev-parse', 'HEAD')).toBe(head);
  });
});

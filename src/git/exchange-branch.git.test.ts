import { existsSync } from 'node:fs';
import { chmod, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { gitClones, type GitPlace, gitPlace } from '../../tests/support/git-places.ts';
import { runTestGit, tempFolder } from '../../tests/support/temp-repo.ts';
import { commitFiles } from './commit-files.ts';
import { exchangeBranch, type ExchangeRequest } from './exchange-branch.ts';
import { readBlob } from './read-blob.ts';

const FILE = 'tasks.jsonl';
const BRANCH = 'forge';
const REF = `refs/heads/${BRANCH}`;

/** The lines of both sides and some more, sorted: a join like the real one, which loses nothing. */
function joinLines(place: GitPlace, ...added: string[]): ExchangeRequest['join'] {
  return async (theirs, ours) => {
    const lines = new Set(added);
    for (const commit of [theirs, ours]) {
      const bytes = commit === undefined ? undefined : await readBlob(place.repo, commit, FILE);
      for (const line of bytes?.toString().split('\n').filter(Boolean) ?? []) lines.add(line);
    }
    if (lines.size === 0) return new Map();
    return new Map([
      [
        FILE,
        Buffer.from(
          [...lines]
            .sort()
            .map((line) => `${line}\n`)
            .join(''),
        ),
      ],
    ]);
  };
}

function exchange(place: GitPlace, lines: readonly string[] = [], more: Partial<ExchangeRequest> = {}) {
  const join = joinLines(place, ...lines);
  return exchangeBranch({
    repo: place.repo,
    remote: 'origin',
    branch: BRANCH,
    join,
    message: 'sync',
    ...more,
  });
}

async function twoClones() {
  const { remote, clones, [Symbol.asyncDispose]: dispose } = await gitClones(2);
  const [one, two] = clones;
  if (one === undefined || two === undefined) throw new Error('two clones');
  return {
    remote,
    one,
    two,
    server: (...args: string[]) => runTestGit(remote, args),
    [Symbol.asyncDispose]: dispose,
  };
}

const linesOf = (text: string) => text.split('\n').filter(Boolean);

describe('exchangeBranch', () => {
  it('makes the branch here and on the remote, and nothing else', async () => {
    await using both = await twoClones();
    const { one, server } = both;
    const before = [one.git('status', '--porcelain'), one.git('rev-parse', 'HEAD'), one.git('tag')];
    const result = await exchange(one, ['a']);
    expect(result).toEqual({ commit: one.git('rev-parse', REF), pushed: true, outcome: 'pushed' });
    expect(server('rev-parse', REF)).toBe(result.commit);
    expect(one.git('rev-parse', 'refs/remotes/origin/forge')).toBe(result.commit);
    expect([one.git('status', '--porcelain'), one.git('rev-parse', 'HEAD'), one.git('tag')]).toEqual(before);
    expect(existsSync(join(one.path, '.git', 'FETCH_HEAD'))).toBe(false);
    expect(await exchange(one)).toEqual({ commit: result.commit, pushed: true, outcome: 'up_to_date' });
  });

  it('does nothing where there is nothing', async () => {
    await using both = await twoClones();
    expect(await exchange(both.one)).toMatchObject({ commit: undefined, pushed: false, outcome: 'nothing' });
    expect(both.server('for-each-ref', REF)).toBe('');
  });

  it('takes over what the remote has, and adds to it without a merge', async () => {
    await using both = await twoClones();
    const { one, two, server } = both;
    const first = await exchange(one, ['a']);
    expect(await exchange(two)).toEqual({ commit: first.commit, pushed: true, outcome: 'up_to_date' });
    const second = await exchange(two, ['b']);
    expect(two.git('log', '--format=%P', '-1', REF)).toBe(first.commit);
    expect(await exchange(one)).toMatchObject({ commit: second.commit, outcome: 'up_to_date' });
    expect(server('show', `${REF}:${FILE}`)).toBe('a\nb');
  });

  it('merges histories that have diverged, with two parents', async () => {
    await using both = await twoClones();
    const { one, two, server } = both;
    await exchange(one, ['root']);
    await exchange(two);
    const theirs = await exchange(one, ['a']);
    const ours = await exchange(two, ['b'], { remote: 'nowhere' });
    expect(ours).toMatchObject({ pushed: false, outcome: 'no_remote', reason: 'There is no remote nowhere' });
    const merged = await exchange(two, ['c']);
    expect(merged.outcome).toBe('pushed');
    expect(server('log', '--format=%P', '-1', REF)).toBe(`${ours.commit} ${theirs.commit}`);
    expect(linesOf(server('show', `${REF}:${FILE}`))).toEqual(['a', 'b', 'c', 'root']);
  });

  it('merges histories that have nothing in common', async () => {
    await using both = await twoClones();
    const { one, two, server } = both;
    await exchange(one, ['a']);
    await exchange(two, ['b'], { remote: 'nowhere' });
    expect(await exchange(two)).toMatchObject({ pushed: true, outcome: 'pushed' });
    expect(linesOf(server('show', `${REF}:${FILE}`))).toEqual(['a', 'b']);
    expect(server('rev-list', '--count', REF)).toBe('3');
  });

  it('keeps the other files of both sides', async () => {
    await using both = await twoClones();
    const { one, two, server } = both;
    const put = (place: GitPlace, files: Record<string, string | null>) =>
      commitFiles({
        repo: place.repo,
        ref: REF,
        message: 'files',
        files: new Map(
          Object.entries(files).map(([path, text]) => [path, text === null ? null : Buffer.from(text)]),
        ),
      });
    await put(one, { same: '0', mine: '0', yours: '0', both: '0', gone: '0', wanted: '0', [FILE]: 'root\n' });
    await exchange(one);
    await exchange(two);
    await put(one, {
      yours: '1',
      both: '1',
      gone: null,
      wanted: null,
      'dir/new-1': '1',
      [FILE]: 'a\nroot\n',
    });
    await exchange(one);
    await put(two, { mine: '2', both: '2', wanted: '2', 'dir/new-2': '2', [FILE]: 'b\nroot\n' });
    expect(await exchange(two)).toMatchObject({ outcome: 'pushed' });
    const files = linesOf(server('ls-tree', '-r', '--name-only', REF));
    const merged = Object.fromEntries(files.map((name) => [name, server('show', `${REF}:${name}`)]));
    expect(merged).toEqual({
      same: '0',
      mine: '2',
      yours: '1',
      both: '2',
      wanted: '2',
      'dir/new-1': '1',
      'dir/new-2': '2',
      [FILE]: 'a\nb\nroot',
    });
  });

  it('can remove a file in a merge', async () => {
    await using both = await twoClones();
    const { one, two, server } = both;
    await exchange(one, ['a']);
    await exchange(two, ['b'], { remote: 'nowhere' });
    const files = new Map([
      [FILE, null],
      ['new.jsonl', Buffer.from('x\n')],
    ]);
    expect(await exchange(two, [], { join: async () => files })).toMatchObject({ outcome: 'pushed' });
    expect(server('ls-tree', '-r', '--name-only', REF)).toBe('new.jsonl');
  });

  it('makes a file of what was a link on one side', async () => {
    await using both = await twoClones();
    const { one, two, server } = both;
    await exchange(one, ['a']);
    const link = two.git('hash-object', '-w', 'a.txt');
    two.git('update-index', '--add', '--cacheinfo', `120000,${link},${FILE}`);
    two.git('update-ref', REF, two.git('commit-tree', '-m', 'link', two.git('write-tree')));
    expect(await exchange(two)).toMatchObject({ outcome: 'pushed' });
    expect(server('ls-tree', REF, FILE)).toMatch(/^100644 blob /);
  });

  it('joins again when somebody else pushed in between', async () => {
    await using both = await twoClones();
    const { one, two, server } = both;
    await exchange(one, ['root']);
    let calls = 0;
    const plain = joinLines(two, 'late');
    const result = await exchange(two, [], {
      join: async (theirs, ours) => {
        calls += 1;
        if (calls <= 2) await exchange(one, [`faster ${calls}`]);
        return plain(theirs, ours);
      },
    });
    expect(result).toMatchObject({ pushed: true, outcome: 'pushed' });
    expect(calls).toBe(3);
    expect(linesOf(server('show', `${REF}:${FILE}`))).toEqual(['faster 1', 'faster 2', 'late', 'root']);
  });

  it('gives up after the given tries, with the commit kept', async () => {
    await using both = await twoClones();
    const { one, two } = both;
    let calls = 0;
    const plain = joinLines(two, 'late');
    const result = await exchange(two, [], {
      tries: 2,
      join: async (theirs, ours) => {
        calls += 1;
        await exchange(one, [`faster ${calls}`]);
        return plain(theirs, ours);
      },
    });
    expect(result).toMatchObject({
      pushed: false,
      outcome: 'busy',
      reason: 'Others were faster 2 times in a row',
    });
    expect(result.commit).toBe(two.git('rev-parse', REF));
    expect(await exchange(two)).toMatchObject({ pushed: true });
  });

  it('joins again when the branch here moved in between', async () => {
    await using both = await twoClones();
    const { one } = both;
    let calls = 0;
    const plain = joinLines(one, 'late');
    await exchange(one, [], {
      join: async (theirs, ours) => {
        calls += 1;
        const files = await plain(theirs, ours);
        if (calls === 1) await exchange(one, ['here'], { remote: 'nowhere' });
        return files;
      },
    });
    expect(linesOf(both.server('show', `${REF}:${FILE}`))).toEqual(['here', 'late']);
  });

  it('loses nothing when clones and processes exchange at once', { timeout: 120_000 }, async () => {
    await using both = await gitClones(3);
    const lines = Array.from({ length: 6 }, (_, at) => `line ${at}`);
    const work = lines.map(async (line, at) => {
      const clone = both.clones[at % 3];
      if (clone === undefined) throw new Error('no clone');
      return exchange(clone, [line], { tries: 60 });
    });
    for (const result of await Promise.all(work)) expect(result.pushed).toBe(true);
    expect(linesOf(runTestGit(both.remote, ['show', `${REF}:${FILE}`]))).toEqual(lines);
    for (const clone of both.clones) await exchange(clone);
    const tips = both.clones.map((clone) => clone.git('rev-parse', REF));
    expect(new Set(tips).size).toBe(1);
  });
});

describe('what keeps exchangeBranch from pushing', () => {
  it('a remote that is away: committed here, pushed the next time', async () => {
    await using both = await twoClones();
    const { one, remote, server } = both;
    await rename(remote, `${remote}.away`);
    const result = await exchange(one, ['offline']);
    expect(result).toMatchObject({
      commit: one.git('rev-parse', REF),
      pushed: false,
      outcome: 'unreachable',
      reason: expect.stringMatching(/^Could not fetch from origin: .*does not appear to be a git repository/),
    });
    await rename(`${remote}.away`, remote);
    expect(await exchange(one)).toEqual({ commit: result.commit, pushed: true, outcome: 'pushed' });
    expect(server('show', `${REF}:${FILE}`)).toBe('offline');
  });

  it('a host that does not answer', async () => {
    await using place = await gitPlace();
    place.git('remote', 'add', 'origin', 'http://127.0.0.1:9/x.git');
    expect(await exchange(place, ['a'])).toMatchObject({ pushed: false, outcome: 'unreachable' });
    expect(place.git('show', `${REF}:${FILE}`)).toBe('a');
  });

  it('a server that does not know us', async () => {
    await using place = await gitPlace();
    const ssh = join(place.path, '.git', 'ssh');
    await writeFile(
      ssh,
      '#!/bin/sh\necho "git@x: \u001b[31mPermission denied (publickey)." >&2\nexit 255\n',
      { mode: 0o755 },
    );
    place.git('config', 'core.sshCommand', `'${ssh}'`);
    place.git('remote', 'add', 'origin', 'git@example.invalid:x.git');
    const result = await exchange(place, ['a']);
    expect(result).toMatchObject({ pushed: false, outcome: 'denied' });
    expect(result.reason).toMatch(/^You may not fetch from origin: git@x: \\u001b\[31mPermission denied/);
  });

  it.each([
    ['a hook', 'pre-receive', 'pre-receive hook declined'],
    ['a rule for one branch', 'update', 'hook declined'],
  ])('%s of the server', async (_name, hook, said) => {
    await using both = await twoClones();
    const { one, remote, server } = both;
    const file = join(remote, 'hooks', hook);
    await writeFile(file, '#!/bin/sh\nprintf "branch is \\033[31mprotected\\n" >&2\nexit 1\n');
    await chmod(file, 0o755);
    const result = await exchange(one, ['a']);
    expect(result).toMatchObject({ pushed: false, outcome: 'refused', commit: one.git('rev-parse', REF) });
    expect(result.reason).toContain(said);
    expect(result.reason).toContain('branch is \\u001b[31mprotected');
    expect(server('for-each-ref', REF)).toBe('');
  });

  it('a branch that the other side has checked out', async () => {
    await using other = await gitPlace();
    await using place = await gitPlace();
    other.git('checkout', '--quiet', '-b', BRANCH);
    place.git('remote', 'add', 'origin', other.path);
    expect(await exchange(place, ['a'])).toMatchObject({ pushed: false, outcome: 'refused' });
  });

  it('no remote at all', async () => {
    await using place = await gitPlace('without commits');
    expect(await exchange(place, ['a'])).toMatchObject({ pushed: false, outcome: 'no_remote' });
    expect(place.git('show', `${REF}:${FILE}`)).toBe('a');
  });
});

describe('exchangeBranch and the user’s things', () => {
  it('runs none of their hooks and pushes none of their tags', async () => {
    await using both = await twoClones();
    const { one, server } = both;
    for (const hook of ['pre-push', 'reference-transaction', 'pre-commit', 'post-commit']) {
      await one.write(`.git/hooks/${hook}`, '#!/bin/sh\nexit 1\n');
      await chmod(join(one.path, '.git', 'hooks', hook), 0o755);
    }
    one.git('config', 'push.followTags', 'true');
    expect(await exchange(one, ['a'])).toMatchObject({ outcome: 'pushed' });
    expect(server('tag')).toBe('');
    // The planted hooks do refuse a push of the user.
    expect(() => one.git('push', '--quiet', 'origin', `${REF}:refs/heads/copy`)).toThrow('Command failed');
  });

  it('refuses a branch that is checked out here', async () => {
    await using both = await twoClones();
    await expect(exchange(both.one, ['a'], { branch: 'main' })).rejects.toMatchObject({
      code: 'state_invalid',
    });
  });

  it('[E7] refuses names that are no branch names', async () => {
    await using both = await twoClones();
    for (const branch of ['', '-x', 'a..b', 'a b', '../x', 'x.lock', 'a\0b', '--upload-pack=touch x'])
      await expect(exchange(both.one, ['a'], { branch })).rejects.toMatchObject({ code: 'invalid_input' });
  });

  it('[E9] takes an option, an address and a path for no remote', async () => {
    await using both = await twoClones();
    for (const remote of ['--upload-pack=touch x', 'ext::sh -c touch% x', '/nowhere', '.']) {
      const { outcome, pushed } = await exchange(both.one, ['a'], { remote });
      expect({ remote, outcome, pushed }).toEqual({ remote, outcome: 'no_remote', pushed: false });
    }
  });

  it('joins with a branch that was rewritten on the server', async () => {
    await using both = await twoClones();
    const { one, two, server } = both;
    await exchange(one, ['a']);
    await exchange(two, ['b']);
    server('update-ref', REF, server('rev-parse', `${REF}~1`));
    await exchange(one, ['c']);
    expect(await exchange(two)).toMatchObject({ pushed: true });
    expect(linesOf(server('show', `${REF}:${FILE}`))).toEqual(['a', 'b', 'c']);
  });

  it('makes a branch again that was removed on the server', async () => {
    await using both = await twoClones();
    const { one, server } = both;
    const { commit } = await exchange(one, ['a']);
    server('update-ref', '-d', REF);
    expect(await exchange(one)).toEqual({ commit, pushed: true, outcome: 'pushed' });
    expect(server('rev-parse', REF)).toBe(commit);
  });

  it('stops when it is told to', async () => {
    await using both = await twoClones();
    await expect(exchange(both.one, ['a'], { signal: AbortSignal.abort() })).rejects.toMatchObject({
      code: 'interrupted',
    });
  });

  it('works between repositories with sha256', async () => {
    await using folder = await tempFolder();
    await using place = await gitPlace('sha256');
    runTestGit(folder.path, ['init', '--quiet', '--bare', '--object-format=sha256', '.']);
    place.git('remote', 'add', 'origin', folder.path);
    expect(await exchange(place, ['a'])).toMatchObject({ outcome: 'pushed' });
    expect(runTestGit(folder.path, ['show', `${REF}:${FILE}`])).toBe('a');
  });
});

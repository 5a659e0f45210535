import { mkdir, rm, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { GIT_PLACES, gitClones, type GitPlace, gitPlace } from '../../tests/support/git-places.ts';
import { runTestGit } from '../../tests/support/temp-repo.ts';
import {
  findCheckout,
  findCurrentBranch,
  findDefaultBranch,
  hasRemote,
  isBranchCheckedOut,
} from './branches.ts';
import { readRef, readSymbolicRef } from './read-ref.ts';

/** A repository whose environment has no git: whatever is asked of a process fails. */
function withoutGit(place: GitPlace) {
  return { ...place.repo, env: { PATH: join(place.path, 'nowhere') } };
}

describe.each(GIT_PLACES)('in a repository of the shape "%s"', (shape) => {
  it('reads HEAD and refs as git does, without a process', async () => {
    await using place = await gitPlace(shape);
    place.git('branch', 'side/one');
    place.git('tag', 'v1');
    const repo = withoutGit(place);
    const expectAsGit = async () => {
      expect(await findCurrentBranch(repo)).toBe(place.git('branch', '--show-current') || undefined);
      for (const ref of ['HEAD', 'refs/heads/side/one', 'refs/tags/v1', 'refs/heads/main']) {
        expect(await readRef(repo, ref)).toBe(place.git('rev-parse', ref));
      }
      expect(await readRef(repo, 'refs/heads/nowhere')).toBeUndefined();
      expect(await readRef(repo, 'refs/heads/side')).toBeUndefined();
    };
    await expectAsGit();
    place.git('pack-refs', '--all');
    await expectAsGit();
    place.git('commit', '--quiet', '--allow-empty', '-m', 'loose again');
    await expectAsGit();
  });
});

describe('readRef', () => {
  it('follows symbolic refs, and gives up on a circle', async () => {
    await using place = await gitPlace();
    place.git('symbolic-ref', 'refs/heads/alias', 'refs/heads/main');
    expect(await readRef(place.repo, 'refs/heads/alias')).toBe(place.git('rev-parse', 'main'));
    await place.write('.git/refs/heads/round', 'ref: refs/heads/round\n');
    expect(await readRef(place.repo, 'refs/heads/round')).toBeUndefined();
  });

  it('reads a HEAD that is a symbolic link', async () => {
    await using place = await gitPlace('without commits');
    await rm(join(place.path, '.git', 'HEAD'));
    await symlink('refs/heads/main', join(place.path, '.git', 'HEAD'));
    expect(await findCurrentBranch(place.repo)).toBe('main');
    expect(await readRef(place.repo, 'HEAD')).toBeUndefined();
    place.git('commit', '--quiet', '--allow-empty', '-m', 'first');
    expect(await readRef(place.repo, 'HEAD')).toBe(place.git('rev-parse', 'main'));
  });

  it.each([
    '../secret',
    'refs/../../secret',
    'refs/heads/../../config',
    'config',
    'refs/heads/x.lock',
    'refs/heads/a b',
  ])('reads no file for the name %j', async (name) => {
    await using place = await gitPlace();
    const oid = place.git('rev-parse', 'HEAD');
    for (const file of ['../secret', '.git/secret', '.git/refs/heads/x.lock']) await place.write(file, oid);
    expect(await readRef(place.repo, name)).toBeUndefined();
    expect(await readSymbolicRef(place.repo, name)).toBeUndefined();
  });

  it('does not take the end of a longer name for a packed ref', async () => {
    await using place = await gitPlace();
    place.git('branch', 'x/refs/heads/y');
    place.git('pack-refs', '--all');
    expect(await readRef(place.repo, 'refs/heads/y')).toBeUndefined();
    expect(await readRef(place.repo, 'refs/heads/x/refs/heads/y')).toBe(place.git('rev-parse', 'main'));
  });

  it('asks git where refs are in tables', async () => {
    await using place = await gitPlace();
    await mkdir(join(place.path, '.git', 'reftable'));
    expect(await readRef(place.repo, 'refs/heads/main')).toBe(place.git('rev-parse', 'main'));
    expect(await findCurrentBranch(place.repo)).toBe('main');
    expect(await readRef(place.repo, 'refs/heads/nowhere')).toBeUndefined();
    await expect(readRef(withoutGit(place), 'refs/heads/main')).rejects.toMatchObject({
      code: 'dependency_missing',
    });
  });
});

describe('findCurrentBranch', () => {
  it('knows a branch without commits', async () => {
    await using place = await gitPlace('without commits');
    expect(await findCurrentBranch(place.repo)).toBe('main');
    expect(await readRef(place.repo, 'HEAD')).toBeUndefined();
  });

  it.each(['größe', 'a/b/c', '-x', '#1'])('knows a branch called %j', async (name) => {
    await using place = await gitPlace();
    place.git('symbolic-ref', 'HEAD', `refs/heads/${name}`);
    expect(await findCurrentBranch(place.repo)).toBe(name);
  });
});

describe('findDefaultBranch', () => {
  it('is what the remote calls its HEAD', async () => {
    await using clones = await gitClones(1);
    const [clone] = clones.clones;
    if (clone === undefined) throw new Error('no clone');
    clone.git('branch', 'trunk');
    clone.git('push', '--quiet', 'origin', 'trunk');
    expect(await findDefaultBranch(clone.repo)).toBe('main');
    clone.git('remote', 'set-head', 'origin', 'trunk');
    expect(await findDefaultBranch(clone.repo)).toBe('trunk');
    clone.git('pack-refs', '--all');
    expect(await findDefaultBranch(clone.repo)).toBe('trunk');
    clone.git('update-ref', '-d', 'refs/remotes/origin/trunk');
    expect(await findDefaultBranch(clone.repo)).toBe('main');
  });

  it('is otherwise the first of the usual names that is there', async () => {
    await using place = await gitPlace();
    expect(await findDefaultBranch(place.repo)).toBe('main');
    place.git('branch', 'master');
    place.git('branch', 'trunk');
    place.git('config', 'init.defaultBranch', 'trunk');
    expect(await findDefaultBranch(place.repo)).toBe('trunk');
    place.git('config', 'init.defaultBranch', 'nowhere');
    expect(await findDefaultBranch(place.repo)).toBe('main');
    place.git('branch', '-m', 'main', 'work');
    expect(await findDefaultBranch(place.repo)).toBe('master');
    place.git('branch', '-D', 'master');
    expect(await findDefaultBranch(place.repo)).toBe('trunk');
    place.git('branch', '-D', 'trunk');
    expect(await findDefaultBranch(place.repo)).toBe('work');
  });

  it.each(['stable', 'release/2.x', 'größe'])(
    '[A14] is the branch that the main checkout is on, called %j',
    async (name) => {
      await using place = await gitPlace();
      place.git('branch', '-m', 'main', name);
      place.git('branch', 'feature');
      expect(await findDefaultBranch(place.repo)).toBe(name);
      // A linked worktree is asked on its own branch, and gives the main one's.
      place.git('worktree', 'add', '--quiet', join(place.path, '..', 'linked'), 'feature');
      const linked = {
        ...place.repo,
        worktree: join(place.path, '..', 'linked'),
        git_dir: join(place.repo.common_dir, 'worktrees', 'linked'),
      };
      expect(await findDefaultBranch(linked)).toBe(name);
      // Where HEAD is detached several branches leave it open, and one does not; those of attempts do not count.
      place.git('checkout', '--quiet', '--detach');
      expect(await findDefaultBranch(place.repo)).toBeUndefined();
      place.git('worktree', 'remove', '--force', join(place.path, '..', 'linked'));
      place.git('branch', '-D', 'feature');
      place.git('branch', 'forge/35a4-work');
      expect(await findDefaultBranch(place.repo)).toBe(name);
    },
  );

  it.each(['trunk', 'develop'])('[A14] is %s also while a side branch is checked out', async (name) => {
    await using place = await gitPlace();
    place.git('branch', '-m', 'main', name);
    place.git('switch', '--quiet', '-c', 'feature');
    expect(await findDefaultBranch(place.repo)).toBe(name);
    place.git('checkout', '--quiet', '--detach');
    expect(await findDefaultBranch(place.repo)).toBe(name);
  });

  it('[A14] is the HEAD of a bare repository, seen from its linked worktree', async () => {
    await using place = await gitPlace();
    place.git('branch', '-m', 'main', 'trunk');
    place.git('branch', 'other');
    const [bare, linked] = [join(place.path, '..', 'hub.git'), join(place.path, '..', 'tree')];
    runTestGit('/', ['clone', '--quiet', '--bare', place.path, bare]);
    runTestGit(bare, ['worktree', 'add', '--quiet', linked, 'other']);
    const repo = {
      ...place.repo,
      worktree: linked,
      git_dir: join(bare, 'worktrees', 'tree'),
      common_dir: bare,
    };
    expect(await findDefaultBranch(repo)).toBe('trunk');
  });

  it('[A14] is what the only remote calls its HEAD, whatever the remote is called', async () => {
    await using clones = await gitClones(1);
    const [clone] = clones.clones;
    if (clone === undefined) throw new Error('no clone');
    clone.git('branch', 'trunk');
    clone.git('push', '--quiet', 'origin', 'trunk');
    clone.git('remote', 'set-head', 'origin', 'trunk');
    clone.git('remote', 'rename', 'origin', 'company');
    expect(await findDefaultBranch(clone.repo)).toBe('trunk');
  });

  it('is the branch to be where there are no commits', async () => {
    await using place = await gitPlace('without commits');
    place.git('symbolic-ref', 'HEAD', 'refs/heads/begin');
    expect(await findDefaultBranch(place.repo)).toBe('begin');
  });
});

describe('hasRemote', () => {
  it('knows whether there is any, or that one', async () => {
    await using place = await gitPlace();
    expect(await hasRemote(place.repo)).toBe(false);
    place.git('remote', 'add', 'upstream', '/nowhere');
    expect(await hasRemote(place.repo)).toBe(true);
    expect(await hasRemote(place.repo, 'upstream')).toBe(true);
    expect(await hasRemote(place.repo, 'origin')).toBe(false);
    expect(await hasRemote(place.repo, 'up')).toBe(false);
  });
});

describe('isBranchCheckedOut', () => {
  it('looks at every working tree, from any of them', async () => {
    await using place = await gitPlace('linked worktree');
    const main = join(place.path, '..', 'it is');
    place.git('branch', 'free');
    place.git('worktree', 'add', '--quiet', join(place.path, '..', 'third'), '-b', 'third');
    expect(await findCheckout(place.repo, 'main')).toBe(place.path);
    expect(await findCheckout(place.repo, 'elsewhere')).toBe(main);
    expect(await findCheckout(place.repo, 'third')).toBe(join(place.path, '..', 'third'));
    expect(await isBranchCheckedOut(place.repo, 'free')).toBe(false);
    expect(await isBranchCheckedOut(place.repo, 'mai')).toBe(false);
    const other = { ...place.repo, worktree: main, git_dir: place.repo.common_dir };
    expect(await findCheckout(other, 'main')).toBe(place.path);
    runTestGit(join(place.path, '..', 'third'), ['checkout', '--quiet', '--detach']);
    expect(await isBranchCheckedOut(other, 'third')).toBe(false);
  });

  it.each([['--merge'], ['--apply']])('counts a branch that is being rebased (%s)', async (backend) => {
    await using place = await gitPlace();
    place.git('checkout', '--quiet', '-b', 'side');
    await place.write('a.txt', 'side\n');
    place.git('commit', '--quiet', '-a', '-m', 'side');
    place.git('checkout', '--quiet', '-b', 'work', 'main');
    await place.write('a.txt', 'work\n');
    place.git('commit', '--quiet', '-a', '-m', 'work');
    expect(() => place.git('rebase', backend, 'side')).toThrow('Command failed');
    expect(await findCurrentBranch(place.repo)).toBeUndefined();
    expect(await isBranchCheckedOut(place.repo, 'work')).toBe(true);
    place.git('rebase', '--abort');
    place.git('checkout', '--quiet', 'main');
    expect(await isBranchCheckedOut(place.repo, 'work')).toBe(false);
  });

  it('counts a branch that is being bisected', async () => {
    await using place = await gitPlace();
    for (const text of ['1', '2', '3']) place.git('commit', '--quiet', '--allow-empty', '-m', text);
    place.git('bisect', 'start', 'HEAD', 'HEAD~3');
    expect(await findCurrentBranch(place.repo)).toBeUndefined();
    expect(await isBranchCheckedOut(place.repo, 'main')).toBe(true);
  });
});

import { readFileSync, rmSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { witness } from '../../tests/support/landing-witness.ts';
import { type GitPlace, gitPlace } from '../../tests/support/git-places.ts';
import { shareOf } from '../../tests/support/share-of.ts';
import { runTestGit, testGitEnv } from '../../tests/support/temp-repo.ts';
import type { GitRepo } from './ask-git.ts';
import { compareFingerprints, fingerprintCheckout } from './checkout-fingerprint.ts';
import { type Landing, landTarget } from './land-target.ts';

interface World extends GitPlace {
  readonly old: string;
  /** Changes `a.txt`, adds `new.txt` and `deep/er/file.txt`, removes `gone.txt`. */
  readonly commit: string;
  land(repo?: GitRepo, patience_ms?: number): Promise<Landing>;
}

async function openWorld(): Promise<World> {
  const place = await gitPlace();
  for (const file of ['gone.txt', 'other.txt']) await place.write(file, `${file}\n`);
  place.git('add', '.');
  place.git('commit', '--quiet', '-m', 'second');
  const old = place.git('rev-parse', 'HEAD');
  place.git('checkout', '--quiet', '--detach');
  await place.write('a.txt', 'landed\n');
  for (const file of ['new.txt', 'deep/er/file.txt']) await place.write(file, 'new\n');
  place.git('rm', '--quiet', 'gone.txt');
  place.git('add', '.');
  place.git('commit', '--quiet', '-m', 'landed');
  const commit = place.git('rev-parse', 'HEAD');
  place.git('checkout', '--quiet', 'main');
  const land: World['land'] = (repo = place.repo, patience_ms = 5_000) =>
    landTarget(repo, { branch: 'main', old, commit, patience_ms, witness });
  return { ...place, old, commit, land };
}

const main = (place: GitPlace) => place.git('rev-parse', 'refs/heads/main');
const status = (place: GitPlace) => place.git('status', '--porcelain');

describe('landTarget in a checkout of the target', () => {
  it('moves a clean one with its files, and runs no hook', async () => {
    await using world = await openWorld();
    writeFileSync(join(world.path, 'untracked.txt'), 'mine\n');
    expect(await world.land()).toEqual({ kind: 'landed' });
    expect(main(world)).toBe(world.commit);
    expect(status(world)).toBe('?? untracked.txt');
    expect(readFileSync(join(world.path, 'deep/er/file.txt'), 'utf8')).toBe('new\n');
    expect(world.git('rev-parse', '--abbrev-ref', 'HEAD')).toBe('main');
    expect(world.git('fsck', '--strict', '--no-dangling')).toBe('');
    // What an update of the ref alone would have left.
    world.git('update-ref', 'refs/heads/main', world.old);
    expect(status(world)).toContain('M  a.txt');
  });

  it.each<[string, (world: World) => void, string]>(
    shareOf(
      [
        ['edited', ({ path }) => writeFileSync(join(path, 'other.txt'), 'mine\n'), ' M other.txt'],
        [
          'staged',
          ({ path, ...world }) => (
            writeFileSync(join(path, 'other.txt'), 'mine\n'),
            world.git('add', 'other.txt')
          ),
          'M  other.txt',
        ],
        ['removed', ({ path }) => rmSync(join(path, 'other.txt')), ' D other.txt'],
        [
          'staged as new',
          ({ path, ...world }) => (writeFileSync(join(path, 'mine'), 'x'), world.git('add', 'mine')),
          'A  mine',
        ],
        ['renamed', (world) => world.git('mv', 'other.txt', 'mine.txt'), 'R  other.txt -> mine.txt'],
        [
          'only touched',
          ({ path }) => {
            writeFileSync(join(path, 'other.txt'), 'mine\n');
            utimesSync(join(path, 'a.txt'), 1, 1);
          },
          ' M other.txt',
        ],
      ],
      3,
    ),
  )('moves one where something else was %s, and leaves that', async (_name, change, left) => {
    await using world = await openWorld();
    change(world);
    expect(await world.land()).toEqual({ kind: 'landed' });
    expect(main(world)).toBe(world.commit);
    expect(status(world)).toBe(left);
    expect(readFileSync(join(world.path, 'a.txt'), 'utf8')).toBe('landed\n');
  });

  it.each<[string, (world: World) => void, readonly string[]]>(
    shareOf(
      [
        ['a file that is edited', ({ path }) => writeFileSync(join(path, 'a.txt'), 'mine\n'), ['a.txt']],
        [
          'a file that is staged',
          ({ path, ...world }) => (writeFileSync(join(path, 'a.txt'), 'mine\n'), world.git('add', 'a.txt')),
          ['a.txt'],
        ],
        [
          'a file that is edited and is to go',
          ({ path }) => writeFileSync(join(path, 'gone.txt'), 'x\n'),
          ['gone.txt'],
        ],
        ['a file that is removed', ({ path }) => rmSync(join(path, 'a.txt')), ['a.txt']],
        ['a new file in the way', ({ path }) => writeFileSync(join(path, 'new.txt'), 'mine\n'), ['new.txt']],
        [
          'an ignored file in the way',
          ({ path }) => {
            writeFileSync(join(path, '.git/info/exclude'), 'new.txt\n');
            writeFileSync(join(path, 'new.txt'), 'mine\n');
          },
          ['new.txt'],
        ],
        [
          'a new file where a folder is to be',
          ({ path }) => writeFileSync(join(path, 'deep'), 'x'),
          ['deep/er/file.txt'],
        ],
        [
          'a link where a folder is to be',
          ({ path }) => symlinkSync('/tmp', join(path, 'deep')),
          ['deep/er/file.txt'],
        ],
        [
          'a file in conflict',
          ({ path, ...world }) => {
            writeFileSync(join(path, 'other.txt'), 'x\n');
            writeFileSync(join(path, 'a.txt'), 'mine\n');
            world.git('add', 'a.txt');
            writeFileSync(join(path, 'a.txt'), 'mine again\n');
          },
          ['a.txt'],
        ],
      ],
      3,
    ),
  )('refuses %s by name, and changes nothing', async (_name, change, files) => {
    await using world = await openWorld();
    change(world);
    const before = await fingerprintCheckout(world.repo);
    expect(await world.land()).toEqual({ kind: 'overlap', files, worktree: world.path });
    expect(compareFingerprints(before, await fingerprintCheckout(world.repo))).toEqual([]);
    expect(main(world)).toBe(world.old);
  });

  it.each<[string, (world: World) => void]>([
    [
      'rebase',
      (world) => {
        world.git('commit', '--quiet', '--allow-empty', '-m', 'x');
        world.git('-c', 'sequence.editor=echo break >', 'rebase', '--quiet', '-i', '--keep-empty', 'HEAD~1');
      },
    ],
    ['merge', ({ commit, ...world }) => world.git('merge', '--quiet', '--no-ff', '--no-commit', commit)],
    ['bisect', (world) => world.git('bisect', 'start')],
  ])('does not touch the branch in the middle of a %s', async (operation, begin) => {
    await using world = await openWorld();
    begin(world);
    const old = main(world);
    const before = await fingerprintCheckout(world.repo);
    world.git('update-ref', 'refs/heads/spare', world.commit);
    const commit = world.git('commit-tree', '-p', old, '-m', 'x', `${world.commit}^{tree}`);
    expect(await landTarget(world.repo, { branch: 'main', old, commit, witness })).toEqual({
      kind: 'overlap',
      files: [],
      worktree: world.path,
      operation,
    });
    expect(compareFingerprints(before, await fingerprintCheckout(world.repo))).toEqual([]);
    expect(main(world)).toBe(old);
  });

  it.each(shareOf(['a.txt', 'new.txt', 'gone.txt'], 3))(
    '[A5] keeps what the user saves in %s at the last moment, and refuses',
    async (file) => {
      await using world = await openWorld();
      const { old, commit } = world;
      const on_step = (step: string): void => {
        if (step === 'prepared') writeFileSync(join(world.path, file), 'mine by now\n');
      };
      expect(await landTarget(world.repo, { branch: 'main', old, commit, witness, on_step })).toEqual({
        kind: 'overlap',
        files: [file],
        worktree: world.path,
      });
      expect(await world.read(file)).toBe('mine by now\n');
      expect([main(world), world.git('diff', '--cached', '--name-only')]).toEqual([old, '']);
    },
  );

  it('waits for another git, and says so where that takes too long', async () => {
    await using world = await openWorld();
    const lock = join(world.path, '.git', 'index.lock');
    writeFileSync(lock, '');
    expect(await world.land(world.repo, 50)).toMatchObject({
      kind: 'busy',
      message: expect.stringContaining('index.lock'),
    });
    expect(main(world)).toBe(world.old);
    const landing = world.land();
    await setTimeout(100);
    rmSync(lock);
    expect(await landing).toEqual({ kind: 'landed' });
  });
});

describe('landTarget elsewhere', () => {
  it('moves the branch alone where HEAD is on another, detached, or rebasing something else', async () => {
    const rebase = [
      '-c',
      'sequence.editor=echo break >',
      'rebase',
      '--quiet',
      '-i',
      '--keep-empty',
      'HEAD~1',
    ];
    for (const leave of [
      [['checkout', '--quiet', '-b', 'other']],
      [['checkout', '--quiet', '--detach']],
      [['checkout', '--quiet', '-b', 'other'], ['commit', '--quiet', '--allow-empty', '-m', 'x'], rebase],
    ]) {
      await using world = await openWorld();
      for (const args of leave) world.git(...args);
      writeFileSync(join(world.path, 'a.txt'), 'mine\n');
      const before = await fingerprintCheckout(world.repo);
      expect(await world.land()).toEqual({ kind: 'landed' });
      expect(main(world)).toBe(world.commit);
      expect(compareFingerprints(before, await fingerprintCheckout(world.repo))).toEqual([]);
    }
  });

  it('begins again where a git of the user’s has begun since the last look', async () => {
    await using world = await openWorld();
    world.git('checkout', '--quiet', '--detach');
    const { old, commit } = world;
    // The first look is before the locks, the second under them.
    let looks = 0;
    const listInside = () => ((looks += 1) === 2 ? [witness.self()] : []);
    const steps: string[] = [];
    const landing = { branch: 'main', old, commit, on_step: (step: string) => void steps.push(step) };
    expect(await landTarget(world.repo, { ...landing, witness: { ...witness, listInside } })).toEqual({
      kind: 'landed',
    });
    expect(steps.filter((step) => step === 'locked')).toHaveLength(2);
    expect(main(world)).toBe(commit);
  });

  it('follows a linked worktree that has the target, and leaves the main one', async () => {
    await using world = await openWorld();
    world.git('checkout', '--quiet', '-b', 'other');
    const linked = join(world.path, '..', 'linked');
    world.git('worktree', 'add', '--quiet', linked, 'main');
    const before = await fingerprintCheckout(world.repo);
    expect(await world.land()).toEqual({ kind: 'landed' });
    expect(runTestGit(linked, ['status', '--porcelain'])).toBe('');
    expect(readFileSync(join(linked, 'new.txt'), 'utf8')).toBe('new\n');
    expect(compareFingerprints(before, await fingerprintCheckout(world.repo))).toEqual([]);
  });

  it('refuses for a linked worktree too, and moves several that have the target or none', async () => {
    await using world = await openWorld();
    const linked = join(world.path, '..', 'linked');
    world.git('worktree', 'add', '--quiet', '--force', linked, 'main');
    writeFileSync(join(linked, 'a.txt'), 'mine\n');
    expect(await world.land()).toEqual({ kind: 'overlap', files: ['a.txt'], worktree: linked });
    expect(status(world)).toBe('');
    runTestGit(linked, ['checkout', '--quiet', 'a.txt']);
    expect(await world.land()).toEqual({ kind: 'landed' });
    expect([status(world), runTestGit(linked, ['status', '--porcelain'])]).toEqual(['', '']);
  });

  it('does not mind a linked worktree that is gone, unless it is locked', async () => {
    await using world = await openWorld();
    world.git('checkout', '--quiet', '-b', 'other');
    const linked = join(world.path, '..', 'linked');
    world.git('worktree', 'add', '--quiet', linked, 'main');
    world.git('worktree', 'lock', linked);
    rmSync(linked, { recursive: true });
    expect(await world.land()).toMatchObject({ kind: 'overlap', operation: 'locked', worktree: linked });
    world.git('worktree', 'unlock', linked);
    expect(await world.land()).toEqual({ kind: 'landed' });
  });

  it('lands in a bare repository, also in one with worktrees', async () => {
    await using world = await openWorld();
    const bare = join(world.path, '..', 'bare.git');
    world.git('clone', '--quiet', '--bare', '.', bare);
    runTestGit(bare, ['fetch', '--quiet', world.path, world.commit]);
    const repo: GitRepo = { worktree: bare, git_dir: bare, common_dir: bare, env: testGitEnv() };
    expect(await world.land(repo)).toEqual({ kind: 'landed' });
    expect(runTestGit(bare, ['rev-parse', 'main'])).toBe(world.commit);
    runTestGit(bare, ['update-ref', 'refs/heads/main', world.old]);
    const linked = join(world.path, '..', 'of-bare');
    runTestGit(bare, ['worktree', 'add', '--quiet', linked, 'main']);
    expect(await world.land(repo)).toEqual({ kind: 'landed' });
    expect(runTestGit(linked, ['status', '--porcelain'])).toBe('');
    expect(readFileSync(join(linked, 'a.txt'), 'utf8')).toBe('landed\n');
  });
});

describe('landTarget where the branch moved', () => {
  it.each(['clean', 'dirty', 'elsewhere'])('tells where it is now: %s', async (state) => {
    await using world = await openWorld();
    await world.write('later.txt', 'later\n');
    world.git('add', '.');
    world.git('commit', '--quiet', '-m', 'later');
    const now = main(world);
    if (state === 'dirty') await world.write('other.txt', 'mine\n');
    if (state === 'elsewhere') world.git('checkout', '--quiet', '--detach');
    const before = await fingerprintCheckout(world.repo);
    expect(await world.land()).toEqual({ kind: 'moved', now });
    expect(compareFingerprints(before, await fingerprintCheckout(world.repo))).toEqual([]);
  });

  it('tells so where the branch is gone, and refuses a commit that does not stand on it', async () => {
    await using world = await openWorld();
    const request = { branch: 'nowhere', old: world.old, commit: world.commit, witness };
    expect(await landTarget(world.repo, request)).toEqual({ kind: 'moved', now: undefined });
    await expect(
      landTarget(world.repo, { branch: 'main', old: world.commit, commit: world.old, witness }),
    ).rejects.toMatchObject({ code: 'invalid_input' });
  });

  it('lands one of many that come at once, and the user keeps all files', async () => {
    await using world = await openWorld();
    await world.write('other.txt', 'mine\n');
    const commits = ['one', 'two', 'three'].map((name) =>
      world.git('commit-tree', '-p', world.old, '-m', name, `${world.commit}^{tree}`),
    );
    const landings = await Promise.all(
      commits.map((commit) => landTarget(world.repo, { branch: 'main', old: world.old, commit, witness })),
    );
    expect(landings.filter(({ kind }) => kind === 'landed')).toHaveLength(1);
    expect(status(world)).toBe(' M other.txt');
    expect(readFileSync(join(world.path, 'other.txt'), 'utf8')).toBe('mine\n');
  });
});

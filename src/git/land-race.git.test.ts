import { existsSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { landBesideUser } from '../../tests/support/landing-beside-user.ts';
import { witness } from '../../tests/support/landing-witness.ts';
import {
  BESIDE,
  commitNext,
  type LandingWorld,
  landingWorld,
  listLeft,
  readTree,
  workBeside,
} from '../../tests/support/landing-world.ts';
import { pauseGit } from '../../tests/support/paused-git.ts';
import { inSoak, shareOf } from '../../tests/support/share-of.ts';
import type { LandingStep } from './landing-place.ts';
import { landTarget, type Landing } from './land-target.ts';

function land(
  { repo, old, commit }: LandingWorld,
  more: { patience_ms?: number; on_step?: (step: LandingStep) => void } = {},
): Promise<Landing> {
  return landTarget(repo, { branch: 'main', old, commit, witness, ...more });
}

const main = (world: LandingWorld) => world.git('rev-parse', 'refs/heads/main');
const status = (world: LandingWorld) => world.git('status', '--porcelain', '--untracked-files=all');

describe('[A5] a landing beside a git that stands still', () => {
  it('lets a commit with an open editor fail by its own words, and loses nothing of it', async () => {
    await using world = await landingWorld();
    workBeside(world);
    const git = await pauseGit(world, 'editor', 'commit');
    expect(await land(world)).toEqual({ kind: 'landed' });
    git.goOn();
    expect(await git.ended).toMatchObject({ stderr: expect.stringMatching(/cannot lock ref 'HEAD'/) });
    expect(main(world)).toBe(world.commit);
    expect(status(world)).toBe(BESIDE);
    world.git('commit', '--quiet', '-F', '.git/COMMIT_EDITMSG');
    expect(world.git('log', '-1', '--format=%s', '--name-only')).toBe('by the editor\n\nmine.txt');
  });

  it('waits for commit -a with an open editor, changes nothing, and sees that the branch moved', async () => {
    await using world = await landingWorld();
    workBeside(world);
    const before = readTree(world.path);
    const git = await pauseGit(world, 'editor', 'commit', '-a');
    expect(await land(world, { patience_ms: 300 })).toMatchObject({
      kind: 'busy',
      message: expect.stringContaining('index.lock'),
    });
    expect(readTree(world.path)).toEqual(before);
    const landing = land(world, { patience_ms: 30_000 });
    git.goOn();
    expect(await git.ended).toMatchObject({ exit: 0 });
    expect(await landing).toEqual({ kind: 'moved', now: main(world) });
    expect(world.git('show', '--format=', '--name-only')).toBe('edited.txt\nmine.txt');
    expect(listLeft(world)).toEqual([]);
  });

  it('leaves a commit unpolluted that had read HEAD and the index before', async () => {
    await using world = await landingWorld();
    workBeside(world);
    utimesSync(join(world.path, 'tool.sh'), 1, 1);
    const git = await pauseGit(world, 'index written', 'commit', '--quiet', '-m', 'mine');
    expect(await land(world)).toEqual({ kind: 'landed' });
    git.goOn();
    expect(await git.ended).toMatchObject({ stderr: expect.stringMatching(/cannot lock ref 'HEAD'/) });
    expect(status(world)).toBe(BESIDE);
    expect(commitNext(world)).toEqual(['mine.txt']);
  });

  it.each(
    shareOf(
      [
        ['reset', ['reset', '--quiet', '--hard']],
        ['stash', ['stash', 'push', '--quiet']],
      ],
      2,
    ),
  )('is made again when the %s of a user has moved the branch back', async (name, args) => {
    await using world = await landingWorld();
    writeFileSync(join(world.path, 'edited.txt'), 'edited\n');
    writeFileSync(join(world.path, 'untracked.txt'), 'untracked\n');
    const git = await pauseGit(world, 'index written by reset', ...args);
    let landings = 0;
    const landed = await land(world, {
      on_step(step) {
        if (step !== 'committed') return;
        landings += 1;
        git.goOn();
      },
    });
    expect(await git.ended).toMatchObject({ exit: 0 });
    expect(landed).toEqual({ kind: 'landed' });
    expect(landings).toBe(2);
    expect(main(world)).toBe(world.commit);
    expect(status(world)).toBe('?? untracked.txt');
    expect(world.git('reflog', 'show', 'main')).toMatch(/reset: moving to HEAD/);
    if (name !== 'stash') return;
    world.git('stash', 'pop', '--quiet');
    expect(status(world)).toBe(' M edited.txt\n?? untracked.txt');
  });

  inSoak(() => {
    it('keeps what a stash had begun to take', async () => {
      await using world = await landingWorld();
      writeFileSync(join(world.path, 'edited.txt'), 'edited\n');
      utimesSync(join(world.path, 'tool.sh'), 1, 1);
      const git = await pauseGit(world, 'index written', 'stash', 'push', '--quiet');
      // Longer than any landing waits for a git that nobody sees.
      const on_step = (step: LandingStep) => void (step === 'committed' && setTimeout(() => git.goOn(), 600));
      expect(await land(world, { on_step })).toEqual({ kind: 'landed' });
      await git.ended;
      if (world.git('stash', 'list') !== '') world.git('stash', 'pop', '--quiet');
      expect([main(world), status(world)]).toEqual([world.commit, ' M edited.txt']);
      expect(await world.read('edited.txt')).toBe('edited\n');
    });
  });

  it('stays back where the user has taken it back on purpose', async () => {
    await using world = await landingWorld();
    const landed = await land(world, {
      on_step(step) {
        if (step === 'committed') world.git('reset', '--quiet', '--hard', world.old);
      },
    });
    expect(landed).toEqual({ kind: 'landed' });
    expect(main(world)).toBe(world.old);
    expect(status(world)).toBe('');
    expect(listLeft(world)).toEqual([]);
  });

  it('puts the index right that a git had read before and writes back after', async () => {
    await using world = await landingWorld({
      prepare(place) {
        writeFileSync(join(place.path, 'slow.txt'), 'slow\n');
        writeFileSync(join(place.path, '.git/info/attributes'), 'slow.txt filter=slow\n');
      },
    });
    workBeside(world);
    utimesSync(join(world.path, 'slow.txt'), 1, 1);
    const git = await pauseGit(world, 'file compared', 'status');
    const landed = await land(world, {
      on_step(step) {
        if (step === 'committed') git.goOn();
      },
    });
    expect(await git.ended).toMatchObject({ exit: 0 });
    expect(landed).toEqual({ kind: 'landed' });
    expect(status(world)).toBe(BESIDE);
    expect(commitNext(world)).toEqual(['mine.txt']);
  });

  it('does not follow a user to another branch whose switch had written the index before', async () => {
    await using world = await landingWorld();
    world.git('checkout', '--quiet', '-b', 'other');
    await world.write('other.txt', 'other\n');
    world.git('add', '.');
    world.git('commit', '--quiet', '-m', 'other');
    world.git('checkout', '--quiet', 'main');
    const git = await pauseGit(world, 'index written', 'switch', '--quiet', 'other');
    const landed = await land(world, {
      on_step(step) {
        if (step === 'committed') git.goOn();
      },
    });
    git.goOn();
    expect(await git.ended).toMatchObject({ exit: 0 });
    expect(landed).toEqual({ kind: 'landed' });
    expect(world.git('branch', '--show-current')).toBe('other');
    expect(status(world)).toBe('');
    world.git('switch', '--quiet', 'main');
    expect([main(world), status(world)]).toEqual([world.commit, '']);
  });

  it('follows a switch to the branch that had read it before it moved', async () => {
    await using world = await landingWorld();
    world.git('checkout', '--quiet', '-b', 'other');
    await world.write('other.txt', 'other\n');
    world.git('add', '.');
    world.git('commit', '--quiet', '-m', 'other');
    const git = await pauseGit(world, 'index written', 'switch', '--quiet', 'main');
    const landing = land(world);
    await expect.poll(() => main(world), { timeout: 20_000 }).toBe(world.commit);
    git.goOn();
    expect(await git.ended).toMatchObject({ exit: 0 });
    expect(await landing).toEqual({ kind: 'landed' });
    expect(world.git('branch', '--show-current')).toBe('main');
    expect(status(world)).toBe('');
  });
});

describe('[A6] a lock of the branch that another process left', () => {
  it('keeps the landing waiting, and the checkout byte-equal', async () => {
    await using world = await landingWorld();
    workBeside(world);
    const before = readTree(world.path);
    const lock = join(world.repo.git_dir, 'refs/heads/main.lock');
    writeFileSync(lock, '');
    expect(await land(world, { patience_ms: 300 })).toMatchObject({
      kind: 'busy',
      message: expect.stringContaining(lock),
    });
    expect(readTree(world.path)).toEqual(before);
    expect(status(world)).toBe(BESIDE);
    expect(existsSync(lock)).toBe(true);
    rmSync(lock);
    expect(listLeft(world)).toEqual([]);
    expect(await land(world)).toEqual({ kind: 'landed' });
    expect(status(world)).toBe(BESIDE);
  });
});

inSoak(() => {
  describe('[A5] landings beside a user at work', () => {
    it('pollute no commit, lose no file and are not undone', async () => {
      const found = await landBesideUser(12, { seed: 1 });
      const none = { polluted: [], lost: [], undone: [], left: [] };
      expect(found, `the user of seed ${found.seed}`).toMatchObject(none);
    });
  });
});

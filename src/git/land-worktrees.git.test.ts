import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { witness } from '../../tests/support/landing-witness.ts';
import {
  commitNext,
  type LandingWorld,
  landingWorld,
  listLeft,
  readTree,
  workBeside,
} from '../../tests/support/landing-world.ts';
import { runTestGit } from '../../tests/support/temp-repo.ts';
import { healLandings } from './heal-landings.ts';
import { findObstacle, type Landing, landTarget } from './land-target.ts';
import type { LandingStep } from './landing-place.ts';

function land(
  { repo, old, commit }: LandingWorld,
  on_step?: (step: LandingStep) => void,
  branch = 'main',
): Promise<Landing> {
  return landTarget(repo, { branch, old, commit, witness, on_step });
}

const status = (path: string) => runTestGit(path, ['status', '--porcelain', '--untracked-files=all']).trim();

/** At the first time of that step. */
function once(step: LandingStep, act: () => void): (at: LandingStep) => void {
  let isDone = false;
  return (at) => {
    if (at !== step || isDone) return;
    isDone = true;
    act();
  };
}

describe('[B6] a branch that is reached through a symbolic ref', () => {
  it.each<[string, (world: LandingWorld) => void, string]>([
    [
      'the target leads to it',
      (world) => {
        world.git('branch', '-m', 'real');
        world.git('symbolic-ref', 'refs/heads/main', 'refs/heads/real');
      },
      'real',
    ],
    [
      'HEAD leads to it',
      (world) => {
        world.git('symbolic-ref', 'refs/heads/alias', 'refs/heads/main');
        world.git('symbolic-ref', 'HEAD', 'refs/heads/alias');
      },
      'main',
    ],
    [
      'target and HEAD lead to it, by two names',
      (world) => {
        world.git('branch', '-m', 'real');
        world.git('symbolic-ref', 'refs/heads/main', 'refs/heads/real');
        world.git('symbolic-ref', 'refs/heads/alias', 'refs/heads/real');
        world.git('symbolic-ref', 'HEAD', 'refs/heads/alias');
      },
      'real',
    ],
  ])('moves with its working tree: %s', async (_name, lead, real) => {
    await using world = await landingWorld();
    lead(world);
    const head = world.git('symbolic-ref', '--no-recurse', 'HEAD');
    workBeside(world);
    expect(await land(world)).toEqual({ kind: 'landed' });
    expect(world.git('rev-parse', `refs/heads/${real}`, 'main', 'HEAD').split('\n')).toEqual(
      Array.from({ length: 3 }, () => world.commit),
    );
    expect(world.git('symbolic-ref', '--no-recurse', 'HEAD')).toBe(head);
    expect(await world.read('a.txt')).toBe('landed\n');
    expect(listLeft(world)).toEqual([]);
    expect(commitNext(world)).toEqual(['mine.txt']);
  });

  it('is in the way where the working tree has a change of its own', async () => {
    await using world = await landingWorld();
    world.git('branch', '-m', 'real');
    world.git('symbolic-ref', 'refs/heads/main', 'refs/heads/real');
    await world.write('a.txt', 'mine\n');
    const { old, commit } = world;
    const overlap = { kind: 'overlap', files: ['a.txt'], worktree: world.path };
    expect(await findObstacle(world.repo, { branch: 'main', old, commit })).toEqual(overlap);
    expect(await land(world)).toEqual(overlap);
  });

  it('is taken back after a failure', async () => {
    await using world = await landingWorld();
    world.git('symbolic-ref', 'refs/heads/alias', 'refs/heads/main');
    world.git('symbolic-ref', 'HEAD', 'refs/heads/alias');
    const before = readTree(world.path);
    const fail = once('index', () => {
      throw new Error('no space left on device');
    });
    await expect(land(world, fail)).rejects.toMatchObject({ code: 'io_failed' });
    expect([readTree(world.path), status(world.path), listLeft(world)]).toEqual([before, '', []]);
  });

  it('is refused by name where it leads to no branch', async () => {
    await using world = await landingWorld();
    world.git('update-ref', 'refs/remotes/origin/main', world.old);
    world.git('symbolic-ref', 'refs/heads/alias', 'refs/remotes/origin/main');
    await expect(land(world, undefined, 'alias')).rejects.toMatchObject({ code: 'invalid_input' });
  });
});

describe('[B8] a second working tree of the branch', () => {
  async function openTwo(): Promise<LandingWorld & { readonly second: string }> {
    const world = await landingWorld();
    const second = join(world.path, '..', 'second');
    world.git('worktree', 'add', '--quiet', '--force', second, 'main');
    return { ...world, second };
  }

  it.each<LandingStep>(['journal', 'locked', 'prepared', 'file', 'files', 'commit', 'committed'])(
    'that goes away after %s is none any more',
    async (step) => {
      await using world = await openTwo();
      const remove = () => {
        rmSync(world.second, { recursive: true });
        rmSync(join(world.repo.common_dir, 'worktrees/second'), { recursive: true });
      };
      expect(await land(world, once(step, remove))).toEqual({ kind: 'landed' });
      expect(world.git('rev-parse', 'main')).toBe(world.commit);
      expect(status(world.path)).toBe('');
      expect(await healLandings(world.repo, witness, 1_000)).toEqual([]);
      expect(listLeft(world)).toEqual([]);
    },
  );

  it('that is only half removed is none any more', async () => {
    await using world = await openTwo();
    rmSync(join(world.second, '.git'));
    expect(await land(world)).toEqual({ kind: 'landed' });
    expect(status(world.path)).toBe('');
  });
});

describe('[B8] a landing that fails after the branch has moved', () => {
  it('is landed, and what is left of it is put right', async () => {
    await using world = await landingWorld();
    const fail = once('committed', () => {
      throw new Error('something else is broken');
    });
    expect(await land(world, fail)).toEqual({ kind: 'landed' });
    expect([world.git('rev-parse', 'main'), status(world.path)]).toEqual([world.commit, '']);
    expect(listLeft(world)).toEqual([]);
  });
});

describe('[B15] a working tree that is made in the middle of a landing', () => {
  it.each<LandingStep>(['journal', 'locked'])('after %s has the landed files too', async (step) => {
    await using world = await landingWorld();
    const second = join(world.path, '..', 'second');
    const add = () => world.git('worktree', 'add', '--quiet', '--force', second, 'main');
    expect(await land(world, once(step, add))).toEqual({ kind: 'landed' });
    expect(runTestGit(second, ['rev-parse', 'HEAD']).trim()).toBe(world.commit);
    expect([status(world.path), status(second)]).toEqual(['', '']);
    expect(listLeft(world)).toEqual([]);
  });
});

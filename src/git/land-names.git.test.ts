import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { type GitPlace, gitPlace } from '../../tests/support/git-places.ts';
import { witness } from '../../tests/support/landing-witness.ts';
import { listLeft, type LandingWorld } from '../../tests/support/landing-world.ts';
import { healLandings } from './heal-landings.ts';
import { findObstacle, type Landing, landTarget } from './land-target.ts';
import type { LandingStep } from './landing-place.ts';

/** A name of bytes, of which those above 127 are no UTF-8. */
const at = ({ path }: GitPlace, name: string) =>
  Buffer.concat([Buffer.from(`${path}/`), Buffer.from(name, 'latin1')]);
const EDITED = 'caf\xe9.txt';
const GONE = 'gone-\xff';
const NEW = 'f\xf6lder/n\xe9w';
/** UTF-8, which is not ASCII either. */
const PLAIN = Buffer.from('grün.txt').toString('latin1');

async function openWorld(): Promise<LandingWorld> {
  const place = await gitPlace();
  const commitAll = (message: string): string => {
    place.git('add', '--all');
    place.git('commit', '--quiet', '-m', message);
    return place.git('rev-parse', 'HEAD');
  };
  for (const name of [EDITED, GONE, PLAIN]) writeFileSync(at(place, name), 'old\n');
  const old = commitAll('second');
  place.git('checkout', '--quiet', '--detach');
  for (const name of [EDITED, PLAIN]) writeFileSync(at(place, name), 'landed\n');
  mkdirSync(at(place, 'f\xf6lder'));
  writeFileSync(at(place, NEW), 'landed\n');
  rmSync(at(place, GONE));
  const commit = commitAll('landed');
  place.git('checkout', '--quiet', 'main');
  return { ...place, old, commit };
}

const read = (place: GitPlace) =>
  [EDITED, GONE, NEW, PLAIN].map((name) =>
    existsSync(at(place, name)) ? readFileSync(at(place, name), 'utf8') : undefined,
  );
const OLD = ['old\n', 'old\n', undefined, 'old\n'];
const LANDED = ['landed\n', undefined, 'landed\n', 'landed\n'];
const status = (place: GitPlace) => place.git('status', '--porcelain', '--untracked-files=all');

function land({ repo, old, commit }: LandingWorld, on_step?: (step: LandingStep) => void): Promise<Landing> {
  return landTarget(repo, { branch: 'main', old, commit, witness, on_step });
}

describe('[B4] names that are not UTF-8', () => {
  it('land with their files and entries', async () => {
    await using world = await openWorld();
    expect(await land(world)).toEqual({ kind: 'landed' });
    expect([read(world), status(world)]).toEqual([LANDED, '']);
    expect(world.git('diff-files', '--name-only')).toBe('');
    await world.write('mine.txt', 'mine\n');
    world.git('add', 'mine.txt');
    world.git('commit', '--quiet', '-m', 'mine');
    expect(world.git('show', '--format=', '--name-only')).toBe('mine.txt');
  });

  it.each([EDITED, GONE, NEW])('are in the way where the user has something there: %j', async (name) => {
    await using world = await openWorld();
    if (name === NEW) mkdirSync(at(world, 'f\xf6lder'));
    writeFileSync(at(world, name), 'mine\n');
    const shown = Buffer.from(name, 'latin1').toString('utf8');
    const overlap = { kind: 'overlap', files: [shown], worktree: world.path };
    const { old, commit } = world;
    expect(await findObstacle(world.repo, { branch: 'main', old, commit })).toEqual(overlap);
    expect(await land(world)).toEqual(overlap);
    expect(readFileSync(at(world, name), 'utf8')).toBe('mine\n');
  });

  it('are taken back where the landing fails', async () => {
    await using world = await openWorld();
    const fail = (step: LandingStep): void => {
      if (step === 'index') throw new Error('no space left on device');
    };
    await expect(land(world, fail)).rejects.toMatchObject({ code: 'io_failed' });
    expect([read(world), status(world), listLeft(world)]).toEqual([OLD, '', []]);
  });

  it.each([
    ['aside', OLD],
    ['files', OLD],
    ['committed', LANDED],
  ])('are healed after a death at %s', async (step, wanted) => {
    await using world = await openWorld();
    const worker = fileURLToPath(new URL('../../tests/support/land-worker.ts', import.meta.url));
    const args = [worker, world.path, world.old, world.commit, step];
    const child = spawn(process.execPath, args, { detached: true, stdio: 'ignore' });
    await once(child, 'close');
    expect(await healLandings(world.repo, witness, 5_000)).toMatchObject([{ kind: 'healed', kept: [] }]);
    expect([read(world), status(world), listLeft(world)]).toEqual([wanted, '', []]);
  });

  it('follow a git that writes back the index it had read before', async () => {
    await using world = await openWorld();
    const index = `${world.repo.git_dir}/index`;
    const before = readFileSync(index);
    const landing = await land(world, (step) => {
      if (step === 'committed') writeFileSync(index, before);
    });
    expect(landing).toEqual({ kind: 'landed' });
    expect([read(world), status(world)]).toEqual([LANDED, '']);
  });
});

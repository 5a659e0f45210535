import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { GitPlace } from '../../tests/support/git-places.ts';
import { witness } from '../../tests/support/landing-witness.ts';
import {
  BESIDE,
  commitNext,
  type LandingWorld,
  landingWorld,
  linkElsewhere,
  listLeft,
  readTree,
  workBeside,
} from '../../tests/support/landing-world.ts';
import { shareOf } from '../../tests/support/share-of.ts';
import { runTestGit } from '../../tests/support/temp-repo.ts';
import { compareFingerprints, fingerprintCheckout } from './checkout-fingerprint.ts';
import { landTarget, type Landing } from './land-target.ts';

const land = ({ repo, old, commit }: LandingWorld): Promise<Landing> =>
  landTarget(repo, { branch: 'main', old, commit, witness });
const status = (place: GitPlace) => place.git('status', '--porcelain', '--untracked-files=all');

/** What git itself makes of the same commits in a checkout that nobody works in. */
function checkOut(world: LandingWorld, commit: string): Readonly<Record<string, string>> {
  const path = join(world.path, '..', `fresh-${commit.slice(0, 8)}`);
  runTestGit(world.path, ['worktree', 'add', '--quiet', '--detach', path, commit]);
  const files = readTree(path);
  world.git('worktree', 'remove', '--force', path);
  return files;
}

function addSubmodule(place: GitPlace): void {
  const source = join(place.path, '..', 'source');
  runTestGit('/', ['clone', '--quiet', place.path, source]);
  place.git('-c', 'protocol.file.allow=always', 'submodule', '--quiet', 'add', source, 'part');
}

describe('landTarget gives the files that git would', () => {
  it.each<[string, Parameters<typeof landingWorld>[0], (world: LandingWorld) => void]>(
    shareOf(
      [
        ['a plain repository', {}, () => {}],
        ['sha256', { shape: 'sha256' }, () => {}],
        ['a linked worktree', { shape: 'linked worktree' }, () => {}],
        ['a split index', {}, (place) => place.git('update-index', '--split-index')],
        [
          'a split index by setting',
          {},
          (place) => (
            place.git('config', 'core.splitIndex', 'true'),
            place.git('update-index', '--split-index')
          ),
        ],
        ['an index of version 4', {}, (place) => place.git('update-index', '--index-version', '4')],
        [
          'a cache of untracked files',
          {},
          (place) => (place.git('config', 'core.untrackedCache', 'true'), place.git('status')),
        ],
        ['a submodule', { prepare: addSubmodule }, () => {}],
        ['hundreds of files', { files: 300 }, () => {}],
        [
          'hooks that must not run',
          {},
          ({ path }) => {
            for (const hook of [
              'post-index-change',
              'reference-transaction',
              'post-checkout',
              'post-merge',
            ]) {
              writeFileSync(join(path, '.git/hooks', hook), '#!/bin/sh\necho ran > ran-a-hook\nexit 1\n');
              chmodSync(join(path, '.git/hooks', hook), 0o755);
            }
          },
        ],
      ],
      3,
    ),
  )('in %s', async (_name, options, prepare) => {
    await using world = await landingWorld(options);
    const wanted = checkOut(world, world.commit);
    workBeside(world);
    prepare(world);
    expect(await land(world)).toEqual({ kind: 'landed' });
    rmSync(join(world.path, '.git/hooks'), { recursive: true, force: true });
    expect(world.git('rev-parse', 'main')).toBe(world.commit);
    expect(status(world)).toBe(BESIDE);
    const files = readTree(world.path);
    const isOfSubmodule = (path: string) => path.startsWith('part/');
    const own = { 'mine.txt': 'staged\n', 'edited.txt': 'edited\n' };
    expect(files).toMatchObject({ ...wanted, ...own });
    const more = Object.keys(files).filter((path) => !(path in wanted) && !isOfSubmodule(path));
    expect(more).toEqual(['untracked.txt']);
    expect(world.git('diff-files', '--name-only')).toBe('edited.txt');
    expect(world.git('fsck', '--strict', '--no-dangling')).toBe('');
    expect(listLeft(world)).toEqual([]);
    expect(commitNext(world)).toEqual(['mine.txt']);
  });

  it.each<[string, readonly string[]]>(
    shareOf(
      [
        ['in cones', ['--cone']],
        ['in cones, with a sparse index', ['--cone', '--sparse-index']],
        ['by patterns', ['--no-cone']],
      ],
      2,
    ),
  )('in a sparse checkout %s, without what it leaves out', async (_name, how) => {
    await using world = await landingWorld({ files: 3 });
    const wanted = how.includes('--no-cone') ? ['/*', '!/many/', '!/deep/'] : ['folder'];
    world.git('sparse-checkout', 'set', ...how, ...wanted);
    expect(existsSync(join(world.path, 'many'))).toBe(false);
    writeFileSync(join(world.path, 'edited.txt'), 'edited\n');
    expect(await land(world)).toEqual({ kind: 'landed' });
    expect(status(world)).toBe(' M edited.txt');
    expect(existsSync(join(world.path, 'many'))).toBe(false);
    expect(existsSync(join(world.path, 'deep'))).toBe(false);
    expect(await world.read('a.txt')).toBe('landed\n');
    expect(world.git('diff', '--cached', '--name-only')).toBe('');
    expect(world.git('ls-files', '-t', 'many/0')).toBe('S many/0');
    world.git('sparse-checkout', 'disable');
    expect(status(world)).toBe(' M edited.txt');
  });

  it('with the filters and line ends that the landed attributes say', async () => {
    await using world = await landingWorld();
    world.git('config', 'filter.loud.smudge', 'tr a-z A-Z');
    world.git('config', 'filter.loud.clean', 'tr A-Z a-z');
    world.git('checkout', '--quiet', '--detach', world.commit);
    await world.write('.gitattributes', '*.txt text eol=crlf\nloud.md filter=loud\n');
    await world.write('loud.md', 'quiet\n');
    world.git('add', '--renormalize', '.');
    world.git('add', '.');
    world.git('commit', '--quiet', '-m', 'attributes');
    const commit = world.git('rev-parse', 'HEAD');
    world.git('checkout', '--quiet', 'main');
    expect(await land({ ...world, commit })).toEqual({ kind: 'landed' });
    expect(status(world)).toBe('');
    expect(await world.read('loud.md')).toBe('QUIET\n');
    expect(await world.read('a.txt')).toBe('landed\r\n');
    expect(await world.read('windows.txt')).toBe('one\r\nlanded\r\n');
  });

  it('where the working tree is on another file system than the git directory', async () => {
    await using world = await landingWorld();
    await using linked = await linkElsewhere(world);
    writeFileSync(join(linked.path, 'edited.txt'), 'edited\n');
    expect(await land(world)).toEqual({ kind: 'landed' });
    expect(runTestGit(linked.path, ['status', '--porcelain'])).toBe(' M edited.txt');
    expect(readFileSync(join(linked.path, 'a.txt'), 'utf8')).toBe('landed\n');
  });
});

describe('landTarget refuses by name, and changes nothing', () => {
  it.each<[string, (world: LandingWorld) => void, readonly string[]]>(
    shareOf(
      [
        [
          'a file that git is told to take for unchanged',
          ({ path, ...place }) => {
            place.git('update-index', '--assume-unchanged', 'a.txt');
            writeFileSync(join(path, 'a.txt'), 'mine\n');
          },
          ['a.txt'],
        ],
        [
          'a file that git is told to leave alone',
          ({ path, ...place }) => {
            place.git('update-index', '--skip-worktree', 'a.txt');
            writeFileSync(join(path, 'a.txt'), 'mine\n');
          },
          ['a.txt'],
        ],
        [
          'a new file in a folder that is to be a file',
          ({ path }) => writeFileSync(join(path, 'folder/mine'), 'mine\n'),
          ['folder'],
        ],
        [
          'an ignored file in a folder that is to be a file',
          ({ path }) => {
            writeFileSync(join(path, '.git/info/exclude'), 'mine\n');
            writeFileSync(join(path, 'folder/mine'), 'mine\n');
          },
          ['folder'],
        ],
        [
          'a file that is to be there later',
          ({ path, ...place }) => {
            mkdirSync(join(path, 'deep/er'), { recursive: true });
            writeFileSync(join(path, 'deep/er/new.txt'), 'mine\n');
            place.git('add', '--intent-to-add', 'deep/er/new.txt');
          },
          ['deep/er/new.txt'],
        ],
        [
          'a conflict of a stash elsewhere',
          ({ path, ...place }) => {
            writeFileSync(join(path, 'mine.txt'), 'one\n');
            place.git('stash', 'push', '--quiet');
            writeFileSync(join(path, 'mine.txt'), 'two\n');
            place.git('commit', '--quiet', '-a', '-m', 'two');
            place.git('reset', '--quiet', '--soft', 'HEAD~1');
            place.git('commit', '--quiet', '-a', '-m', 'two');
            try {
              place.git('stash', 'pop', '--quiet');
            } catch {
              // It ends with a conflict.
            }
          },
          ['mine.txt'],
        ],
      ],
      3,
    ),
  )('%s', async (_name, change, files) => {
    await using world = await landingWorld();
    change(world);
    const old = world.git('rev-parse', 'main');
    const commit =
      old === world.old
        ? world.commit
        : world.git('commit-tree', '-p', old, '-m', 'x', `${world.commit}^{tree}`);
    const before = { files: readTree(world.path), print: await fingerprintCheckout(world.repo) };
    expect(await land({ ...world, old, commit })).toEqual({ kind: 'overlap', files, worktree: world.path });
    expect(readTree(world.path)).toEqual(before.files);
    expect(compareFingerprints(before.print, await fingerprintCheckout(world.repo))).toEqual([]);
    expect(listLeft(world)).toEqual([]);
  });
});

describe('[A5] landTarget that cannot finish', () => {
  it.each(shareOf(['file', 'files', 'index'], 3))(
    'takes everything back after %s, and says what went wrong',
    async (at) => {
      await using world = await landingWorld();
      workBeside(world);
      const before = readTree(world.path);
      const { repo, old, commit } = world;
      let steps = 0;
      const on_step = (step: string): void => {
        if (step === at && (steps += 1) === 1) throw new Error('no space left on device');
      };
      await expect(landTarget(repo, { branch: 'main', old, commit, witness, on_step })).rejects.toMatchObject(
        {
          code: 'io_failed',
          message: expect.stringContaining('no space left on device') as string,
        },
      );
      expect(readTree(world.path)).toEqual(before);
      expect([world.git('rev-parse', 'main'), status(world)]).toEqual([old, BESIDE]);
      expect(listLeft(world)).toEqual([]);
      expect(await land(world)).toEqual({ kind: 'landed' });
    },
  );
});

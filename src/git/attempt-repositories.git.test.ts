import {
  existsSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { witness } from '../../tests/support/landing-witness.ts';
import {
  type AttemptPlace,
  checkObjects,
  gitIn,
  openAttempts,
  writeIn,
} from '../../tests/support/attempt-places.ts';
import { type GitPlace, gitPlace } from '../../tests/support/git-places.ts';
import { shareOf } from '../../tests/support/share-of.ts';
import { runTestGit, testGitEnv } from '../../tests/support/temp-repo.ts';
import type { StartRequest } from './attempt-checkout.ts';
import type { Checkout } from './checkout-record.ts';
import type { ControlOptions } from './control-directory.ts';
import { findRepository } from './find-repository.ts';
import { landTarget } from './land-target.ts';
import { makeCandidate } from './merge-candidate.ts';

interface Shape {
  readonly name: string;
  /** Gives the repository to work in; the first one where it gives none. */
  readonly make: (place: GitPlace) => Promise<string | void> | string | void;
  readonly options?: ControlOptions;
  readonly env?: (place: GitPlace) => Record<string, string>;
  readonly start?: Partial<StartRequest>;
  readonly check: (checkout: Checkout, world: AttemptPlace) => Promise<void> | void;
}

async function commitMore(place: GitPlace): Promise<void> {
  for (const at of [1, 2, 3]) {
    await place.write(`dir-${at}/file.txt`, `${at}\n`);
    place.git('add', '.');
    place.git('commit', '--quiet', '-m', `commit ${at}`);
  }
}

function clone(place: GitPlace, ...args: string[]): string {
  const path = join(place.path, '..', 'clone');
  place.git('config', 'uploadpack.allowFilter', 'true');
  runTestGit(place.path, ['clone', '--quiet', ...args, `file://${place.path}`, path]);
  for (const [key, value] of Object.entries({ 'user.name': 'Test User', 'user.email': 'test@example.com' }))
    runTestGit(path, ['config', key, value]);
  return path;
}

const read = (checkout: Checkout, file: string) => readFileSync(join(checkout.path, file), 'utf8');

const SHAPES: readonly Shape[] = [
  {
    name: 'a shallow clone',
    make: async (place) => {
      await commitMore(place);
      return clone(place, '--depth', '2');
    },
    check: (checkout) => {
      expect(gitIn(checkout, 'log', '--format=%s', `${checkout.base}`)).toBe('commit 3\ncommit 2');
    },
  },
  {
    name: 'a partial clone',
    make: async (place) => {
      await commitMore(place);
      await place.write('dir-1/file.txt', 'newer\n');
      place.git('commit', '--quiet', '-a', '-m', 'newer');
      return clone(place, '--filter=blob:none');
    },
    options: { protocols: ['file'] },
    check: (checkout) => {
      // An old version that is not here is fetched when the agent wants it.
      expect(gitIn(checkout, 'show', `${checkout.base}~1:dir-1/file.txt`)).toBe('1');
    },
  },
  {
    name: 'a sparse checkout with folders',
    make: async (place) => {
      await commitMore(place);
      place.git('sparse-checkout', 'set', '--cone', 'dir-1');
    },
    start: { sparse: true },
    check: (checkout, { place }) => {
      expect(readdirSync(checkout.path).sort()).toEqual(['.git', 'a.txt', 'dir-1', 'new.txt', 'outside']);
      expect(gitIn(checkout, 'sparse-checkout', 'list')).toBe('dir-1');
      const files = place.git('ls-tree', '-r', '--name-only', `forge/${checkout.name}`).split('\n');
      expect(files).toEqual(expect.arrayContaining(['dir-2/file.txt', 'dir-3/file.txt', 'outside/x.txt']));
    },
  },
  {
    name: 'a sparse checkout with patterns',
    make: async (place) => {
      await commitMore(place);
      place.git('sparse-checkout', 'set', '--no-cone', '/a.txt', '!/dir-1');
    },
    start: { sparse: true },
    check: (checkout, { place }) => {
      expect(readdirSync(checkout.path).sort()).toEqual(['.git', 'a.txt', 'new.txt', 'outside']);
      expect(place.git('ls-tree', '-r', '--name-only', `forge/${checkout.name}`)).toContain('dir-3/file.txt');
    },
  },
  {
    name: 'a sparse checkout that an attempt does not want',
    make: async (place) => {
      await commitMore(place);
      place.git('sparse-checkout', 'set', '--cone', 'dir-1');
    },
    check: (checkout) => {
      expect(existsSync(join(checkout.path, 'dir-2/file.txt'))).toBe(true);
    },
  },
  {
    name: 'sha256',
    make: (place) => {
      const path = join(place.path, '..', 'sha256');
      runTestGit('/', ['init', '--quiet', '-b', 'main', '--object-format=sha256', path]);
      writeFileSync(join(path, 'a.txt'), 'a\n');
      runTestGit(path, ['config', 'user.name', 'Test User']);
      runTestGit(path, ['config', 'user.email', 'test@example.com']);
      runTestGit(path, ['add', '.']);
      runTestGit(path, ['commit', '--quiet', '-m', 'first']);
      return path;
    },
    check: (checkout) => {
      expect(checkout.base).toHaveLength(64);
    },
  },
  {
    name: 'attributes of LFS where LFS is not installed',
    make: async (place) => {
      await place.write('.gitattributes', '*.bin filter=lfs diff=lfs merge=lfs -text\n');
      await place.write('x.bin', 'version https://git-lfs.github.com/spec/v1\n');
      place.git('add', '.');
      place.git('commit', '--quiet', '-m', 'lfs');
    },
    check: (checkout) => {
      expect(read(checkout, 'x.bin')).toContain('git-lfs');
      expect(gitIn(checkout, 'config', 'lfs.storage')).toMatch(/\.git\/lfs$/);
    },
  },
  {
    name: 'alternates',
    make: async (place) => {
      await commitMore(place);
      return clone(place, '--shared');
    },
    check: (checkout) => {
      expect(gitIn(checkout, 'log', '--format=%s', checkout.base)).toContain('first');
    },
  },
  {
    name: 'objects behind a symbolic link',
    make: (place) => {
      const objects = join(place.path, '.git', 'objects');
      renameSync(objects, join(place.path, '..', 'objects'));
      symlinkSync(join(place.path, '..', 'objects'), objects);
    },
    check: () => undefined,
  },
  {
    name: 'autocrlf',
    make: async (place) => {
      place.git('config', 'core.autocrlf', 'true');
      await place.write('crlf.txt', 'one\r\ntwo\r\n');
      place.git('add', '.');
      place.git('commit', '--quiet', '-m', 'crlf');
    },
    check: (checkout, { place }) => {
      expect(read(checkout, 'crlf.txt')).toBe('one\r\ntwo\r\n');
      expect(place.git('diff', '--name-only', checkout.base, `forge/${checkout.name}`)).toBe(
        'new.txt\noutside/x.txt',
      );
    },
  },
  {
    name: 'an identity that is included for the folder alone',
    make: (place) => {
      place.git('config', '--unset', 'user.name');
      writeFileSync(join(place.path, '..', 'identity'), '[user]\n\tname = Included\n');
      const condition = `[includeIf "gitdir:${place.path}/"]\n\tpath = identity\n`;
      writeFileSync(join(place.path, '..', 'global'), condition);
    },
    env: (place) => ({ GIT_CONFIG_GLOBAL: join(place.path, '..', 'global') }),
    check: (checkout, { place }) => {
      expect(gitIn(checkout, 'config', 'user.name')).toBe('Included');
      expect(place.git('log', '-1', '--format=%an <%ae>', `forge/${checkout.name}`)).toBe(
        'Included <test@example.com>',
      );
    },
  },
  {
    name: 'a submodule that is not wanted',
    make: (place) => addSubmodule(place),
    check: (checkout) => {
      expect(readdirSync(join(checkout.path, 'part'))).toEqual([]);
    },
  },
  {
    name: 'a submodule that is wanted',
    make: (place) => addSubmodule(place),
    options: { protocols: ['file'] },
    start: { submodules: 'top' },
    check: async (checkout, { place, harvest }) => {
      expect(read(checkout, 'part/part.txt')).toBe('part\n');
      expect(gitIn(checkout, '-C', 'part', 'rev-parse', '--absolute-git-dir')).toBe(
        join(checkout.path, '.git/modules/part'),
      );
      // The user's own is not changed, and the objects need not be fetched twice.
      expect(place.git('-C', 'part', 'rev-parse', '--absolute-git-dir')).toBe(
        join(place.path, '.git/modules/part'),
      );
      expect(read(checkout, '.git/modules/part/objects/info/alternates')).toContain(place.path);
      writeIn(checkout, 'part/part.txt', 'changed\n');
      gitIn(checkout, '-C', 'part', '-c', 'user.name=x', '-c', 'user.email=x@y', 'commit', '-qam', 'in part');
      expect((await harvest(checkout)).submodules).toEqual(['part']);
    },
  },
];

function addSubmodule(place: GitPlace): void {
  const source = join(place.path, '..', 'source');
  runTestGit('/', ['init', '--quiet', '-b', 'main', source]);
  writeFileSync(join(source, 'part.txt'), 'part\n');
  runTestGit(source, ['add', '.']);
  runTestGit(source, ['-c', 'user.name=x', '-c', 'user.email=x@y', 'commit', '--quiet', '-m', 'part']);
  place.git('-c', 'protocol.file.allow=always', 'submodule', '--quiet', 'add', source, 'part');
  place.git('commit', '--quiet', '-m', 'submodule');
}

function toGitPlace(place: GitPlace, path: string, env: Record<string, string>): GitPlace {
  const found = findRepository(path);
  if (found === undefined) throw new Error(`no repository in ${path}`);
  return {
    ...place,
    path,
    repo: { ...found, env: { ...testGitEnv(), ...env } },
    git: (...args) => runTestGit(path, args, env),
  };
}

describe('an attempt in', () => {
  it.each(shareOf(SHAPES, 3))('$name', async ({ make, options, env, start, check }) => {
    await using first = await gitPlace();
    const path = (await make(first)) ?? first.path;
    const place = toGitPlace(first, path, env?.(first) ?? {});
    const before = place.git('status', '--porcelain');
    const world = await openAttempts(place, options);
    const checkout = await world.start(start);
    expect(gitIn(checkout, 'status', '--porcelain')).toBe('');
    // What the agent commits itself, and what it leaves.
    writeIn(checkout, 'new.txt', 'new\n');
    gitIn(checkout, 'add', '--sparse', 'new.txt');
    gitIn(checkout, '-c', 'user.name=Agent', 'commit', '--quiet', '-m', 'agent');
    writeIn(checkout, 'outside/x.txt', 'x\n');
    const { head, files, salvaged } = await world.harvest(checkout);
    expect({ files, salvaged }).toEqual({ files: ['new.txt', 'outside/x.txt'], salvaged: undefined });
    expect(gitIn(checkout, 'status', '--porcelain')).toBe('');
    const target = place.git('rev-parse', 'HEAD');
    for (const strategy of ['merge', 'squash', 'rebase'] as const) {
      const request = { target, head, base: checkout.base, strategy, message: 'merge' };
      expect(await makeCandidate(world.control, request)).toMatchObject({ kind: 'ready' });
    }
    await check(checkout, world);
    expect(place.git('status', '--porcelain')).toBe(before);
    expect(await landTarget(place.repo, { branch: 'main', old: target, commit: head, witness })).toEqual({
      kind: 'landed',
    });
    expect(place.git('status', '--porcelain')).toBe(before);
    expect(place.git('log', '-1', '--format=%s')).toBe('Work of the agent');
    rmSync(checkout.path, { recursive: true });
    expect(checkObjects(place)).toBe('');
  });
});

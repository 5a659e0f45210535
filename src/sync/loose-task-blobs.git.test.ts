import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, truncateSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { toLoosePath } from '#git/store-blob.ts';
import { systemClock } from '#kernel/clock.ts';
import { LIMITS } from '#kernel/limits.ts';
import { tempRepo, testGitEnv, type TempRepo } from '../../tests/support/temp-repo.ts';
import { noteTaskBlobs, packTaskBlobs } from './loose-task-blobs.ts';
import { toGitRepo, type Machine } from './machine.ts';
import { toProjectPaths } from './project-paths.ts';

describe('[D14] versions of a large task file in git', () => {
  it('are packed: one of them whole, of the others what they change', async () => {
    await using temp = await tempRepo();
    const { place, add } = open(temp);
    const oids = ['one', 'two', 'three', 'four', 'five'].map(add);
    noteTaskBlobs(place, oids);
    noteTaskBlobs(place, oids);
    expect(noted(temp)).toEqual(oids);
    await packTaskBlobs(place.paths, place.repo);
    expect(oids.filter((oid) => existsSync(toLoosePath(join(temp.path, '.git/objects'), oid)))).toEqual([]);
    expect(temp.git('cat-file', '-p', oids[3] ?? '')).toContain('four');
    expect(temp.git('fsck', '--no-dangling')).toBe('');
    const sizes = /size-pack: (\d+)/.exec(temp.git('count-objects', '-v'));
    expect(Number(sizes?.[1])).toBeLessThan((2 * SIZE) / 1024);
    expect(existsSync(join(temp.path, '.git/forge/loose-blobs'))).toBe(false);
  });

  it.each([
    ['gc.auto', '0'],
    ['maintenance.auto', 'false'],
  ])('are left alone where git is told so: %s %s', async (name, value) => {
    await using temp = await tempRepo();
    const { place, add } = open(temp);
    temp.git('config', name, value);
    const oids = ['one', 'two'].map(add);
    noteTaskBlobs(place, oids);
    await packTaskBlobs(place.paths, place.repo);
    expect(temp.git('count-objects', '-v')).toContain('count: 2');
  });

  it('are left to git while they are small', async () => {
    await using temp = await tempRepo();
    const { place } = open(temp);
    await temp.write('small', 'small');
    noteTaskBlobs(place, [temp.git('hash-object', '-w', 'small')]);
    expect(existsSync(join(temp.path, '.git/forge/loose-blobs'))).toBe(false);
  });

  it('are packed beside the commit that makes them too much, and not before', async () => {
    await using temp = await tempRepo();
    const started = join(temp.path, 'started');
    const script = join(temp.path, 'forge.cjs');
    writeFileSync(
      script,
      `require('fs').writeFileSync(${JSON.stringify(started)}, process.argv.slice(2).join(' '))`,
    );
    const { place } = open(temp, script);
    const oids = Array.from({ length: 5 }, (_, i) => String(i).repeat(40));
    for (const oid of oids) {
      expect(existsSync(started)).toBe(false);
      const path = toLoosePath(join(temp.path, '.git/objects'), oid);
      mkdirSync(dirname(path), { recursive: true });
      writeFileSync(path, '');
      truncateSync(path, Math.ceil(LIMITS.loose_blob_bytes / oids.length));
      noteTaskBlobs(place, [oid]);
    }
    for (let tries = 0; tries < 500 && !existsSync(started); tries += 1) await sleep(20);
    expect(readFileSync(started, 'utf8')).toBe('hook pack-blobs');
  });
});

const SIZE = 300_000;

function open(temp: TempRepo, script = '/nowhere') {
  mkdirSync(join(temp.path, '.git/forge'));
  // The repositories of tests have it off.
  temp.git('config', 'maintenance.auto', 'true');
  const machine: Machine = {
    env: testGitEnv(),
    homeDir: temp.path,
    program: { node: process.execPath, script },
    clock: systemClock,
  };
  const repo = toGitRepo(temp.path, machine);
  const content = randomBytes(SIZE).toString('base64');
  return {
    place: { paths: toProjectPaths(repo), repo, machine },
    /** A version of one file; its name in git. */
    add: (change: string): string => {
      writeFileSync(join(temp.path, 'file'), `${content}${change}\n`);
      return temp.git('hash-object', '-w', 'file');
    },
  };
}

function noted(temp: TempRepo): string[] {
  return readFileSync(join(temp.path, '.git/forge/loose-blobs'), 'utf8').trimEnd().split('\n');
}

import {
  existsSync,
  mkdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { tempFolder } from '../../tests/support/temp-repo.ts';
import { openCheckCaches, SETUP_CACHES, sweepCaches, toCacheFolder } from './caches.ts';

const at = (home: string) => ({
  home,
  root: '/home/ann/project',
  settings: () => ({ walls: { checks: 'on', check_caches: 'fresh' } }) as never, // only what is looked at
});

it('checks begin with what set-ups have cached, in a folder of the user alone, which goes afterwards', async () => {
  await using temp = await tempFolder();
  const place = at(temp.path);
  mkdirSync(join(toCacheFolder(place, SETUP_CACHES), 'npm'), { recursive: true });
  writeFileSync(join(toCacheFolder(place, SETUP_CACHES), 'npm/a'), 'cached');
  symlinkSync('a', join(toCacheFolder(place, SETUP_CACHES), 'npm/link'));
  const folder = toCacheFolder(place, 'gate-r1');
  {
    await using caches = await openCheckCaches(place, 'r1');
    expect(caches.whose).toBe('gate-r1');
    expect(readFileSync(join(folder, 'npm/a'), 'utf8')).toBe('cached');
    // An absolute path would lead back to the caches of the set-ups.
    expect(readlinkSync(join(folder, 'npm/link'))).toBe('a');
  }
  expect(existsSync(folder)).toBe(false);
});

it('that another process has removed already keep no check from ending', async () => {
  await using temp = await tempFolder();
  const place = at(temp.path);
  const caches = await openCheckCaches(place, 'r1');
  rmSync(toCacheFolder(place, 'gate-r1'), { recursive: true });
  await expect(caches[Symbol.asyncDispose]()).resolves.toBeUndefined();
});

it('they are made for the user alone where set-ups have cached nothing', async () => {
  await using temp = await tempFolder();
  await using _caches = await openCheckCaches(at(temp.path), 'r1');
  expect(statSync(toCacheFolder(at(temp.path), 'gate-r1')).mode & 0o777).toBe(0o700);
});

it('those that a killed process has left are removed with all in them, and those of open gates are not', async () => {
  await using temp = await tempFolder();
  const place = at(temp.path);
  const names = ['gate-open', 'gate-left', 'agents'];
  for (const name of names) {
    mkdirSync(join(toCacheFolder(place, name), 'npm'), { recursive: true });
    writeFileSync(join(toCacheFolder(place, name), 'npm/a'), '');
  }
  await sweepCaches(place, (id) => id === 'open');
  expect(names.filter((name) => existsSync(toCacheFolder(place, name)))).toEqual(['gate-open', 'agents']);
  await sweepCaches(at(join(temp.path, 'none')), () => false);
});

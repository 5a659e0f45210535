import { randomUUID } from 'node:crypto';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import {
  type AttemptPlace,
  attemptPlace,
  checkObjects,
  gitIn,
  openAttempts,
  writeIn,
} from '../../tests/support/attempt-places.ts';
import { tempFolder } from '../../tests/support/temp-repo.ts';
import { recreateCheckout, startCheckout } from './attempt-checkout.ts';
import { listCheckoutRefs, toKeepRef } from './attempt-refs.ts';
import { findRecord, listRecords } from './checkout-record.ts';
import { compareFingerprints, fingerprintCheckout } from './checkout-fingerprint.ts';

const leftBehind = async (world: AttemptPlace) => ({
  folders: existsSync(world.root) ? readdirSync(world.root) : [],
  records: readdirSync(join(world.control.git_dir, 'attempts')),
  kept: readdirSync(join(world.control.git_dir, 'refs/forge/keep')),
  refs: await listCheckoutRefs(world.control),
});
const NOTHING = { folders: [], records: [], kept: [], refs: [] };

describe('startCheckout', () => {
  it("[S139] makes a checkout on a branch of its own, and leaves the user's as it was", async () => {
    await using world = await attemptPlace();
    const { place, control } = world;
    const before = await fingerprintCheckout(place.repo);
    const checkout = await world.start({ name: '35a4-test-forge-metad' });
    expect(readFileSync(join(checkout.path, 'a.txt'), 'utf8')).toBe('a\n');
    expect(gitIn(checkout, 'rev-parse', '--abbrev-ref', 'HEAD')).toBe('forge/35a4-test-forge-metad');
    expect(gitIn(checkout, 'rev-parse', '--absolute-git-dir')).toBe(join(checkout.path, '.git'));
    expect(gitIn(checkout, 'status', '--porcelain')).toBe('');
    expect(gitIn(checkout, 'fsck', '--strict')).toBe('');
    expect((await listCheckoutRefs(control)).map(({ ref, commit }) => [ref, commit])).toEqual([
      [toKeepRef(checkout.attempt_id), checkout.base],
      ['refs/heads/forge/35a4-test-forge-metad', checkout.base],
    ]);
    expect(compareFingerprints(before, await fingerprintCheckout(place.repo))).toEqual([]);
    expect(findRecord(control, checkout.attempt_id)).toEqual(checkout);
    expect(listRecords(control)).toEqual([checkout]);
  });

  it('[S144] says in its configuration whose it is', async () => {
    await using world = await attemptPlace();
    world.place.git('config', 'remote.origin.url', 'https://example.com/x');
    const { control } = await openAttempts(world.place);
    const name = '35a4-x';
    const attempt_id = randomUUID();
    const checkout = await startCheckout(control, {
      attempt_id,
      name,
      root: world.root,
      path: join(world.root, name),
      base: world.place.git('rev-parse', 'HEAD'),
      facts: {
        project: '/a "b"\\c',
        task: 'fg-a3f8',
      },
    });
    const list = gitIn(checkout, 'config', '--local', '--list').split('\n');
    expect(list.filter((line) => line.startsWith('branch.forge'))).toEqual([
      'branch.forge/35a4-x.remote=origin',
      'branch.forge/35a4-x.merge=refs/heads/forge/35a4-x',
      'branch.forge/35a4-x.forge-project=/a "b"\\c',
      'branch.forge/35a4-x.forge-task=fg-a3f8',
      `branch.forge/35a4-x.forge-attempt=${attempt_id}`,
    ]);
    expect(list).toEqual(
      expect.arrayContaining([
        'forge.project=/a "b"\\c',
        'forge.task=fg-a3f8',
        `forge.attempt=${attempt_id}`,
      ]),
    );
    expect(gitIn(checkout, 'config', 'user.name')).toBe('Test User');
  });

  it('[S146] leaves nothing in the working tree that git would show', async () => {
    await using world = await attemptPlace();
    const checkout = await world.start();
    expect(gitIn(checkout, 'status', '--porcelain', '--ignored')).toBe('');
    expect(readdirSync(checkout.path).sort()).toEqual(['.git', 'a.txt']);
  });

  it('[S235] takes no place outside of its root, through a link, or with another name', async () => {
    await using world = await attemptPlace();
    const outside = join(world.place.path, '..', 'outside');
    mkdirSync(outside);
    mkdirSync(world.root);
    symlinkSync(outside, join(world.root, 'link'));
    const places = [
      outside,
      `${world.root}-sibling`,
      join(world.root, 'link', 'x'),
      join(world.root, 'link'),
      `${world.root}/../outside/x`,
      'relative',
      join(world.root, 'gone', 'x'),
    ];
    for (const path of places)
      await expect(world.start({ path })).rejects.toMatchObject({ code: 'permission_denied' });
    for (const name of ['../x', '-x', '', '.', 'a/b', 'a..b', 'x.lock', 'a b', 'x'.repeat(101), 'a\n'])
      await expect(world.start({ name, path: join(world.root, 'x') })).rejects.toMatchObject({
        code: 'invalid_input',
      });
    await expect(world.start({ attempt_id: '../../x', name: 'x' })).rejects.toMatchObject({
      code: 'invalid_input',
    });
    await expect(world.start({ base: '--help' })).rejects.toMatchObject({ code: 'invalid_input' });
    await expect(world.start({ facts: { 'a.b': 'x' } })).rejects.toMatchObject({ code: 'invalid_input' });
    rmSync(join(world.root, 'link'));
    expect(await leftBehind(world)).toEqual(NOTHING);
    expect(readdirSync(outside)).toEqual([]);
  });

  it('leaves nothing where it fails, and what was there where the name is taken', async () => {
    await using world = await attemptPlace();
    const { place } = world;
    await expect(world.start({ base: '1'.repeat(40) })).rejects.toMatchObject({ code: 'io_failed' });
    expect(await leftBehind(world)).toEqual(NOTHING);
    place.git('branch', 'forge/taken');
    await expect(world.start({ name: 'taken' })).rejects.toMatchObject({ code: 'already_exists' });
    expect(await leftBehind(world)).toMatchObject({ ...NOTHING, refs: [{ ref: 'refs/heads/forge/taken' }] });
    place.git('branch', '-D', 'forge/taken');
    const signal = AbortSignal.abort();
    await expect(world.start({ signal })).rejects.toMatchObject({ code: 'interrupted' });
    expect(await leftBehind(world)).toEqual(NOTHING);
    await using bin = await tempFolder({ folder: 'bin' });
    await bin.write(
      'git',
      '#!/bin/sh\ncase "$*" in *read-tree*) exec sleep 60;; esac\nPATH=$REST exec git "$@"\n',
    );
    chmodSync(join(bin.path, 'git'), 0o755);
    const { PATH: rest = '' } = process.env;
    const env = { ...place.repo.env, PATH: `${bin.path}:${rest}`, REST: rest };
    const late = { ...place, repo: { ...place.repo, env } };
    const slow = await openAttempts(late, { checkout_timeout_ms: 50 });
    await expect(slow.start()).rejects.toMatchObject({ message: 'git read-tree did not end within 0.05 s' });
    expect(await leftBehind(world)).toEqual(NOTHING);
    writeFileSync(join(world.root, 'file'), 'mine');
    await expect(world.start({ name: 'file' })).rejects.toMatchObject({ code: 'already_exists' });
    expect(await leftBehind(world)).toEqual({ ...NOTHING, folders: ['file'] });
    const first = await world.start({ name: 'first' });
    const again = { name: 'second', attempt_id: first.attempt_id };
    await expect(world.start(again)).rejects.toMatchObject({ code: 'already_exists' });
    expect(findRecord(world.control, first.attempt_id)).toEqual(first);
    expect(gitIn(first, 'status', '--porcelain')).toBe('');
  });

  it('[E13] starts fifty at once, and of two with one name one', async () => {
    await using world = await attemptPlace();
    const names = Array.from({ length: 50 }, (_, at) => `attempt-${at}`);
    const started = await Promise.all(names.map((name) => world.start({ name })));
    expect(new Set(started.map(({ path }) => path)).size).toBe(50);
    expect(await listCheckoutRefs(world.control)).toHaveLength(100);
    const both = ['one', 'two'].map((folder) => ({ name: 'same', path: join(world.root, folder) }));
    const raced = await Promise.allSettled(both.map((request) => world.start(request)));
    expect(raced.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
    expect(readdirSync(world.root)).toHaveLength(51);
    expect(listRecords(world.control)).toHaveLength(51);
    for (const checkout of started.slice(0, 3)) expect(gitIn(checkout, 'status', '--porcelain')).toBe('');
    expect(checkObjects(world.place)).toBe('');
  });

  it("[E14] keeps what it is built on when the user's git prunes", async () => {
    await using world = await attemptPlace();
    const { place } = world;
    place.git('checkout', '--quiet', '-b', 'gone');
    await place.write('gone.txt', 'gone\n');
    place.git('add', '.');
    place.git('commit', '--quiet', '-m', 'gone');
    const checkout = await world.start();
    writeIn(checkout, 'work.txt', 'work\n');
    const { head } = await world.harvest(checkout);
    place.git('checkout', '--quiet', 'main');
    place.git('branch', '-D', 'gone', `forge/${checkout.name}`);
    place.git('reflog', 'expire', '--expire=now', '--all');
    place.git('gc', '--quiet', '--prune=now');
    expect(gitIn(checkout, 'fsck', '--strict')).toBe('');
    expect(gitIn(checkout, 'log', '--format=%s')).toBe('Work of the agent\ngone\nfirst');
    expect(place.git('cat-file', '-t', head)).toBe('commit');
    // The ref is what keeps it.
    place.git('update-ref', '-d', toKeepRef(checkout.attempt_id));
    place.git('gc', '--quiet', '--prune=now');
    expect(() => gitIn(checkout, 'log')).toThrow('Command failed');
  });
});

describe('recreateCheckout', () => {
  it('makes a removed checkout again, at the same path and with what was harvested', async () => {
    await using world = await attemptPlace();
    const checkout = await world.start();
    writeIn(checkout, 'work.txt', 'work\n');
    const { head } = await world.harvest(checkout);
    await expect(recreateCheckout(world.control, checkout)).rejects.toMatchObject({ code: 'already_exists' });
    rmSync(checkout.path, { recursive: true });
    expect(await recreateCheckout(world.control, checkout)).toBe(head);
    expect(gitIn(checkout, 'status', '--porcelain', '--branch')).toContain(`forge/${checkout.name}`);
    expect(readFileSync(join(checkout.path, 'work.txt'), 'utf8')).toBe('work\n');
    writeIn(checkout, 'more.txt', 'more\n');
    expect((await world.harvest(checkout)).files).toEqual(['more.txt', 'work.txt']);
    // Nor does it go through a link that somebody put there.
    rmSync(checkout.path, { recursive: true });
    symlinkSync(world.place.path, checkout.path);
    await expect(recreateCheckout(world.control, checkout)).rejects.toMatchObject({
      code: 'permission_denied',
    });
  });
});

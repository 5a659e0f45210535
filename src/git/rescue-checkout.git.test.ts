import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  renameSync,
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
  writeIn,
} from '../../tests/support/attempt-places.ts';
import { dropAttemptRefs, listCheckoutRefs, listRescueRefs } from './attempt-refs.ts';
import type { Checkout } from './checkout-record.ts';
import { listRecords, writeRecord } from './checkout-record.ts';
import { readDirty, removeCheckout, rescueCheckout, resetCheckout } from './rescue-checkout.ts';

const filesOf = (world: AttemptPlace, rev: string) =>
  world.place.git('ls-tree', '-r', '--name-only', rev).split('\n');

function commitIn(checkout: Checkout, file: string): string {
  writeIn(checkout, file, `${file}\n`);
  gitIn(checkout, 'add', '-A');
  gitIn(checkout, 'commit', '--quiet', '-m', `agent: ${file}`);
  return gitIn(checkout, 'rev-parse', 'HEAD');
}

describe('readDirty', () => {
  it("lists what differs from the checkout's own commit", async () => {
    await using world = await attemptPlace();
    const checkout = await world.start();
    expect(await readDirty(world.control, checkout)).toEqual([]);
    commitIn(checkout, 'own.txt');
    expect(await readDirty(world.control, checkout)).toEqual([]);
    writeIn(checkout, 'a.txt', 'x\n');
    rmSync(join(checkout.path, 'own.txt'));
    writeIn(checkout, 'new/file.txt', 'x\n');
    writeIn(checkout, '.gitignore', 'ignored\n');
    writeIn(checkout, 'ignored', 'x\n');
    gitIn(checkout, 'init', '--quiet', 'nested');
    expect(await readDirty(world.control, checkout)).toEqual([
      '.gitignore',
      'a.txt',
      'nested/',
      'new/file.txt',
      'own.txt',
    ]);
  });
});

describe('rescueCheckout', () => {
  it('keeps what is uncommitted and what was not harvested, once, and changes nothing', async () => {
    await using world = await attemptPlace();
    const { control } = world;
    const checkout = await world.start();
    expect(await rescueCheckout(control, checkout)).toBeUndefined();
    const own = commitIn(checkout, 'own.txt');
    const first = await rescueCheckout(control, checkout);
    expect(first).toEqual({ ref: `refs/forge/rescue/${checkout.attempt_id}/1`, commit: own, more: [] });
    writeIn(checkout, 'left.txt', 'left\n');
    const second = await rescueCheckout(control, checkout);
    expect(second?.ref).toBe(`refs/forge/rescue/${checkout.attempt_id}/2`);
    expect(filesOf(world, second?.ref ?? '')).toEqual(['a.txt', 'left.txt', 'own.txt']);
    expect(await rescueCheckout(control, checkout)).toEqual(second);
    expect(gitIn(checkout, 'status', '--porcelain')).toBe('?? left.txt');
    expect(gitIn(checkout, 'rev-parse', 'HEAD')).toBe(own);
    await world.harvest(checkout);
    expect(await rescueCheckout(control, checkout)).toBeUndefined();
  });

  it('has the files of repositories inside, however deep', async () => {
    await using world = await attemptPlace();
    const checkout = await world.start();
    for (const folder of ['lib', 'lib/deep er']) {
      writeIn(checkout, `${folder}/file.txt`, `${folder}\n`);
      gitIn(checkout, 'init', '--quiet', folder);
    }
    gitIn(checkout, '-C', 'lib/deep er', 'add', '.');
    gitIn(checkout, '-C', 'lib/deep er', '-c', 'user.name=x', '-c', 'user.email=x@y', 'commit', '-qm', 'x');
    const rescue = await rescueCheckout(world.control, checkout);
    expect(filesOf(world, rescue?.ref ?? '')).toEqual(['a.txt', 'lib/deep er/file.txt', 'lib/file.txt']);
    expect(checkObjects(world.place)).toBe('');
  });

  it('works without a git directory', async () => {
    await using world = await attemptPlace();
    const checkout = await world.start();
    writeIn(checkout, 'left.txt', 'left\n');
    rmSync(join(checkout.path, '.git'), { recursive: true });
    const rescue = await rescueCheckout(world.control, checkout);
    expect(filesOf(world, rescue?.ref ?? '')).toEqual(['a.txt', 'left.txt']);
  });
});

describe('resetCheckout', () => {
  it('[S384] takes back what is not committed, keeps commits and ignored files, and rescues first', async () => {
    await using world = await attemptPlace({ copied: ['.env'] });
    const checkout = await world.start();
    writeIn(checkout, '.gitignore', 'cache/\n');
    const own = commitIn(checkout, 'own.txt');
    gitIn(checkout, 'checkout', '--quiet', '-b', 'elsewhere');
    writeIn(checkout, 'a.txt', 'dirty\n');
    rmSync(join(checkout.path, 'own.txt'));
    for (const file of ['.env', 'cache/x', 'new/deep/file.txt', 'staged.txt']) writeIn(checkout, file, 'x\n');
    gitIn(checkout, 'add', 'staged.txt');
    writeIn(checkout, '.git/index.lock', '');
    const rescue = await resetCheckout(world.control, checkout);
    expect(filesOf(world, rescue?.ref ?? '')).toEqual([
      '.gitignore',
      'a.txt',
      'new/deep/file.txt',
      'staged.txt',
    ]);
    expect(readdirSync(checkout.path).sort()).toEqual([
      '.env',
      '.git',
      '.gitignore',
      'a.txt',
      'cache',
      'own.txt',
    ]);
    expect(gitIn(checkout, 'status', '--porcelain')).toBe('');
    expect(gitIn(checkout, 'rev-parse', 'HEAD')).toBe(own);
    expect(gitIn(checkout, 'symbolic-ref', '--short', 'HEAD')).toBe(`forge/${checkout.name}`);
    expect((await world.harvest(checkout)).files).toEqual(['.gitignore', 'own.txt']);
  });
});

describe('removeCheckout', () => {
  it('[S385] [E15] rescues, removes, and can be asked again', async () => {
    await using world = await attemptPlace();
    const checkout = await world.start();
    writeIn(checkout, 'left.txt', 'left\n');
    const outside = join(world.place.path, '..', 'outside');
    mkdirSync(outside);
    writeFileSync(join(outside, 'precious'), 'x');
    symlinkSync(outside, join(checkout.path, 'link'));
    const { removed, rescue } = await removeCheckout(world.control, checkout);
    expect(removed).toBe(true);
    expect(filesOf(world, rescue?.ref ?? '')).toEqual(['a.txt', 'left.txt', 'link']);
    expect(existsSync(checkout.path)).toBe(false);
    expect(readdirSync(outside)).toEqual(['precious']);
    expect(listRecords(world.control)).toEqual([]);
    expect(await removeCheckout(world.control, checkout)).toEqual({ removed: false });
    expect((await listCheckoutRefs(world.control)).map(({ ref }) => ref.split('/')[1])).toEqual([
      'forge',
      'forge',
      'heads',
    ]);
  });

  it('[E14] refuses a link, another folder, and a folder of another attempt at its place', async () => {
    await using world = await attemptPlace();
    const [checkout, other] = [await world.start(), await world.start()];
    const refused = { code: 'permission_denied' };
    renameSync(checkout.path, `${checkout.path}-away`);
    symlinkSync(world.place.path, checkout.path);
    await expect(removeCheckout(world.control, checkout)).rejects.toMatchObject(refused);
    rmSync(checkout.path);
    mkdirSync(checkout.path);
    writeIn(checkout, 'precious', 'x');
    await expect(removeCheckout(world.control, checkout)).rejects.toMatchObject(refused);
    expect(readdirSync(checkout.path)).toEqual(['precious']);
    await expect(removeCheckout(world.control, { ...checkout, path: other.path })).rejects.toMatchObject(
      refused,
    );
    const home = { ...checkout, path: world.place.path };
    await expect(removeCheckout(world.control, home)).rejects.toMatchObject(refused);
    // Nor where the folder of all of them was replaced.
    rmSync(checkout.path, { recursive: true });
    renameSync(`${checkout.path}-away`, checkout.path);
    renameSync(world.root, `${world.root}-away`);
    symlinkSync(`${world.root}-away`, world.root);
    await expect(removeCheckout(world.control, checkout)).rejects.toMatchObject(refused);
    expect(existsSync(join(other.path, 'a.txt'))).toBe(true);
    expect(world.place.git('status', '--porcelain')).toBe('');
  });

  it('removes what was half made or half removed without a rescue of nothing', async () => {
    await using world = await attemptPlace();
    const half = await world.start();
    const folder = join(world.control.git_dir, 'attempts', half.attempt_id);
    rmSync(join(half.path, '.git'), { recursive: true });
    for (const name of ['index', 'index-head']) rmSync(join(folder, name));
    rmSync(join(half.path, 'a.txt'));
    expect(await removeCheckout(world.control, half)).toEqual({ removed: true });
    const begun = await world.start();
    writeFileSync(join(world.control.git_dir, 'attempts', begun.attempt_id, 'removing'), '');
    rmSync(join(begun.path, 'a.txt'));
    expect(await removeCheckout(world.control, begun)).toEqual({ removed: true });
    expect(await listRescueRefs(world.control, begun.attempt_id)).toEqual([]);
    writeRecord(world.control, begun);
    expect(await removeCheckout(world.control, begun)).toEqual({ removed: false });
  });

  it('removes folders that a tool made read-only', async () => {
    await using world = await attemptPlace();
    const checkout = await world.start();
    writeIn(checkout, 'cache/deep/file', 'x');
    for (const folder of ['cache/deep', 'cache']) chmodSync(join(checkout.path, folder), 0o500);
    expect(await removeCheckout(world.control, checkout)).toMatchObject({ removed: true });
    expect(existsSync(checkout.path)).toBe(false);
  });
});

describe('dropAttemptRefs', () => {
  const drop = (world: AttemptPlace, { attempt_id, name }: Checkout) =>
    dropAttemptRefs(world.control, { attempt_id, name, target: 'refs/heads/main' });

  it('deletes a branch that the target contains', async () => {
    await using world = await attemptPlace();
    const checkout = await world.start();
    writeIn(checkout, 'work.txt', 'x\n');
    const { head } = await world.harvest(checkout);
    world.place.git('merge', '--quiet', head);
    expect(await drop(world, checkout)).toEqual({ branch: 'deleted' });
    expect(await listCheckoutRefs(world.control)).toEqual([]);
    expect(await drop(world, checkout)).toEqual({ branch: 'missing' });
  });

  it("rescues what it does not contain, and leaves a branch of the user's alone", async () => {
    await using world = await attemptPlace();
    const [lost, moved] = [await world.start(), await world.start()];
    for (const checkout of [lost, moved]) writeIn(checkout, 'work.txt', `${checkout.name}\n`);
    const { head } = await world.harvest(lost);
    await world.harvest(moved);
    const rescue = `refs/forge/rescue/${lost.attempt_id}/1`;
    expect(await drop(world, lost)).toEqual({ branch: 'deleted', rescue });
    expect(world.place.git('rev-parse', rescue)).toBe(head);
    world.place.git('checkout', '--quiet', `forge/${moved.name}`);
    expect(await drop(world, moved)).toMatchObject({ branch: 'checked_out' });
    expect(world.place.git('rev-parse', '--abbrev-ref', 'HEAD')).toBe(`forge/${moved.name}`);
    world.place.git('gc', '--quiet', '--prune=now');
    expect(checkObjects(world.place)).toBe('');
  });
});

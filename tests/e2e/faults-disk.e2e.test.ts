import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  appendFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  rmSync,
  statfsSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { Task } from '#contract/task.ts';
import type { ErrorBody } from '#kernel/errors.ts';
import { FORGE, forgeFolder, type ForgePlace, type ProgramResult } from '../support/forge-cli.ts';
import { readStore } from '../support/store-snapshot.ts';

/** Needs the right to mount in a namespace of its own: root, and no sandbox that forbids it. */
const CAN_MOUNT =
  spawnSync('unshare', ['-m', 'sh', '-c', 'mount -t tmpfs -o size=1m tmpfs /mnt && nsenter --version'])
    .status === 0;
const KIB = 1_024;

describe.skipIf(!CAN_MOUNT)('a full disk (2 MB tmpfs in a mount namespace)', () => {
  test('a write is refused with disk_full, changes nothing, and works once there is room', async () => {
    await using disk = await smallDisk();
    for (const free of [40, 72, 104, 136]) {
      const before = disk.read();
      disk.fillUpTo(free * KIB);
      const update = [
        'task',
        'update',
        disk.id,
        '--title',
        `With ${free} free`,
        '--description-file',
        disk.big,
      ];
      const refused = await disk.forge(...update, '--json');
      expect.soft({ free, exit: refused.exit, ...errorOf(refused) }).toMatchObject({
        free,
        exit: 1,
        code: 'disk_full',
        message: expect.stringContaining('nothing was changed'),
      });
      expect
        .soft(await disk.forge('task', 'show', disk.id), `read with ${free} KiB free`)
        .toMatchObject({ exit: 0 });
      expect(disk.read()).toEqual(before);
      disk.empty();
      expect.soft(await disk.forge(...update), `again after ${free}`).toMatchObject({ exit: 0 });
      expect((await disk.forge('task', 'show', disk.id)).stdout).toContain(`With ${free} free`);
      expect(disk.read().database).toContainEqual({ integrity_check: 'ok' });
      await disk.forge('task', 'update', disk.id, '--description', '');
    }
  });

  test('[T14-15] without a single free block a write still says disk_full, and reads go on', async () => {
    await using disk = await smallDisk();
    const before = disk.read();
    disk.fillUpTo(0);
    const refused = await disk.forge('task', 'create', 'x', '--json');
    expect.soft(errorOf(refused)).toMatchObject({ code: 'disk_full', hint: expect.any(String) });
    for (const read of [['task', 'show', disk.id], ['task', 'list'], ['ready'], ['doctor']])
      expect.soft(await disk.forge(...read), read.join(' ')).toMatchObject({ exit: 0 });
    // What would have to be written to be shown is told of.
    const file = join(disk.view, '.forge/tasks.jsonl');
    const text = readFileSync(file, 'utf8');
    disk.empty();
    appendFileSync(file, '{"id":"fg-hand","title":"by hand"}\n');
    disk.fillUpTo(0);
    const behind = await disk.forge('task', 'list');
    expect.soft(behind).toMatchObject({ exit: 0, stdout: expect.stringContaining('First') });
    expect.soft(behind.stderr).toContain('.forge/tasks.jsonl was not joined in: The disk is full');
    // A command that is about nothing else has failed then.
    expect.soft(errorOf(await disk.forge('import', '--json'))).toMatchObject({ code: 'disk_full' });
    disk.empty();
    writeFileSync(file, text);
    expect(disk.read()).toEqual(before);
    expect(await disk.forge('task', 'create', 'x')).toMatchObject({ exit: 0 });
  });

  test('writing until it is full loses nothing that was acknowledged', async () => {
    await using disk = await smallDisk();
    const made: string[] = [];
    for (let n = 0; n < 60; n += 1) {
      const { exit } = await disk.forge('task', 'create', `Task ${n}`, '--description-file', disk.big);
      if (exit !== 0) break;
      made.push(`Task ${n}`);
    }
    expect(made.length).toBeGreaterThan(2);
    expect(made.length).toBeLessThan(60);
    const titles = async () => {
      const { stdout } = await disk.forge('task', 'list', '--json', '--fields', 'title');
      return (JSON.parse(stdout) as { title: string }[]).map(({ title }) => title);
    };
    expect(await titles()).toEqual(['First', ...made]);
    const replica = disk.read().files['.git/forge/tasks.jsonl'] ?? '';
    expect(replica.endsWith('\n')).toBe(true);
    for (const line of replica.slice(0, -1).split('\n'))
      expect(() => JSON.parse(line) as unknown).not.toThrow();
    expect(disk.read().database).toContainEqual({ integrity_check: 'ok' });
  });

  test('an init without room leaves nothing behind', async () => {
    await using disk = await smallDisk();
    rmSync(join(disk.view, '.forge'), { recursive: true });
    rmSync(join(disk.view, '.git/forge'), { recursive: true });
    rmSync(join(disk.view, '.gitignore'));
    disk.fillUpTo(16 * KIB);
    const refused = await disk.forge('init', '--json');
    expect.soft(refused.exit).toBe(1);
    expect.soft(errorOf(refused).code).toMatch(/^(disk_full|io_failed)$/);
    expect(existsSync(join(disk.view, '.forge'))).toBe(false);
    expect(existsSync(join(disk.view, '.git/forge'))).toBe(false);
    disk.empty();
    expect(await disk.forge('init')).toMatchObject({ exit: 0 });
  });
});

interface SmallDisk extends AsyncDisposable {
  /** The project's root as this process sees it. */
  readonly view: string;
  readonly id: string;
  /** A text of 60 KiB, which is not on the disk. */
  readonly big: string;
  forge(...args: string[]): Promise<ProgramResult>;
  read(): ReturnType<typeof readStore>;
  fillUpTo(freeBytes: number): void;
  empty(): void;
}

/** A project on a disk of 2 MB that exists only in the mount namespace of a sleeping process. */
async function smallDisk(): Promise<SmallDisk> {
  const place = await forgeFolder();
  const holder = await openNamespace(place);
  const root = join(place.path, '..', 'disk');
  const disk = `/proc/${holder.pid}/root${root}`;
  const fill = join(disk, 'fill');
  const inside = (...command: string[]): Promise<ProgramResult> =>
    place.exec('nsenter', [
      '-t',
      String(holder.pid),
      '-m',
      '--',
      'sh',
      '-c',
      'cd "$0" && exec "$@"',
      root,
      ...command,
    ]);
  const forge = (...args: string[]) => inside(process.execPath, FORGE, ...args);
  const big = join(place.path, 'big.md');
  writeFileSync(big, 'y'.repeat(60 * KIB));
  await inside('git', 'init', '-q', '-b', 'main', '--template=');
  await inside('git', 'config', 'user.name', 'Test User');
  await forge('init');
  const { id } = JSON.parse((await forge('task', 'create', 'First', '--json')).stdout) as Task;
  return {
    view: disk,
    id,
    big,
    forge,
    read() {
      // SQLite follows /proc/…/root out of the namespace, so it gets a copy.
      const copy = join(place.path, 'copy');
      for (const folder of ['.forge', join('.git', 'forge')]) {
        rmSync(join(copy, folder), { recursive: true, force: true });
        cpSync(join(disk, folder), join(copy, folder), { recursive: true, verbatimSymlinks: true });
      }
      return readStore(copy);
    },
    fillUpTo(freeBytes) {
      const { bavail, bsize } = statfsSync(disk);
      writeFileSync(fill, Buffer.alloc(Math.max(0, bavail * bsize - freeBytes)));
    },
    empty: () => rmSync(fill, { force: true }),
    async [Symbol.asyncDispose]() {
      const ended = once(holder, 'exit');
      holder.kill('SIGKILL');
      await ended;
      await place[Symbol.asyncDispose]();
    },
  };
}

async function openNamespace({ path }: ForgePlace & { path: string }): Promise<ChildProcess> {
  const disk = join(path, '..', 'disk');
  mkdirSync(disk);
  const script = 'mount -t tmpfs -o size=2m tmpfs "$0" && echo ready && exec sleep 300';
  const holder = spawn('unshare', ['-m', 'sh', '-c', script, disk], { stdio: ['ignore', 'pipe', 'ignore'] });
  await once(holder.stdout, 'data');
  return holder;
}

function errorOf({ stdout }: ProgramResult): ErrorBody {
  const { error } = JSON.parse(stdout) as { error: ErrorBody };
  return error;
}

import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { cutPower, writeTree, type Cut } from './support/power-loss-cut.ts';
import { RecordedDisk } from './support/power-loss-disk.ts';
import { readDiskCalls, type DiskCall } from './support/power-loss-trace.ts';
import { seededRandom } from './support/random.ts';
import { tempFolder } from './support/temp-repo.ts';

const FILE = '.forge/a';
const SEEDS = Array.from({ length: 60 }, (_, seed) => seed);

describe('the model of a disk that loses power', () => {
  it('keeps what was synced, and of the rest any part', async () => {
    await using disk = await openDisk('old');
    disk.record([
      { kind: 'write', path: disk.at(FILE), bytes: Buffer.from('new'), at: 0 },
      { kind: 'sync', path: disk.at(FILE), covers: 1 },
      { kind: 'write', path: disk.at(FILE), bytes: Buffer.from(' and more'), at: 3 },
    ]);
    expect(disk.left(FILE, { survives: 'nothing' })).toBe('new');
    expect(disk.left(FILE, { survives: 'all' })).toBe('new and more');
    expect(disk.left(FILE, { survives: 'nothing', forgetting: /a$/ })).toBe('old');
    expect(disk.left(FILE, { survives: 'all', tearing: /a$/ })).toBe(`new${'\0'.repeat(9)}`);
    const found = new Set(SEEDS.map((seed) => disk.left(FILE, { survives: 'some' }, seed)));
    expect(found).toEqual(new Set(['new', 'new and more', `new${'\0'.repeat(9)}`]));
  });

  it('does not take a sync for one of what was written while it went on', async () => {
    await using disk = await openDisk('old');
    disk.record([
      { kind: 'write', path: disk.at(FILE), bytes: Buffer.from('one'), at: 0 },
      { kind: 'write', path: disk.at(FILE), bytes: Buffer.from('two'), at: 0 },
      { kind: 'sync', path: disk.at(FILE), covers: 1 },
    ]);
    expect(disk.left(FILE, { survives: 'nothing' })).toBe('one');
  });

  it('tears a write at the borders of sectors only', async () => {
    await using disk = await openDisk('-'.repeat(1_500));
    disk.record([{ kind: 'write', path: disk.at(FILE), bytes: Buffer.from('x'.repeat(1_400)), at: 100 }]);
    const found = new Set(SEEDS.map((seed) => disk.left(FILE, { survives: 'some' }, seed)));
    expect(found.size).toBeGreaterThan(3);
    for (const text of found) expect(text).toMatch(/^-{100}(-{412}|x{412})(-{512}|x{512})(-{476}|x{476})$/);
  });

  it('loses names from the end on, and not those before a sync of the folder', async () => {
    await using disk = await openDisk('old');
    const make = (name: string): DiskCall[] => [
      { kind: 'open', path: disk.at(name), create: true, truncate: false, append: false, mode: 0o644 },
      { kind: 'sync', path: disk.at(name), covers: 0 },
    ];
    disk.record([...make('.forge/b'), { kind: 'sync', path: disk.at('.forge'), covers: 2 }]);
    disk.record([...make('.forge/c'), { kind: 'rename', from: disk.at('.forge/c'), to: disk.at(FILE) }]);
    const trees = SEEDS.map((seed) => disk.names('.forge', { survives: 'some' }, seed).join(' '));
    expect(new Set(trees)).toEqual(new Set(['a b', 'a b c']));
    expect(disk.names('.forge', { survives: 'nothing' })).toEqual(['a', 'b']);
    // The sync of a file is none of its name: the old file is back.
    expect(disk.left(FILE, { survives: 'nothing' })).toBe('old');
    expect(disk.left(FILE, { survives: 'all' })).toBe('');
  });
});

describe('a trace of calls', () => {
  it('is read in the order in which the calls returned', async () => {
    await using folder = await tempFolder();
    const path = hex('/p/a');
    await folder.write(
      'trace',
      [
        `7 fsync(3<${path}> <unfinished ...>`,
        `8 pwrite64(3<${path}>, "${hex('text')}", 4, 8) = 4`,
        '7 <... fsync resumed>)             = 0',
        `8 unlink("${hex('/p/none')}") = -1 ENOENT (No such file or directory)`,
        `8 openat(AT_FDCWD<${hex('/p')}>, "${hex('b')}", O_WRONLY|O_CREAT, 0600) = 4<${hex('/p/b')}>`,
        `8 rename("${hex('b')}", "${hex('a')}") = 0`,
        `8 pwrite64(3<${hex('/p/x-shm')}>, "${hex('t')}", 1, 0) = 1`,
      ].join('\n'),
    );
    expect(readDiskCalls(join(folder.path, 'trace'), '/p')).toEqual([
      { kind: 'write', path: '/p/a', bytes: Buffer.from('text'), at: 8 },
      { kind: 'sync', path: '/p/a', covers: 0 },
      { kind: 'open', path: '/p/b', create: true, truncate: false, append: false, mode: 0o600 },
      { kind: 'rename', from: '/p/b', to: '/p/a' },
    ]);
  });

  it.each([
    ['copy_file_range', (file: string) => `copy_file_range(4, NULL, 3<${file}>, NULL, 10, 0) = 10`],
    ['mmap', (file: string) => `mmap(NULL, 10, PROT_READ|PROT_WRITE, MAP_SHARED, 3<${file}>, 0) = 0x7f00`],
  ])('with a write that the model does not know is refused: %s', async (name, toLine) => {
    await using folder = await tempFolder();
    await folder.write('trace', `7 ${toLine(hex('/p/a'))}\n`);
    const read = (): unknown => readDiskCalls(join(folder.path, 'trace'), '/p');
    expect(read).toThrow(`does not know ${name} of /p/a`);
  });
});

function hex(text: string): string {
  return [...Buffer.from(text)].map((byte) => `\\x${byte.toString(16).padStart(2, '0')}`).join('');
}

/** A disk with one file, and a look at what a cut at the end leaves. */
async function openDisk(text: string) {
  const folder = await tempFolder();
  const at = (path: string): string => join(folder.path, path);
  mkdirSync(at('.forge'));
  writeFileSync(at(FILE), text);
  const disk = new RecordedDisk(folder.path);
  type Kind = Omit<Cut, 'at' | 'random'>;
  const cut = (kind: Kind, seed: number) =>
    cutPower(disk, { ...kind, at: disk.length, random: seededRandom(seed) });
  let copies = 0;
  return {
    at,
    record: (calls: readonly DiskCall[]) => disk.record(calls),
    left(path: string, kind: Kind, seed = 1): string {
      copies += 1;
      const copy = join(folder.path, `copy-${copies}`);
      writeTree(disk, cut(kind, seed), copy);
      return readFileSync(join(copy, path), 'utf8');
    },
    names(path: string, kind: Kind, seed = 1): string[] {
      const tree = cut(kind, seed);
      return [...(tree.names.get(tree.find(path) ?? -1)?.keys() ?? [])].sort();
    },
    [Symbol.asyncDispose]: () => folder[Symbol.asyncDispose](),
  };
}

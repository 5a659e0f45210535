import { mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type AttemptPlace, attemptPlace, gitIn, writeIn } from '../../tests/support/attempt-places.ts';
import type { Checkout } from './checkout-record.ts';
import { rescueCheckout } from './rescue-checkout.ts';

let world: AttemptPlace;

beforeEach(async () => {
  world = await attemptPlace();
});
afterEach(() => world[Symbol.asyncDispose]());

const inside = (checkout: Checkout, file: string): string => join(checkout.path, file);
const remove = (checkout: Checkout, ...files: string[]): void => {
  for (const file of files) rmSync(inside(checkout, file), { recursive: true });
};
const link = (checkout: Checkout, target: string, file: string): void =>
  symlinkSync(target, inside(checkout, file));

/** `mode path` of every entry. */
function entriesOf(commit: string): readonly string[] {
  const lines = world.place.git('ls-tree', '-r', commit).split('\n');
  return lines.map((line) => line.replace(/ \w+ [0-9a-f]+\t/, ' '));
}

describe('what has become something else', () => {
  beforeEach(async () => {
    await world.place.write('d/1', '1\n');
    await world.place.write('d/deep/2', '2\n');
    await world.place.write('e/1', '1\n');
    await world.place.write('f', 'f\n');
    symlinkSync('e', join(world.place.path, 'l'));
    world.place.git('add', '.');
    world.place.git('commit', '--quiet', '-m', 'files');
  });

  const CHANGES: readonly {
    readonly what: string;
    readonly change: (checkout: Checkout) => void;
    readonly entries: readonly string[];
  }[] = [
    {
      what: 'a folder, a link to a file',
      change: (checkout) => {
        remove(checkout, 'd');
        link(checkout, 'f', 'd');
      },
      entries: ['120000 d', '100644 e/1', '100644 f', '120000 l'],
    },
    {
      what: 'a folder, a link to a folder with the same names and other files',
      change: (checkout) => {
        remove(checkout, 'd');
        link(checkout, 'e', 'd');
        writeIn(checkout, 'e/1', 'changed\n');
      },
      entries: ['120000 d', '100644 e/1', '100644 f', '120000 l'],
    },
    {
      what: 'a folder, a link that leads nowhere',
      change: (checkout) => {
        remove(checkout, 'd');
        link(checkout, 'no/such', 'd');
      },
      entries: ['120000 d', '100644 e/1', '100644 f', '120000 l'],
    },
    {
      what: 'a folder in a folder, a link',
      change: (checkout) => {
        remove(checkout, 'd/deep');
        link(checkout, '../e', 'd/deep');
      },
      entries: ['100644 d/1', '120000 d/deep', '100644 e/1', '100644 f', '120000 l'],
    },
    {
      what: 'a folder, a file',
      change: (checkout) => {
        remove(checkout, 'd');
        writeIn(checkout, 'd', 'file\n');
      },
      entries: ['100644 d', '100644 e/1', '100644 f', '120000 l'],
    },
    {
      what: 'a file and a link, folders',
      change: (checkout) => {
        remove(checkout, 'f', 'l');
        writeIn(checkout, 'f/deep/x', 'x\n');
        writeIn(checkout, 'l/1', 'x\n');
      },
      entries: ['100644 d/1', '100644 d/deep/2', '100644 e/1', '100644 f/deep/x', '100644 l/1'],
    },
    {
      what: 'all of them in turn',
      change: (checkout) => {
        remove(checkout, 'd', 'e', 'f', 'l');
        link(checkout, 'f', 'd');
        writeIn(checkout, 'e', 'e\n');
        writeIn(checkout, 'f/1', '1\n');
        writeIn(checkout, 'l', 'l\n');
      },
      entries: ['120000 d', '100644 e', '100644 f/1', '100644 l'],
    },
  ];

  it.each(CHANGES)('[B9] is harvested, and rescued: $what', async ({ change, entries }) => {
    const checkout = await world.start();
    change(checkout);
    const rescue = await rescueCheckout(world.control, checkout);
    const { head } = await world.harvest(checkout);
    for (const commit of [head, rescue?.commit ?? ''])
      expect(entriesOf(commit).filter((line) => !line.endsWith('a.txt'))).toEqual(entries);
    expect(gitIn(checkout, 'status', '--porcelain')).toBe('');
  });
});

describe('a submodule that the attempt replaces', () => {
  const MODULES = '[submodule "sub"]\n\tpath = sub\n\turl = ../sub\n';

  /** Only what names it: its own repository is nowhere. */
  async function addSubmodule(modules = MODULES): Promise<void> {
    const { place } = world;
    const commit = place.git('rev-parse', 'HEAD');
    if (modules !== '') await place.write('.gitmodules', modules);
    mkdirSync(join(place.path, 'sub'));
    place.git('add', '.');
    place.git('update-index', '--add', '--cacheinfo', `160000,${commit},sub`);
    place.git('commit', '--quiet', '-m', 'a submodule');
  }

  const give = (checkout: Checkout): void => remove(checkout, '.gitmodules');

  it('[B10] by a folder is harvested as its files, with files inside that are ignored left out', async () => {
    await addSubmodule();
    const checkout = await world.start();
    give(checkout);
    writeIn(checkout, 'sub/x', 'x\n');
    writeIn(checkout, 'sub/deep/y', 'y\n');
    writeIn(checkout, 'sub/.gitignore', '*.log\n');
    writeIn(checkout, 'sub/z.log', 'z\n');
    const { head, files } = await world.harvest(checkout);
    expect(files).toEqual(['.gitmodules', 'sub', 'sub/.gitignore', 'sub/deep/y', 'sub/x']);
    expect(entriesOf(head)).toEqual([
      '100644 a.txt',
      '100644 sub/.gitignore',
      '100644 sub/deep/y',
      '100644 sub/x',
    ]);
    expect(gitIn(checkout, 'status', '--porcelain')).toBe('');
    expect(await world.harvest(checkout)).toMatchObject({ head, committed: false });
  });

  it('[B10] by an empty folder, a file or a link goes', async () => {
    await addSubmodule();
    const empty = await world.start();
    give(empty);
    expect(entriesOf((await world.harvest(empty)).head)).toEqual(['100644 a.txt']);
    const file = await world.start();
    give(file);
    remove(file, 'sub');
    writeFileSync(inside(file, 'sub'), 'file\n');
    expect(entriesOf((await world.harvest(file)).head)).toEqual(['100644 a.txt', '100644 sub']);
    const linked = await world.start();
    give(linked);
    remove(linked, 'sub');
    link(linked, 'a.txt', 'sub');
    expect(entriesOf((await world.harvest(linked)).head)).toEqual(['100644 a.txt', '120000 sub']);
  });

  it('[B10] is refused by name where .gitmodules gives it up and its repository is still there', async () => {
    await addSubmodule();
    const checkout = await world.start();
    give(checkout);
    gitIn(checkout, 'init', '--quiet', 'sub');
    await expect(world.harvest(checkout)).rejects.toThrow(/that \.gitmodules does not name: sub$/);
  });

  it('[B10] stays where it is still named, whatever lies in its folder', async () => {
    await addSubmodule();
    const named = await world.start();
    writeIn(named, 'new.txt', 'new\n');
    writeIn(named, 'sub/left-by-a-build', 'x\n');
    expect((await world.harvest(named)).files).toEqual(['new.txt']);
  });

  it('[B10] that nothing has ever named stays as long as it is empty, and gives way to files', async () => {
    await addSubmodule('');
    const checkout = await world.start();
    writeIn(checkout, 'new.txt', 'new\n');
    expect((await world.harvest(checkout)).files).toEqual(['new.txt']);
    writeIn(checkout, 'sub/x', 'x\n');
    expect(entriesOf((await world.harvest(checkout)).head)).toEqual([
      '100644 a.txt',
      '100644 new.txt',
      '100644 sub/x',
    ]);
  });
});

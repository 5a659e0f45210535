import {
  closeSync,
  existsSync,
  ftruncateSync,
  mkdirSync,
  openSync,
  readdirSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { witness } from '../../tests/support/landing-witness.ts';
import {
  type LandingWorld,
  landingWorld,
  linkElsewhere,
  listLeft,
  readTree,
} from '../../tests/support/landing-world.ts';
import { shareOf } from '../../tests/support/share-of.ts';
import { runTestGit } from '../../tests/support/temp-repo.ts';
import { type Landing, landTarget } from './land-target.ts';
import type { LandingStep } from './landing-place.ts';

const MINE = 'mine, saved in the middle\n';

/** Lands, with a user who does something at the `nth` time of a step, before anything else can happen. */
async function landBeside(
  { repo, old, commit }: LandingWorld,
  at: { readonly step: LandingStep; readonly nth?: number },
  act: () => void,
): Promise<Landing> {
  let times = 0;
  const on_step = (step: LandingStep): void => {
    if (step === at.step && (times += 1) === (at.nth ?? 1)) act();
  };
  const landing = await landTarget(repo, { branch: 'main', old, commit, witness, on_step });
  expect(times).toBeGreaterThanOrEqual(at.nth ?? 1);
  return landing;
}

const status = (world: LandingWorld) => world.git('status', '--porcelain', '--untracked-files=all');

/** As editors do it. */
function saveByRename(path: string, text: string): void {
  writeFileSync(`${path}.tmp`, text);
  renameSync(`${path}.tmp`, path);
}

describe('[B5] a user who saves while files are moved', () => {
  it.each<[string, (path: string) => void, string, Readonly<Record<string, string>>]>(
    shareOf(
      [
        [
          'a file by rename',
          (path) => saveByRename(join(path, 'windows.txt'), MINE),
          ' M windows.txt',
          { 'windows.txt': MINE },
        ],
        [
          'a file in place',
          (path) => writeFileSync(join(path, 'windows.txt'), MINE),
          ' M windows.txt',
          { 'windows.txt': MINE },
        ],
        [
          'a file that is to go',
          (path) => saveByRename(join(path, 'last/of/it.txt'), MINE),
          ' M last/of/it.txt',
          { 'last/of/it.txt': MINE },
        ],
        [
          'a new file where one comes',
          (path) => {
            mkdirSync(join(path, 'deep/er'), { recursive: true });
            writeFileSync(join(path, 'deep/er/new.txt'), MINE);
          },
          '?? deep/er/new.txt',
          { 'deep/': '', 'deep/er/': '', 'deep/er/new.txt': MINE },
        ],
        [
          'a new file in a folder that is to be a file',
          (path) => {
            mkdirSync(join(path, 'folder'), { recursive: true });
            writeFileSync(join(path, 'folder/mine'), MINE);
          },
          '?? folder/mine',
          { 'folder/mine': MINE },
        ],
      ],
      2,
    ),
  )('has saved %s: nothing else has changed, and the landing names it', async (_name, save, left, mine) => {
    await using world = await landingWorld({ files: 30 });
    const before = readTree(world.path);
    const landing = await landBeside(world, { step: 'file' }, () => save(world.path));
    expect(landing).toMatchObject({ kind: 'overlap', worktree: world.path });
    expect(readTree(world.path)).toEqual({ ...before, ...mine });
    expect([world.git('rev-parse', 'main'), status(world)]).toEqual([world.old, left]);
    expect(world.git('diff-files', '--name-only')).toBe(left.startsWith(' M') ? left.slice(3) : '');
    expect(listLeft(world)).toEqual([]);
  });

  it('keeps a file that was saved into the place of one that is aside', async () => {
    await using world = await landingWorld();
    const before = readTree(world.path);
    const landing = await landBeside(world, { step: 'aside', nth: 1 }, () => {
      const [gone = ''] = ['.gitattributes', 'a.txt'].filter((name) => !existsSync(join(world.path, name)));
      writeFileSync(join(world.path, gone), MINE);
    });
    expect(landing).toEqual({ kind: 'overlap', files: ['a.txt'], worktree: world.path });
    expect(readTree(world.path)).toEqual({ ...before, 'a.txt': MINE });
    expect(status(world)).toBe(' M a.txt');
  });

  it('keeps a removal', async () => {
    await using world = await landingWorld();
    const before: Record<string, string> = { ...readTree(world.path) };
    delete before['windows.txt'];
    const landing = await landBeside(world, { step: 'file' }, () => rmSync(join(world.path, 'windows.txt')));
    expect(landing).toMatchObject({ kind: 'overlap', files: ['windows.txt'] });
    expect(readTree(world.path)).toEqual(before);
    expect(status(world)).toBe(' D windows.txt');
  });

  it('shows a save of the same length right after the file has come', async () => {
    await using world = await landingWorld();
    const landing = await landBeside(world, { step: 'files' }, () =>
      writeFileSync(join(world.path, 'a.txt'), 'LANDED\n'),
    );
    expect(landing).toEqual({ kind: 'landed' });
    expect(status(world)).toBe(' M a.txt');
    expect(await world.read('a.txt')).toBe('LANDED\n');
  });

  it.each<[LandingStep, string, string]>(
    shareOf(
      [
        ['files', 'a.txt', ' M a.txt'],
        ['committed', 'a.txt', ' M a.txt'],
        ['committed', 'gone.txt', '?? gone.txt'],
      ],
      2,
    ),
  )('brings back what is written after %s through a file that was open: %s', async (step, name, left) => {
    await using world = await landingWorld();
    const file = openSync(join(world.path, name), 'r+');
    const landing = await landBeside(world, { step }, () => {
      ftruncateSync(file);
      writeSync(file, MINE, 0);
    });
    closeSync(file);
    expect(landing).toEqual({ kind: 'landed' });
    expect(await world.read(name)).toBe(MINE);
    expect([world.git('rev-parse', 'main'), status(world)]).toEqual([world.commit, left]);
    expect(listLeft(world)).toEqual([]);
  });

  it('keeps what was written through an open file of a landing that was taken back', async () => {
    await using world = await landingWorld();
    const before = readTree(world.path);
    const file = openSync(join(world.path, 'a.txt'), 'r+');
    const landing = await landBeside(world, { step: 'files' }, () => {
      ftruncateSync(file);
      writeSync(file, MINE, 0);
      throw new Error('no space left on device');
    }).catch((error: unknown) => error);
    closeSync(file);
    expect(landing).toMatchObject({ code: 'io_failed' });
    expect(readTree(world.path)).toEqual({ ...before, 'a.txt': MINE });
    expect(status(world)).toBe(' M a.txt');
  });
});

describe('[B5] a landing that is taken back', () => {
  it('leaves the very files that were there, which a user may have open', async () => {
    await using world = await landingWorld();
    const file = openSync(join(world.path, 'a.txt'), 'r+');
    const landing = await landBeside(world, { step: 'files' }, () => {
      throw new Error('no space left on device');
    }).catch((error: unknown) => error);
    expect(landing).toMatchObject({ code: 'io_failed' });
    expect([world.git('diff-files', '--name-only'), status(world)]).toEqual(['', '']);
    writeSync(file, MINE, 0);
    closeSync(file);
    expect([await world.read('a.txt'), status(world)]).toEqual([MINE, ' M a.txt']);
  });
});

describe('[B17] something in the place of a new file while files are moved', () => {
  it.each<[string, (path: string) => void, string]>(
    shareOf(
      [
        [
          'a folder with a file',
          (path) => {
            mkdirSync(join(path, 'deep/er/new.txt'), { recursive: true });
            writeFileSync(join(path, 'deep/er/new.txt/mine'), MINE);
          },
          '?? deep/er/new.txt/mine',
        ],
        ['a file for its folder', (path) => writeFileSync(join(path, 'deep'), MINE), '?? deep'],
        ['a link for its folder', (path) => symlinkSync('..', join(path, 'deep')), '?? deep'],
      ],
      3,
    ),
  )('%s is named, and everything is as it was', async (_name, act, left) => {
    await using world = await landingWorld();
    const around = readdirSync(join(world.path, '..'));
    const landing = await landBeside(world, { step: 'file' }, () => act(world.path));
    expect(landing).toEqual({ kind: 'overlap', files: ['deep/er/new.txt'], worktree: world.path });
    expect([world.git('rev-parse', 'main'), status(world)]).toEqual([world.old, left]);
    expect(readdirSync(join(world.path, '..'))).toEqual(around);
    expect(listLeft(world)).toEqual([]);
  });

  it('is no hindrance where it is an empty folder', async () => {
    await using world = await landingWorld();
    const make = () => mkdirSync(join(world.path, 'deep/er/new.txt'), { recursive: true });
    expect(await landBeside(world, { step: 'file' }, make)).toEqual({ kind: 'landed' });
    expect(status(world)).toBe('');
  });
});

describe('[B12] a working tree on another file system', () => {
  it('keeps what a user saves there in the middle', async () => {
    await using world = await landingWorld();
    await using linked = await linkElsewhere(world);
    const before = readTree(linked.path);
    const landing = await landBeside(world, { step: 'file', nth: 3 }, () =>
      saveByRename(join(linked.path, 'windows.txt'), MINE),
    );
    expect(landing).toMatchObject({ kind: 'overlap', files: ['windows.txt'] });
    expect(readTree(linked.path)).toEqual({ ...before, 'windows.txt': MINE });
    expect(runTestGit(linked.path, ['status', '--porcelain'])).toBe(' M windows.txt');
    expect(readdirSync(linked.path).filter((name) => name.startsWith('.forge'))).toEqual([]);
  });

  it('shows nothing of what is kept there to a git of the user', async () => {
    await using world = await landingWorld();
    await using linked = await linkElsewhere(world);
    let seen = '';
    const landing = await landBeside(world, { step: 'committed' }, () => {
      seen = runTestGit(linked.path, ['status', '--porcelain', '--untracked-files=all']);
    });
    expect([landing, seen]).toEqual([{ kind: 'landed' }, '']);
    expect(readdirSync(linked.path).filter((name) => name.startsWith('.forge'))).toEqual([]);
  });
});

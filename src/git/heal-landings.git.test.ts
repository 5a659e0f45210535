import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createHash } from 'node:crypto';
import {
  closeSync,
  existsSync,
  openSync,
  readFileSync,
  readdirSync,
  rmSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it, onTestFinished } from 'vitest';
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
import { healLandings } from './heal-landings.ts';
import { landTarget } from './land-target.ts';

const WORKER = fileURLToPath(new URL('../../tests/support/land-worker.ts', import.meta.url));

/** A process that lands, and is killed at that step: with or without its git. */
async function landAndDie(world: LandingWorld, step: string, nth = 1, whom = 'alone'): Promise<void> {
  const args = [WORKER, world.path, world.old, world.commit, step, String(nth), whom];
  const child = spawn(process.execPath, args, { detached: true, stdio: ['ignore', 'pipe', 'inherit'] });
  let said = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => (said += text));
  const [, signal] = (await once(child, 'close')) as [number | null, string | null];
  expect({ signal, said }).toEqual({ signal: 'SIGKILL', said: '' });
}

/** A process that lives, in the place of one that the journal of a dead landing names. */
function nameAnother(world: LandingWorld, whose: 'holder' | 'git') {
  const other = spawn('sleep', ['600'], { stdio: 'ignore' });
  const gone = once(other, 'exit');
  const path = join(world.repo.common_dir, 'forge/landing/main/journal.json');
  const journal = JSON.parse(readFileSync(path, 'utf8')) as object; // what the landing wrote
  writeFileSync(path, JSON.stringify({ ...journal, [whose]: witness.identify(other.pid ?? 0) }));
  onTestFinished(() => void other.kill('SIGKILL'));
  return { other, gone };
}

const toHash = (path: string) => createHash('sha256').update(path).digest('hex').slice(0, 32);
const status = (world: LandingWorld) => world.git('status', '--porcelain', '--untracked-files=all');

type Side = 'old' | 'new' | 'either';

/** Where the branch is after a death at that point. */
const POINTS: readonly (readonly [step: string, nth: number, whom: 'alone' | 'group', side: Side])[] = [
  ['journal', 1, 'alone', 'old'],
  ['locked', 1, 'alone', 'old'],
  ['prepared', 1, 'alone', 'old'],
  ['prepared', 1, 'group', 'old'],
  ['aside', 1, 'alone', 'old'],
  ['aside', 2, 'group', 'old'],
  ['aside', 3, 'alone', 'old'],
  ['aside', 6, 'alone', 'old'],
  ['file', 1, 'alone', 'old'],
  ['file', 1, 'group', 'old'],
  ['file', 4, 'alone', 'old'],
  ['file', 8, 'group', 'old'],
  ['file', 12, 'alone', 'old'],
  ['files', 1, 'alone', 'old'],
  ['files', 1, 'group', 'old'],
  ['index', 1, 'alone', 'old'],
  ['index', 1, 'group', 'old'],
  ['commit', 1, 'alone', 'new'],
  ['commit', 1, 'group', 'either'],
  ['freed', 1, 'alone', 'new'],
  ['freed', 1, 'group', 'either'],
  ['committed', 1, 'alone', 'new'],
  ['settling', 1, 'group', 'new'],
];

describe('[A5] a landing whose process is killed', () => {
  it.each(shareOf(POINTS, 4))('after %s %d, %s: %s', async (step, nth, whom, side) => {
    await using world = await landingWorld();
    world.git('checkout', '--quiet', '--detach', world.commit);
    workBeside(world);
    const after = readTree(world.path);
    world.git('reset', '--quiet', '--hard');
    world.git('checkout', '--quiet', 'main');
    workBeside(world);
    const before = readTree(world.path);
    await landAndDie(world, step, nth, whom);
    const healed = await healLandings(world.repo, witness, 5_000);
    expect(healed).toMatchObject([{ kind: 'healed', worktree: world.path, branch: 'main', kept: [] }]);
    expect(listLeft(world)).toEqual([]);
    const now = world.git('rev-parse', 'main');
    const may = { old: [world.old], new: [world.commit], either: [world.old, world.commit] }[side];
    expect(may).toContain(now);
    expect(status(world)).toBe(BESIDE);
    expect(readTree(world.path)).toEqual(now === world.old ? before : after);
    // The plumbing that does not look into files agrees: the times in the index are those of the files.
    expect(world.git('diff-files', '--name-only')).toBe('edited.txt');
    expect(world.git('fsck', '--strict', '--no-dangling')).toBe('');
    expect(commitNext(world)).toEqual(['mine.txt']);
    expect(await healLandings(world.repo, witness)).toEqual([]);
  });

  it('is made good by the next landing too', async () => {
    await using world = await landingWorld();
    workBeside(world);
    await landAndDie(world, 'file', 5, 'group');
    const { old, commit } = world;
    expect(await landTarget(world.repo, { branch: 'main', old, commit, witness })).toEqual({
      kind: 'landed',
    });
    expect(status(world)).toBe(BESIDE);
    expect(listLeft(world)).toEqual([]);
  });

  it.each(shareOf(['alone', 'group'], 2))(
    'in a linked worktree, found from the main one: %s',
    async (whom) => {
      await using world = await landingWorld({ shape: 'linked worktree' });
      workBeside(world);
      const before = readTree(world.path);
      await landAndDie(world, 'file', 6, whom);
      const repo = {
        ...world.repo,
        git_dir: world.repo.common_dir,
        worktree: join(world.repo.common_dir, '..'),
      };
      expect(await healLandings(repo, witness, 5_000)).toMatchObject([
        { kind: 'healed', worktree: world.path },
      ]);
      expect(listLeft(world)).toEqual([]);
      expect(status(world)).toBe(BESIDE);
      expect(readTree(world.path)).toEqual(before);
      expect(commitNext(world)).toEqual(['mine.txt']);
    },
  );

  it('keeps what the user has done there since, and names it', async () => {
    await using world = await landingWorld();
    await landAndDie(world, 'files');
    writeFileSync(join(world.path, 'a.txt'), 'mine by now\n');
    expect(await healLandings(world.repo, witness, 5_000)).toMatchObject([
      { kind: 'healed', kept: ['a.txt'] },
    ]);
    expect(status(world)).toBe(' M a.txt');
    expect(await world.read('a.txt')).toBe('mine by now\n');
  });

  it.each<[string, number]>(
    shareOf(
      [
        ['aside', 1],
        ['aside', 4],
        ['file', 3],
        ['file', 9],
        ['files', 1],
      ],
      4,
    ),
  )('[B12] is made good on another file system, after %s %d', async (step, nth) => {
    await using world = await landingWorld();
    await using linked = await linkElsewhere(world);
    const before = readTree(linked.path);
    await landAndDie({ ...world, path: linked.path }, step, nth);
    const copy = join(linked.path, `.forge-landing-${toHash('a.txt')}.new`);
    writeFileSync(copy, 'lan');
    expect(await healLandings(world.repo, witness, 5_000)).toMatchObject([{ kind: 'healed', kept: [] }]);
    expect(readTree(linked.path)).toEqual(before);
    expect(readdirSync(linked.path).filter((name) => name.startsWith('.forge'))).toEqual([]);
    expect(runTestGit(linked.path, ['status', '--porcelain'])).toBe('');
  });

  it.each(shareOf(['aside', 'file'], 2))(
    '[B5] keeps what the user saves at the place of a file after %s',
    async (step) => {
      await using world = await landingWorld();
      const before = readTree(world.path);
      await landAndDie(world, step, step === 'aside' ? 1 : 7);
      writeFileSync(join(world.path, 'a.txt'), 'mine by now\n');
      expect(await healLandings(world.repo, witness, 5_000)).toMatchObject([
        { kind: 'healed', kept: ['a.txt'] },
      ]);
      expect(readTree(world.path)).toEqual({ ...before, 'a.txt': 'mine by now\n' });
      expect(status(world)).toBe(' M a.txt');
    },
  );

  it.each(shareOf(['aside', 'files', 'committed'], 2))(
    '[B5] keeps what a user writes through an open file after %s',
    async (step) => {
      await using world = await landingWorld();
      const file = openSync(join(world.path, 'a.txt'), 'r+');
      await landAndDie(world, step);
      writeSync(file, 'mine by now\n', 0);
      closeSync(file);
      expect(await healLandings(world.repo, witness, 5_000)).toMatchObject([{ kind: 'healed' }]);
      expect(status(world)).toBe(' M a.txt');
      expect(await world.read('a.txt')).toBe('mine by now\n');
      expect(listLeft(world)).toEqual([]);
    },
  );

  it('[B5] is not begun anew over one that cannot be made good yet', async () => {
    await using world = await landingWorld();
    await landAndDie(world, 'aside', 1);
    rmSync(join(world.repo.git_dir, 'index.lock'));
    writeFileSync(join(world.repo.git_dir, 'index.lock'), 'of another');
    const { old, commit } = world;
    const again = { branch: 'main', old, commit, witness, patience_ms: 50 };
    expect(await landTarget(world.repo, again)).toMatchObject({ kind: 'busy' });
    rmSync(join(world.repo.git_dir, 'index.lock'));
    expect(await healLandings(world.repo, witness, 5_000)).toMatchObject([{ kind: 'healed', kept: [] }]);
    expect([await world.read('a.txt'), status(world)]).toEqual(['a\n', '']);
  });

  it('leaves a lock of another git alone, and says so', async () => {
    await using world = await landingWorld();
    await landAndDie(world, 'files');
    const lock = join(world.repo.git_dir, 'index.lock');
    rmSync(lock);
    writeFileSync(lock, 'of another');
    const [left] = await healLandings(world.repo, witness, 50);
    expect(left).toMatchObject({ kind: 'left', why: expect.stringContaining(lock) });
    expect(existsSync(lock)).toBe(true);
    rmSync(lock);
    expect(await healLandings(world.repo, witness, 5_000)).toMatchObject([{ kind: 'healed' }]);
    expect(status(world)).toBe('');
  });

  it('is healed where the user removed the lock by hand and has staged everything', async () => {
    await using world = await landingWorld();
    await landAndDie(world, 'files');
    rmSync(join(world.repo.git_dir, 'index.lock'));
    world.git('add', '--all');
    expect(await healLandings(world.repo, witness, 5_000)).toMatchObject([{ kind: 'healed', side: 'old' }]);
    expect(status(world)).toBe('');
  });

  it('is left alone as long as its process lives, also where that one holds no lock', async () => {
    await using world = await landingWorld();
    await landAndDie(world, 'files');
    const { other, gone } = nameAnother(world, 'holder');
    const before = status(world);
    expect(await healLandings(world.repo, witness, 5_000)).toEqual([]);
    expect(status(world)).toBe(before);
    other.kill('SIGKILL');
    await gone;
    expect(await healLandings(world.repo, witness, 5_000)).toMatchObject([{ kind: 'healed', side: 'old' }]);
    expect(status(world)).toBe('');
  });

  it('waits for its git, which may be about to move the branch, and says so where that does not end', async () => {
    await using world = await landingWorld();
    await landAndDie(world, 'files');
    const { other, gone } = nameAnother(world, 'git');
    const before = status(world);
    expect(await healLandings(world.repo, witness, 50)).toMatchObject([
      { kind: 'left', why: `its git (process ${other.pid}) is still at work` },
    ]);
    expect(status(world)).toBe(before);
    const healing = healLandings(world.repo, witness, 10_000);
    other.kill('SIGKILL');
    await gone;
    expect(await healing).toMatchObject([{ kind: 'healed', side: 'old' }]);
  });

  it('does not touch the landing of a process that lives, and two that heal do not meet', async () => {
    await using world = await landingWorld();
    const { old, commit } = world;
    const landing = landTarget(world.repo, { branch: 'main', old, commit, witness });
    await expect.poll(() => existsSync(join(world.repo.common_dir, 'forge/landing'))).toBe(true);
    expect(await healLandings(world.repo, witness, 0)).toEqual([]);
    expect(await landing).toEqual({ kind: 'landed' });
    world.git('reset', '--quiet', '--hard', old);
    await landAndDie(world, 'file', 3);
    const healed = await Promise.all([1, 2, 3].map(() => healLandings(world.repo, witness, 10_000)));
    expect(healed.flat()).toHaveLength(1);
    expect(status(world)).toBe('');
    expect(readdirSync(join(world.repo.common_dir, 'forge'))).toEqual([]);
  });
});

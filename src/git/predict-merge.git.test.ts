import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type GitPlace, gitPlace } from '../../tests/support/git-places.ts';
import { shareOf } from '../../tests/support/share-of.ts';
import { runTestGit, testGitEnv } from '../../tests/support/temp-repo.ts';
import { predictByFile, predictMerge } from './predict-merge.ts';

const FILE = '.forge/tasks.jsonl';
const LINES = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'];

async function commit(place: GitPlace, lines: readonly string[] | null, message: string): Promise<void> {
  if (lines === null) place.git('rm', '--quiet', FILE);
  else await place.write(FILE, lines.map((line) => `${line}\n`).join(''));
  place.git('add', '.');
  place.git('commit', '--quiet', '-m', message);
}

/** Branches `ours` (checked out) and `theirs` from a common commit with LINES. */
async function branchOff(
  place: GitPlace,
  ours: readonly string[] | null,
  theirs: readonly string[] | null,
): Promise<void> {
  await commit(place, LINES, 'root');
  place.git('checkout', '--quiet', '-b', 'theirs');
  await commit(place, theirs, 'theirs');
  place.git('checkout', '--quiet', '-b', 'ours', 'HEAD~1');
  await commit(place, ours, 'ours');
}

const change = (...changed: string[]) =>
  LINES.map((line) => (changed.includes(line) ? `${line}-${changed.join('')}` : line));

function hasRealConflict(place: GitPlace, theirs: string): boolean {
  try {
    place.git('merge', '--quiet', '-m', 'merge', theirs);
    return false;
  } catch {
    return place.git('ls-files', '--unmerged') !== '';
  }
}

const CASES: readonly (readonly [string, readonly string[] | null, readonly string[] | null, boolean])[] = [
  ['distant lines', change('a'), change('h'), false],
  ['the same line', change('a'), ['other', ...LINES.slice(1)], true],
  ['neighbouring lines', change('a'), change('b'), true],
  ['the same change', change('a'), change('a'), false],
  ['two lines put at one place', [...LINES, 'i'], [...LINES, 'j'], true],
  ['removed here, changed there', null, change('a'), true],
  ['changed here, removed there', change('a'), null, true],
  ['removed by both', null, null, false],
];

/** A branch `root` with LINES on top of main, and two branches of it for each case, by one process. */
function importCases(place: GitPlace): void {
  const write = (lines: readonly string[]): string => {
    const text = lines.map((line) => `${line}\n`).join('');
    return `M 100644 inline ${FILE}\ndata ${text.length}\n${text}`;
  };
  const commit = (branch: string, from: string, lines: readonly string[] | null): string =>
    `commit refs/heads/${branch}\ncommitter T <t@example.com> 1700000000 +0000\ndata 0\n` +
    `from refs/heads/${from}\n${lines === null ? `D ${FILE}\n` : write(lines)}\n`;
  const branches = CASES.map(
    ([, ours, theirs], at) => commit(`ours-${at}`, 'root', ours) + commit(`theirs-${at}`, 'root', theirs),
  );
  const input = commit('root', 'main', LINES) + branches.join('');
  execFileSync('git', ['fast-import', '--quiet'], { cwd: place.path, env: testGitEnv(), input });
}

describe.each(shareOf(['sha1', 'sha256', 'linked worktree'] as const, 2))('predictMerge in %s', (shape) => {
  let place: GitPlace;
  beforeAll(async () => {
    place = await gitPlace(shape);
    importCases(place);
  });
  afterAll(() => place[Symbol.asyncDispose]());

  it.each(CASES.map((one, at) => [one[0], at, one[3]] as const))('%s', async (_name, at, conflicts) => {
    const [ours, theirs] = [`ours-${at}`, `theirs-${at}`];
    const expected = { outcome: conflicts ? 'conflict' : 'clean', conflicts: conflicts ? [FILE] : [] };
    expect(await predictMerge(place.repo, ours, theirs, [FILE, 'a.txt'])).toEqual(expected);
    // The way of an older git gives the same.
    const commits = { root: 'root', ours, theirs };
    expect(await predictByFile(place.repo, commits, [FILE, 'a.txt'])).toEqual(expected);
    // And so does a real merge without attributes and drivers.
    place.git('checkout', '--quiet', '--force', '--detach', ours);
    expect(hasRealConflict(place, theirs)).toBe(conflicts);
  });
});

describe('predictMerge', () => {
  it.each([['.gitattributes'], ['.git/info/attributes']])(
    'runs no driver that %s names, where git itself would',
    async (attributes) => {
      await using place = await gitPlace();
      const ran = join(place.path, '..', 'ran');
      if (attributes === '.gitattributes') await place.write(attributes, `${FILE} merge=forge\n`);
      await branchOff(place, change('a'), ['other', ...LINES.slice(1)]);
      if (attributes !== '.gitattributes')
        await writeFile(join(place.path, attributes), `${FILE} merge=forge\n`);
      place.git('config', 'merge.forge.driver', `touch '${ran}'`);
      expect(await predictMerge(place.repo, 'ours', 'theirs', [FILE])).toMatchObject({ outcome: 'conflict' });
      expect(existsSync(ran)).toBe(false);
      // The driver is a real one: with it there is no conflict.
      place.git('merge-tree', '--write-tree', 'ours', 'theirs');
      expect(existsSync(ran)).toBe(true);
    },
  );

  it.each(['union', 'binary', 'ours'])('does not honour merge=%s, which servers ignore', async (how) => {
    await using place = await gitPlace();
    await place.write('.gitattributes', `* merge=${how}\n`);
    await branchOff(place, change('a'), change('h'));
    expect(await predictMerge(place.repo, 'ours', 'theirs', [FILE])).toMatchObject({ outcome: 'clean' });
    place.git('checkout', '--quiet', 'ours');
    await commit(place, [...change('a'), 'end'], 'more');
    place.git('checkout', '--quiet', 'theirs');
    await commit(place, [...change('h'), 'other end'], 'more');
    expect(await predictMerge(place.repo, 'ours', 'theirs', [FILE])).toMatchObject({ outcome: 'conflict' });
  });

  it('tells of the asked paths alone', async () => {
    await using place = await gitPlace();
    await branchOff(place, change('a'), ['other', ...LINES.slice(1)]);
    expect(await predictMerge(place.repo, 'ours', 'theirs', ['a.txt'])).toEqual({
      outcome: 'clean',
      conflicts: [],
    });
  });

  it('writes nothing into the repository', async () => {
    await using place = await gitPlace();
    await branchOff(place, change('a'), change('h'));
    const look = () => [
      place.git('count-objects', '-v'),
      place.git('for-each-ref'),
      place.git('status', '--porcelain'),
    ];
    const before = look();
    expect(await predictMerge(place.repo, 'ours', 'theirs', [FILE])).toMatchObject({ outcome: 'clean' });
    expect(look()).toEqual(before);
  });

  it('does not know about commits that are not there or have nothing in common', async () => {
    await using place = await gitPlace();
    place.git('checkout', '--quiet', '--orphan', 'alone');
    place.git('commit', '--quiet', '-m', 'alone');
    expect(await predictMerge(place.repo, 'main', 'nowhere', [FILE])).toEqual({
      outcome: 'unknown',
      conflicts: [],
      reason: 'There is no commit nowhere',
    });
    expect(await predictMerge(place.repo, 'main', 'alone', [FILE])).toMatchObject({ outcome: 'unknown' });
  });

  it('works in a shallow clone, from packs, and in a folder with an odd name', async () => {
    await using place = await gitPlace();
    await branchOff(place, change('a'), ['other', ...LINES.slice(1)]);
    const path = join(place.path, '..', 'a:b "c"');
    runTestGit(place.path, [
      'clone',
      '--quiet',
      '--no-local',
      '--depth',
      '2',
      '--no-single-branch',
      place.path,
      path,
    ]);
    const git = join(path, '.git');
    const repo = { ...place.repo, worktree: path, git_dir: git, common_dir: git };
    expect(await predictMerge(repo, 'HEAD', 'origin/theirs', [FILE])).toMatchObject({ outcome: 'conflict' });
  });

  it('takes two versions of a binary file for a conflict, both ways', async () => {
    await using place = await gitPlace();
    await branchOff(place, ['\0a'], ['\0b']);
    const root = place.git('merge-base', 'ours', 'theirs');
    expect(await predictMerge(place.repo, 'ours', 'theirs', [FILE])).toMatchObject({ outcome: 'conflict' });
    const commits = { root, ours: 'ours', theirs: 'theirs' };
    expect(await predictByFile(place.repo, commits, [FILE])).toMatchObject({ outcome: 'conflict' });
  });
});

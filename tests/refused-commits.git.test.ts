import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { forgeFolder } from './support/forge-cli.ts';
import { forgeClones, titlesAt, type Clone } from './support/git-clones.ts';
import { shareOf } from './support/share-of.ts';

/** A branch whose merge or cherry-pick conflicts in a file of the user, beside a task change of its own. */
function divergeIn(a: Clone): void {
  a.git('switch', '--quiet', '-c', 'other');
  a.commitFile('c.txt', 'theirs\n');
  a.git('switch', '--quiet', 'main');
  a.commitFile('c.txt', 'ours\n');
}

const IN_PROGRESS = [
  ['merge', ['merge', 'other'], ['merge', '--abort']],
  ['cherry-pick', ['cherry-pick', 'other'], ['cherry-pick', '--abort']],
] as const;

const REFUSED = [
  ['forge commit', ['commit']],
  ['forge init --upgrade --branch', ['init', '--upgrade', '--branch', 'forge-data']],
] as const;

describe('a commit that is refused in the middle of a merge changes nothing', () => {
  const cases = IN_PROGRESS.flatMap(([name, begin, give_up]) =>
    REFUSED.map(([what, command]) => ({ name, begin, give_up, what, command })),
  );
  it.each(shareOf(cases, 4))('$what, $name', async ({ begin, give_up, command }) => {
    await using world = await forgeClones(['a']);
    const { a } = world.clone;
    await a.create('x');
    await a.commitTasks();
    divergeIn(a);
    a.tryGit(begin);
    await a.create('made in the conflict');
    const look = (): readonly string[] => [
      a.git('status', '--porcelain'),
      a.git('branch', '--list'),
      a.read('.forge/config.json'),
      a.read('.forge/tasks.jsonl'),
    ];
    const before = look();
    expect(await a.run(...command)).toMatchObject({ exit: 5 });
    expect(look()).toEqual(before);
    a.git(...give_up);
    expect(a.git('status', '--porcelain')).toBe('');
    await a.commitTasks();
    expect(titlesAt(a)).toEqual(['made in the conflict', 'x']);
  });
});

const CANNOT_COMMIT = [
  ['no key to sign with', { 'commit.gpgsign': 'true', 'gpg.program': '/bin/false' }],
  ['no key of SSH to sign with', { 'commit.gpgsign': 'true', 'gpg.format': 'ssh' }],
] as const;

describe('a commit that git cannot make leaves the working tree clean, so that a pull goes through', () => {
  it.each(CANNOT_COMMIT)('%s', async (_, settings) => {
    await using world = await forgeClones(['a', 'b']);
    const { a, b } = world.clone;
    await b.create('from b');
    await b.commitTasks();
    b.git('push', '--quiet');
    await a.create('from a');
    for (const [name, value] of Object.entries(settings)) a.git('config', name, value);
    expect((await a.run('commit')).exit).not.toBe(0);
    for (const name of Object.keys(settings)) a.git('config', '--unset', name);
    expect(a.git('status', '--porcelain')).toBe('');
    a.git('pull', '--quiet', '--no-edit');
    await a.commitTasks();
    expect(titlesAt(a)).toEqual(['from a', 'from b']);
  });

  it('an edit by hand that was taken in before stands there as it was, and counts', async () => {
    await using world = await forgeClones(['a']);
    const { a } = world.clone;
    const { id } = await a.create('x');
    await a.commitTasks();
    const file = join(a.path, '.forge/tasks.jsonl');
    a.write('.forge/tasks.jsonl', a.read('.forge/tasks.jsonl').replace('"title":"x"', '"title":"by hand"'));
    const edited = readFileSync(file, 'utf8');
    a.git('config', 'commit.gpgsign', 'true');
    a.git('config', 'gpg.program', '/bin/false');
    expect((await a.run('commit')).exit).not.toBe(0);
    expect(readFileSync(file, 'utf8')).toBe(edited);
    expect((await a.show(id)).title).toBe('by hand');
    a.git('config', 'commit.gpgsign', 'false');
    await a.commitTasks();
    expect(titlesAt(a)).toEqual(['by hand']);
  });
});

describe('a commit that git gives up after the hook', () => {
  it('stands in the way of no pull once the files are put back as the docs say, and loses nothing', async () => {
    await using world = await forgeClones(['a', 'b']);
    const { a, b } = world.clone;
    const { id } = await a.create('x');
    await a.commitTasks();
    a.git('push', '--quiet');
    b.git('pull', '--quiet');
    const other = await b.create('y');
    await b.commitTasks();
    b.git('push', '--quiet');
    const file = join(a.path, '.forge/tasks.jsonl');
    writeFileSync(file, readFileSync(file, 'utf8').replace('"title":"x"', '"title":"by hand"'));
    await a.run('task', 'update', id, '--priority', '0');
    a.write('a.txt', 'a\n');
    a.git('add', 'a.txt');
    expect(a.tryGit(['-c', 'core.editor=true', 'commit']).exit).not.toBe(0);
    expect(a.git('status', '--porcelain')).toContain('M  .forge/tasks.jsonl');
    const files = ['.forge/tasks.jsonl', '.forge/history.jsonl'];
    a.git('restore', '--staged', '--worktree', ...files);
    a.git('pull', '--quiet', '--no-edit');
    expect(await a.show(id)).toMatchObject({ title: 'by hand', priority: 0 });
    expect((await a.show(other.id)).title).toBe('y');
    await a.commitTasks();
    expect(titlesAt(a).toSorted()).toEqual(['by hand', 'y']);
    expect(a.git('diff', '--cached', '--name-only')).toBe('a.txt');
  });
});

describe('task files that a rule of the repository ignores', () => {
  it('are told by forge init', async () => {
    await using place = await forgeFolder();
    const { stdout, stderr } = await place.bash(
      "git init -q r && cd r && echo '*.jsonl' > .gitignore && forge init",
    );
    expect(stdout + stderr).toContain(
      'Git ignores .forge/tasks.jsonl and .forge/history.jsonl (.gitignore:1:*.jsonl)',
    );
  });

  const RULES = [
    ['*.jsonl', '.gitignore'],
    ['.forge/', '.gitignore'],
    ['*.jsonl', '.git/info/exclude'],
  ] as const;
  it.each(shareOf(RULES, 2))(
    '%s in %s: told by the commit and by doctor, and forge commit takes them',
    async (rule, file) => {
      await using world = await forgeClones(['a']);
      const { a } = world.clone;
      a.git('rm', '--quiet', '--cached', '-r', '--ignore-unmatch', '.forge');
      a.write(file, `${existsSync(join(a.path, file)) ? a.read(file) : ''}${rule}\n`);
      a.git('commit', '--quiet', '--no-verify', '--allow-empty', '-m', 'without tasks');
      await a.create('x');
      const told = `${file}:`;
      const said = a.commitFile('a.txt');
      expect(said).toContain('[forge] This commit carries no tasks: git ignores .forge/tasks.jsonl');
      expect(said).toContain(told);
      const findings = (await a.run('doctor')).stdout;
      expect(findings).toMatch(
        /warning +git files +files of the project are ignored by git, so that no commit takes them: .*tasks\.jsonl/,
      );
      await a.commitTasks();
      expect(titlesAt(a)).toEqual(['x']);
      await a.create('y');
      a.commitFile('b.txt');
      expect(titlesAt(a)).toEqual(['x', 'y']);
      expect((await a.run('doctor')).stdout).toMatch(/ok +git files/);
    },
  );
});

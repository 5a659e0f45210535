import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { openPlace } from '../support/forge-cli.ts';
import { cloneRemote, initRemote, toClone, titlesOf, type Clone } from '../support/git-clones.ts';
import { tempFolder } from '../support/temp-repo.ts';

/** A repository of two people: the first has a commit and a project that nobody has committed. */
async function twoPeople(prepare: (first: Clone) => void = () => undefined): Promise<
  AsyncDisposable & {
    readonly first: Clone;
    /** A clone of what the first has pushed. */
    second(): Clone;
  }
> {
  const folder = await tempFolder();
  const place = await openPlace(folder);
  initRemote(folder.path, place.env);
  cloneRemote(folder.path, 'first', place.env);
  const first = toClone(join(folder.path, 'first'), place);
  first.git('symbolic-ref', 'HEAD', 'refs/heads/main');
  first.write('readme.txt', 'readme\n');
  prepare(first);
  first.git('add', '.');
  first.git('commit', '--quiet', '-m', 'first');
  await first.json('init', '--prefix', 'hk');
  await first.create('shared');
  return {
    first,
    second() {
      first.git('push', '--quiet', '-u', 'origin', 'main');
      cloneRemote(folder.path, 'second', place.env);
      return toClone(join(folder.path, 'second'), place);
    },
    [Symbol.asyncDispose]: () => folder[Symbol.asyncDispose](),
  };
}

const PROJECT = [
  '.forge/config.json',
  '.forge/history.jsonl',
  '.forge/hooks/post-merge',
  '.forge/hooks/pre-commit',
  '.forge/tasks.jsonl',
  '.gitattributes',
  '.gitignore',
];

describe('the first commit that carries tasks', () => {
  it('carries all that a clone needs, and says so', async () => {
    await using people = await twoPeople();
    const { first } = people;
    const said = first.commitFile('a.txt');
    expect(said).toContain(
      '.forge/tasks.jsonl, .forge/history.jsonl, .forge/config.json, .forge/hooks/pre-commit, .forge/hooks/post-merge, .gitattributes and .gitignore updated and staged',
    );
    expect(first.git('status', '--porcelain')).toBe('');
    expect(first.git('ls-tree', '-r', '--name-only', 'HEAD').split('\n')).toEqual([
      ...PROJECT,
      'a.txt',
      'readme.txt',
    ]);
    const second = people.second();
    expect(await second.json('init')).toMatchObject({ adopted: true, idPrefix: 'hk' });
    expect(await titlesOf(second)).toEqual(['shared']);
    expect(second.git('status', '--porcelain')).toBe('');
    // From then on nothing is added to what the user stages.
    await first.create('more');
    first.write('.gitignore', `${first.read('.gitignore')}mine\n`);
    first.commitFile('b.txt');
    expect(first.git('status', '--porcelain')).toBe(' M .gitignore');
  });

  it('leaves changes of the user where they are, and says what to type', async () => {
    await using people = await twoPeople((first) => {
      first.write('.gitignore', 'old\n');
      first.write('.gitattributes', '*.png binary\n');
    });
    const { first } = people;
    first.write('.gitignore', `${first.read('.gitignore')}mine\n`);
    const said = first.commitFile('a.txt');
    expect(said).toContain(
      ".gitignore has changes of your own, so Forge's lines in there are not in this commit: git add .gitignore",
    );
    expect(first.git('show', 'HEAD:.gitignore')).toBe('old');
    expect(first.git('show', 'HEAD:.gitattributes')).toContain('.forge/tasks.jsonl merge=forge');
    expect(first.git('status', '--porcelain')).toBe(' M .gitignore');
    const second = people.second();
    expect(await second.json('init')).toMatchObject({ adopted: true, idPrefix: 'hk' });
  });

  it('says what to type where the user ignores the config', async () => {
    await using people = await twoPeople((first) => first.write('.gitignore', '.forge/config.json\n'));
    expect(people.first.commitFile('a.txt')).toMatch(
      /This commit has tasks and no config.*; to commit \.forge\/config\.json.* too: forge commit$/m,
    );
  });

  it('says nothing of the config where the user ignores the tasks too, and the commit has none', async () => {
    await using people = await twoPeople((first) => first.write('.gitignore', '.forge/\n'));
    const said = people.first.commitFile('a.txt');
    expect(said).toContain('This commit carries no tasks: git ignores .forge/tasks.jsonl');
    expect(said).not.toContain('This commit has tasks');
  });

  it('is the same by forge commit', async () => {
    await using people = await twoPeople();
    const { first } = people;
    await first.commitTasks();
    expect(first.git('status', '--porcelain')).toBe('');
    expect(first.git('ls-tree', '-r', '--name-only', 'HEAD').split('\n')).toEqual([...PROJECT, 'readme.txt']);
    expect(first.git('ls-files', '--stage', '.forge/hooks/pre-commit')).toMatch(/^100755 /);
    expect(await people.second().json('init')).toMatchObject({ adopted: true, idPrefix: 'hk' });
  });
});

describe('a clone that came with tasks and no config', () => {
  it('adopts them with their prefix, and says so before', async () => {
    await using people = await twoPeople();
    const { first } = people;
    await first.run('export');
    first.git('add', '.forge/tasks.jsonl');
    first.git('commit', '--quiet', '--no-verify', '-m', 'tasks alone');
    const second = people.second();
    const refused = await second.run('ready');
    expect(refused.stderr).toContain('.forge/tasks.jsonl is here (hk-), and no config');
    expect(refused.stderr).toContain('forge init');
    const made = await second.json<{ notes: string[] }>('init');
    expect(made).toMatchObject({ adopted: true, idPrefix: 'hk' });
    expect(made.notes.join()).toContain('Nobody has committed .forge/config.json');
    expect(await titlesOf(second)).toEqual(['shared']);
    expect((await second.create('mine')).id).toMatch(/^hk-/);
  });
});

describe('forge uninstall, and forge init again', () => {
  it.each(['', 'mine\n'])(
    'leaves the repository as it was before, with %j in the files of git',
    async (own) => {
      await using people = await twoPeople((first) => {
        if (own === '') return;
        first.write('.gitignore', own);
        first.write('.gitattributes', '*.png binary\n');
      });
      const { first } = people;
      first.commitFile('a.txt');
      const files = ['.git/info/exclude', '.git/info/attributes', '.gitignore', '.gitattributes'];
      const before = files.map((file) => first.read(file));
      await first.json('uninstall', '--yes');
      expect(first.git('status', '--porcelain')).not.toBe('');
      expect(await first.json('init')).toMatchObject({ adopted: true, idPrefix: 'hk' });
      expect(await titlesOf(first)).toEqual(['shared']);
      expect(files.map((file) => first.read(file))).toEqual(before);
      expect(first.git('status', '--porcelain')).toBe('');
      // Nothing of it may be committed with all that the user has.
      first.write('b.txt', 'b\n');
      first.git('add', '--all');
      first.git('commit', '--quiet', '-m', 'all');
      expect(first.git('ls-files', '.forge')).not.toContain('forge.db');
      expect((await first.run('doctor')).exit).toBe(0);
    },
  );
});

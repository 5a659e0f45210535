import { readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { openPlace } from '../support/forge-cli.ts';
import { noteUnwalled } from '../support/note-unwalled.ts';
import { hasFile, titlesAt, titlesIn, titlesOf, toClone, type Clone } from '../support/git-clones.ts';
import { tempRepo, type TempRepo } from '../support/temp-repo.ts';

describe('forge init --stealth', () => {
  it('[S75] [S76] [S77] [S78] leaves no trace for git, and every command works', async () => {
    await using repo = await tempRepo();
    const clone = await stealthProject(repo);
    expect(clone.git('status', '--porcelain', '--ignored')).toBe('!! .forge/');
    expect(clone.git('status', '--porcelain', '-uall')).toBe('');
    expect(clone.read('.git/info/exclude')).toContain('\n.forge/\n');
    expect(readdirSync(join(clone.path, '.git/hooks')).filter((name) => !name.endsWith('.sample'))).toEqual(
      [],
    );
    expect(hasFile(clone, '.gitignore')).toBe(false);
    expect(hasFile(clone, '.gitattributes')).toBe(false);
    expect(clone.read('.git/config')).not.toContain('forge');
    expect(JSON.parse(clone.read('.forge/config.json'))).toMatchObject({ initMode: 'stealth' });

    const [one, two] = [await clone.create('one'), await clone.create('two')];
    await clone.json('dep', 'add', two.id, one.id);
    await clone.json('claim', '--next', '--actor', 'worker-1');
    await clone.json('task', 'comment', one.id, 'seen');
    await clone.json('task', 'close', one.id, '--reason', 'done');
    expect(await clone.json<{ id: string }[]>('ready')).toMatchObject([{ id: two.id }]);
    noteUnwalled(join(dirname(clone.path), 'home of nobody', '.forge'));
    await clone.json('agent', 'add', 'w1', '--executor', 'shell', '--command=touch', '--command=made.txt');
    expect(await clone.json('run', two.id, '--agent', 'w1', '--merge')).toMatchObject([
      { task: { state: 'done' } },
    ]);
    expect(clone.git('ls-files')).toBe('made.txt\nreadme.txt');
    for (const words of ['stats', 'blocked', 'prime', 'conflicts', 'task list', 'graph'])
      expect(await clone.run(...words.split(' '))).toMatchObject({ exit: 0, stderr: '' });
    await clone.text('project', 'add');
    await clone.json('batch', 'create', 'wave', one.id, two.id);
    expect(await clone.json('batch', 'show', 'wave')).toMatchObject({ name: 'wave' });
    // [S77] DESIGN decides: every write is in the local replica at once, the file is there for whoever wants it, and
    // both stay on this machine.
    expect(titlesIn(clone.read('.git/forge/tasks.jsonl'))).toEqual(expect.arrayContaining(['one', 'two']));
    await clone.json('export');
    expect(titlesIn(clone.read('.forge/tasks.jsonl'))).toEqual(['one', 'two']);
    await clone.json('gc');
    expect(await clone.json('sync')).toMatchObject({ mode: 'stealth', fetched: false, pushed: false });
    expect((await clone.fails('commit')).error).toMatchObject({
      code: 'state_invalid',
      hint: 'forge init --upgrade',
    });
    expect(clone.commitFile('code.txt')).not.toContain('forge');
    expect(clone.git('ls-files')).toBe('code.txt\nmade.txt\nreadme.txt');
    expect(clone.git('status', '--porcelain')).toBe('');
    // What git thinks is rubbish, is not.
    clone.git('clean', '--quiet', '-fdx');
    expect(await titlesOf(clone)).toEqual(['one', 'two']);
  });

  it('[S73] [S75] a second init is refused, in every form, and changes nothing', async () => {
    await using repo = await tempRepo();
    const clone = await stealthProject(repo);
    const before = clone.read('.forge/config.json');
    for (const flags of [[], ['--stealth'], ['--branch', 'forge-data'], ['--prefix', 'xy']])
      expect((await clone.fails('init', ...flags)).error.code).toBe('already_exists');
    expect((await clone.fails('init', '--stealth', '--branch', 'x')).error.code).toBe('invalid_input');
    expect((await clone.fails('init', '--upgrade', '--stealth')).error.code).toBe('invalid_input');
    expect(clone.read('.forge/config.json')).toBe(before);
    expect(clone.git('branch', '--list')).toBe('* main');
  });
});

describe('forge init --upgrade', () => {
  it('[S79] from stealth: commits our files alone, and what the user staged stays byte for byte', async () => {
    await using repo = await tempRepo();
    const clone = await stealthProject(repo, { '.gitignore': '*.log' });
    await clone.create('kept');
    await clone.create('kept too');
    clone.write('readme.txt', 'staged\n');
    clone.write('new.txt', 'staged too\n');
    clone.git('add', 'readme.txt', 'new.txt');
    clone.write('readme.txt', 'staged\nand changed again\n');
    clone.git('rm', '--quiet', '--cached', 'gone.txt');
    const staged = clone.git('diff', '--cached');
    const unstaged = clone.git('diff');
    await clone.json('init', '--upgrade');
    expect(clone.git('diff', '--cached')).toBe(staged);
    expect(clone.git('diff')).toBe(unstaged);
    expect(clone.git('show', '--format=', '--name-only', 'HEAD').split('\n')).toEqual([
      '.forge/config.json',
      '.forge/history.jsonl',
      '.forge/hooks/post-merge',
      '.forge/hooks/pre-commit',
      '.forge/tasks.jsonl',
      '.gitattributes',
      '.gitignore',
    ]);
    expect(clone.read('.gitignore')).toMatch(/^\*\.log\n/);
    expect(titlesAt(clone)).toEqual(['kept', 'kept too']);
    expect(clone.read('.git/info/exclude')).not.toContain('\n.forge/\n');
    expect(clone.git('status', '--porcelain')).toBe('D  gone.txt\nA  new.txt\nMM readme.txt\n?? gone.txt');
    // From now on like any other project.
    await clone.create('later');
    clone.git('commit', '--quiet', '-m', 'mine');
    expect(titlesAt(clone)).toEqual(['kept', 'kept too', 'later']);
    expect((await clone.fails('init', '--upgrade')).error.code).toBe('already_exists');
  });
});

async function stealthProject(repo: TempRepo, files: Record<string, string> = {}): Promise<Clone> {
  const clone = toClone(repo.path, await openPlace(repo));
  if (Object.keys(files).length > 0) clone.write('gone.txt', 'gone\n');
  for (const [file, text] of Object.entries({ 'readme.txt': 'readme\n', ...files })) clone.write(file, text);
  clone.git('add', '.');
  clone.git('commit', '--quiet', '-m', 'first');
  await clone.json('init', '--stealth');
  return clone;
}

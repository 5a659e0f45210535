import { spawnSync } from 'node:child_process';
import { chmodSync, existsSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { hookRepo, type HookRepo } from '../../tests/support/hook-repo.ts';
import { addAttributeLines } from './attribute-lines.ts';
import {
  isMergeDriverRegistered,
  registerMergeDriver,
  unregisterMergeDriver,
} from './merge-driver-config.ts';
import { getRepositoryPaths } from './repository-paths.ts';

const configOf = (repo: HookRepo) => join(repo.path, '.git/config');

describe('registerMergeDriver', () => {
  it('is seen by git and by isMergeDriverRegistered, and leaves no trace when it is taken back', async () => {
    await using repo = await hookRepo();
    const before = readFileSync(configOf(repo));
    expect(isMergeDriverRegistered(repo.paths, repo.program)).toBe(false);
    await registerMergeDriver(repo.options);
    expect(isMergeDriverRegistered(repo.paths, repo.program)).toBe(true);
    expect(repo.git('config', 'merge.forge.name')).toBe('Forge task files');
    const written = readFileSync(configOf(repo));
    await registerMergeDriver(repo.options);
    expect(readFileSync(configOf(repo))).toEqual(written);
    await unregisterMergeDriver(repo.options);
    expect(isMergeDriverRegistered(repo.paths, repo.program)).toBe(false);
    expect(readFileSync(configOf(repo))).toEqual(before);
    await unregisterMergeDriver(repo.options);
  });

  it('counts for linked worktrees as well', async () => {
    await using repo = await hookRepo();
    repo.git('commit', '-q', '--allow-empty', '-m', 'x');
    const linked = join(dirname(repo.path), 'linked');
    repo.git('worktree', 'add', '-q', linked);
    const paths = getRepositoryPaths(linked);
    await registerMergeDriver({ ...repo.options, paths });
    expect(isMergeDriverRegistered(paths, repo.program)).toBe(true);
    expect(isMergeDriverRegistered(repo.paths, repo.program)).toBe(true);
  });

  it('lets the driver of another installation stand for as long as that is there', async () => {
    await using repo = await hookRepo();
    const other = { node: process.execPath, script: join(repo.path, "it's 50%A") };
    await registerMergeDriver({ ...repo.options, program: other });
    expect(isMergeDriverRegistered(repo.paths, repo.program)).toBe(false);
    await repo.write("it's 50%A", '');
    expect(isMergeDriverRegistered(repo.paths, repo.program)).toBe(true);
    rmSync(other.script);
    await registerMergeDriver(repo.options);
    expect(repo.git('config', 'merge.forge.driver')).not.toContain(process.execPath);
  });

  it('puts one in the place of several, and of one in another form', async () => {
    await using repo = await hookRepo();
    const { node, script } = repo.program;
    repo.git(
      'config',
      'merge.forge.driver',
      `'${process.execPath}' '${process.execPath}' merge-driver %O %A`,
    );
    repo.git('config', '--add', 'merge.forge.driver', `${node} ${script}`);
    expect(isMergeDriverRegistered(repo.paths, repo.program)).toBe(false);
    await registerMergeDriver(repo.options);
    expect(isMergeDriverRegistered(repo.paths, repo.program)).toBe(true);
    expect(repo.git('config', '--get-all', 'merge.forge.driver').split('\n')).toHaveLength(1);
  });

  it('leaves a driver of the same name alone that is not ours', async () => {
    await using repo = await hookRepo();
    repo.git('config', 'merge.forge.driver', 'theirs %A');
    const before = readFileSync(configOf(repo));
    await unregisterMergeDriver(repo.options);
    expect(readFileSync(configOf(repo))).toEqual(before);
  });

  it('waits for a lock that goes away', async () => {
    await using repo = await hookRepo();
    const lock = `${configOf(repo)}.lock`;
    writeFileSync(lock, '');
    const registered = registerMergeDriver(repo.options);
    await setTimeout(300);
    expect(isMergeDriverRegistered(repo.paths, repo.program)).toBe(false);
    rmSync(lock);
    await registered;
    expect(isMergeDriverRegistered(repo.paths, repo.program)).toBe(true);
  });

  it('says which lock does not go away', async () => {
    await using repo = await hookRepo();
    const lock = `${configOf(repo)}.lock`;
    writeFileSync(lock, '');
    await expect(registerMergeDriver(repo.options)).rejects.toMatchObject({
      code: 'store_busy',
      hint: expect.stringContaining(lock),
    });
    expect(existsSync(lock)).toBe(true);
  });

  it('may be done by several at once', async () => {
    await using repo = await hookRepo();
    await Promise.all(Array.from({ length: 6 }, () => registerMergeDriver(repo.options)));
    expect(isMergeDriverRegistered(repo.paths, repo.program)).toBe(true);
    expect(repo.git('config', '--get-all', 'merge.forge.driver').split('\n')).toHaveLength(1);
  });

  it('reports a configuration that git cannot read', async () => {
    await using repo = await hookRepo();
    writeFileSync(configOf(repo), '[core\n');
    expect(isMergeDriverRegistered(repo.paths, repo.program)).toBe(false);
    await expect(registerMergeDriver(repo.options)).rejects.toMatchObject({ code: 'io_failed' });
  });
});

describe('the driver in a merge', () => {
  it('is run by git with three files and the path', async () => {
    await using repo = await hookRepo();
    await prepareBranches(repo);
    replaceProgram(repo, '[ "$1" = merge-driver ] && cat "$2" "$3" "$4" >"$0.seen"; echo "$5" >"$3"');
    expect(repo.tryGit(['merge', 'side'])).toMatchObject({ exit: 0 });
    expect(await repo.read('.forge/tasks.jsonl')).toBe('.forge/tasks.jsonl\n');
    expect(readFileSync(`${repo.program.script}.seen`, 'utf8')).toBe('base\nours\ntheirs\n');
    expect(repo.git('status', '--porcelain')).toBe('');
  });

  it.each([
    ['the program is gone', (repo: HookRepo) => renameSync(repo.program.node, `${repo.program.node}.old`)],
    ['the script is gone', (repo: HookRepo) => rmSync(repo.program.script)],
    ['it may not run', (repo: HookRepo) => chmodSync(repo.program.node, 0o644)],
    ['it gives up', (repo: HookRepo) => replaceProgram(repo, 'exit 1')],
    ['it is killed', (repo: HookRepo) => replaceProgram(repo, 'kill -9 $$')],
  ])('leaves people with git’s own markers when %s', async (_, breakIt) => {
    await using repo = await hookRepo();
    await prepareBranches(repo);
    breakIt(repo);
    const merge = repo.tryGit(['merge', 'side']);
    expect(merge.exit).toBe(1);
    expect(merge.output).toContain('CONFLICT (content): Merge conflict in .forge/tasks.jsonl');
    expect(await repo.read('.forge/tasks.jsonl')).toBe(
      '<<<<<<< ours\nours\n=======\ntheirs\n>>>>>>> theirs\n',
    );
    expect(repo.git('status', '--porcelain')).toContain('UU .forge/tasks.jsonl');
    expect(repo.tryGit(['merge', '--abort']).exit).toBe(0);
    expect(await repo.read('.forge/tasks.jsonl')).toBe('ours\n');
  });

  it('gets a clean text merge without the program where there is no conflict', async () => {
    await using repo = await hookRepo();
    await prepareBranches(repo, {
      base: 'a\n1\n2\n3\nb\n',
      ours: 'A\n1\n2\n3\nb\n',
      theirs: 'a\n1\n2\n3\nB\n',
    });
    rmSync(repo.program.node);
    expect(repo.tryGit(['merge', 'side']).exit).toBe(0);
    expect(await repo.read('.forge/tasks.jsonl')).toBe('A\n1\n2\n3\nB\n');
  });

  it('ends in an ordinary conflict where no text can be merged, and with very many', async () => {
    await using repo = await hookRepo();
    await prepareBranches(repo, { base: '\0a', ours: '\0b', theirs: '\0c' });
    rmSync(repo.program.node);
    const merge = repo.tryGit(['merge', 'side']);
    expect(merge.exit).toBe(1);
    expect(merge.output).toContain('CONFLICT (content)');
    expect(repo.git('status', '--porcelain')).toContain('UU .forge/tasks.jsonl');
    await using many = await hookRepo();
    // Conflicts that are close to each other would become one.
    const apart = (at: number) => Array.from({ length: 6 }, (__, line) => `same ${at} ${line}\n`).join('');
    const lines = (text: string) => Array.from({ length: 300 }, (__, at) => `${text}\n${apart(at)}`).join('');
    await prepareBranches(many, { base: lines('base'), ours: lines('ours'), theirs: lines('theirs') });
    rmSync(many.program.node);
    expect(many.tryGit(['merge', 'side']).exit).toBe(1);
    expect((await many.read('.forge/tasks.jsonl')).match(/^<<<<<<< /gm)).toHaveLength(300);
  });

  it('never ends with more than 128, which a newer git takes for a crash', async () => {
    await using repo = await hookRepo();
    await registerMergeDriver(repo.options);
    const files = { O: 'base', A: 'ours', B: 'theirs' };
    for (const file of Object.values(files)) await repo.write(file, `\0${file}`);
    const letters: Readonly<Record<string, string>> = { ...files, P: 'path', L: '7', '%': '%' };
    const command = repo
      .git('config', 'merge.forge.driver')
      .replaceAll(/%(.)/g, (_, letter: string) => letters[letter] ?? '');
    const run = (text: string) => spawnSync('sh', ['-c', text], { cwd: repo.path }).status;
    expect(run('git merge-file -q ours base theirs')).toBe(255);
    expect(run(command)).toBe(1);
  });
});

/** Two branches that both changed the tasks, and a driver that git has been told of. */
async function prepareBranches(
  repo: HookRepo,
  text = { base: 'base\n', ours: 'ours\n', theirs: 'theirs\n' },
): Promise<void> {
  addAttributeLines(repo.paths, []);
  await registerMergeDriver(repo.options);
  const save = async (content: string, message: string): Promise<void> => {
    await repo.write('.forge/tasks.jsonl', content);
    repo.git('add', '.');
    repo.git('commit', '-q', '-m', message);
  };
  await save(text.base, 'base');
  repo.git('checkout', '-q', '-b', 'side');
  await save(text.theirs, 'theirs');
  repo.git('checkout', '-q', 'main');
  await save(text.ours, 'ours');
}

function replaceProgram(repo: HookRepo, body: string): void {
  writeFileSync(repo.program.script, `${body}\n`);
}

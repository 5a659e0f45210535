import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { isStoreThere, toStoreFiles, type StoreLocation } from '#store/store-location.ts';
import { initWithStore, openSyncProject, testMachine } from '../../tests/support/sync-project.ts';
import { runTestGit, tempRepo, type TempRepo } from '../../tests/support/temp-repo.ts';
import { findProject } from './find-project.ts';
import { readHookStatus } from './hook-blocks.ts';
import { HOOK_NAMES } from './hooks/hook-block.ts';
import { REMOTE_HINT } from './init/connect-git.ts';
import { initialiseProject } from './initialise-project.ts';
import { isMergeDriverRegistered } from './merge-driver-config.ts';
import { getRepositoryPaths } from './repository-paths.ts';

describe('forge init --stealth', () => {
  it('[S75] is invisible to git, and tells git nothing but that', async () => {
    await using repo = await committedRepo();
    const config = await repo.read('.git/config');
    const made = await initWithStore(repo.path, machineOf(repo), { stealth: true });
    expect(made).toMatchObject({ mode: 'stealth', adopted: false, notes: [] });
    expect(repo.git('status', '--porcelain', '-uall')).toBe('');
    expect(await repo.read('.git/config')).toBe(config);
    expect(existsSync(join(repo.path, '.gitignore'))).toBe(false);
    expect(existsSync(join(repo.path, '.gitattributes'))).toBe(false);
    expect(existsSync(join(repo.path, '.git/hooks/pre-commit'))).toBe(false);
    expect((await repo.read('.git/info/exclude')).endsWith('.forge/\n')).toBe(true);
    expect(readdirSync(join(repo.path, '.forge')).toSorted()).toEqual(
      ['config.json', 'forge.db', 'history.jsonl', 'issues', 'tasks.jsonl'].toSorted(),
    );
    expect(JSON.parse(await repo.read('.forge/config.json'))).toMatchObject({ initMode: 'stealth' });
  });

  it('fails where it could not hide, and leaves nothing', async () => {
    await using repo = await committedRepo();
    rmSync(join(repo.path, '.git/info/exclude'));
    symlinkSync('../../../shared', join(repo.path, '.git/info/exclude'));
    const made = initWithStore(repo.path, machineOf(repo), { stealth: true });
    await expect(made).rejects.toMatchObject({
      code: 'already_exists',
      message: expect.stringContaining('a link'),
    });
    expect(existsSync(join(repo.path, '.forge'))).toBe(false);
    expect(existsSync(join(repo.path, '.git/forge'))).toBe(false);
  });

  it('does not go together with --branch, and a project stays what it is', async () => {
    await using repo = await committedRepo();
    const machine = machineOf(repo);
    const both = initWithStore(repo.path, machine, { stealth: true, branch: 'tasks' });
    await expect(both).rejects.toMatchObject({ code: 'invalid_input' });
    await initWithStore(repo.path, machine);
    await expect(initWithStore(repo.path, machine, { stealth: true })).rejects.toMatchObject({
      code: 'already_exists',
      message: 'This is a Forge project in standard mode already',
    });
    await expect(initWithStore(repo.path, machine, { branch: 'tasks' })).rejects.toMatchObject({
      code: 'already_exists',
      hint: 'forge init --upgrade --branch tasks',
    });
  });
});

describe('forge init --branch', () => {
  it('[S80] starts the branch with the config, and leaves working tree, index and HEAD alone', async () => {
    await using repo = await committedRepo();
    await repo.write('staged.txt', 'mine\n');
    repo.git('add', 'staged.txt');
    const before = { head: repo.git('rev-parse', 'HEAD'), status: repo.git('status', '--porcelain') };
    const made = await initWithStore(repo.path, machineOf(repo), { branch: 'forge-data' });
    expect(made).toMatchObject({ mode: 'branch', notes: [] });
    expect({ head: repo.git('rev-parse', 'HEAD'), status: repo.git('status', '--porcelain') }).toEqual(
      before,
    );
    expect(repo.git('symbolic-ref', 'HEAD')).toBe('refs/heads/main');
    expect(repo.git('ls-tree', '-r', '--name-only', 'forge-data')).toBe('.forge/config.json');
    expect(repo.git('show', 'forge-data:.forge/config.json')).toBe(
      (await repo.read('.forge/config.json')).trim(),
    );
    expect(existsSync(join(repo.path, '.forge/tasks.jsonl'))).toBe(false);
  });

  it('takes the project of a branch that is there, with its prefix', async () => {
    await using repo = await committedRepo();
    const machine = machineOf(repo);
    await initWithStore(repo.path, machine, { branch: 'forge-data', prefix: 'sh', name: 'Shop' });
    rmSync(join(repo.path, '.forge'), { recursive: true });
    rmSync(join(repo.path, '.git/forge'), { recursive: true });
    const again = await initWithStore(repo.path, machine, { branch: 'forge-data' });
    expect(again).toMatchObject({ name: 'Shop', idPrefix: 'sh', mode: 'branch' });
    expect(repo.git('rev-list', '--count', 'forge-data')).toBe('1');
  });

  it('takes the project of the remote, and says what comes next', async () => {
    await using repo = await committedRepo();
    await initWithStore(repo.path, machineOf(repo), { branch: 'forge-data', prefix: 'sh' });
    const clone = cloneOf(repo);
    const made = await initWithStore(clone, machineOf(repo), { branch: 'forge-data' });
    expect(made).toMatchObject({
      idPrefix: 'sh',
      notes: ['The project was at the remote already. Next: forge sync'],
    });
  });

  it.each(['..', 'a b', '-x', 'x.lock', '@{'])('refuses %j as a name, and leaves nothing', async (branch) => {
    await using repo = await committedRepo();
    const made = initWithStore(repo.path, machineOf(repo), { branch });
    await expect(made).rejects.toMatchObject({ code: 'invalid_input' });
    expect(existsSync(join(repo.path, '.forge'))).toBe(false);
    expect(existsSync(join(repo.path, '.git/forge'))).toBe(false);
  });

  it('refuses the branch that is checked out', async () => {
    await using repo = await committedRepo();
    const made = initWithStore(repo.path, machineOf(repo), { branch: 'main' });
    await expect(made).rejects.toMatchObject({
      code: 'state_invalid',
      hint: 'forge init --branch forge-data',
    });
    expect(existsSync(join(repo.path, '.git/forge'))).toBe(false);
  });
});

describe('forge init in a clone', () => {
  it('[S73] adopts: driver, hooks, store and link, and the working tree stays clean', async () => {
    await using repo = await sharedProject();
    const clone = cloneOf(repo);
    const machine = machineOf(repo);
    const made = await initWithStore(clone, machine);
    expect(made).toMatchObject({ name: 'Shop', idPrefix: 'sh', adopted: true, mode: 'standard', notes: [] });
    expect(runTestGit(clone, ['status', '--porcelain'])).toBe('');
    const paths = getRepositoryPaths(clone);
    expect(isMergeDriverRegistered(paths, machine.program)).toBe(true);
    const hooks = await readHookStatus({ paths, program: machine.program, env: machine.env });
    expect(hooks.map(({ state }) => state)).toEqual(HOOK_NAMES.map(() => 'installed'));
    expect(isStoreThere(paths.store)).toBe(true);
    expect(readFileSync(paths.shared_config, 'utf8')).toBe(readFileSync(paths.config, 'utf8'));
    await expect(initWithStore(clone, machine)).rejects.toMatchObject({ code: 'already_exists' });
  });

  it('takes what is asked for only where it is what is there', async () => {
    await using repo = await sharedProject();
    const clone = cloneOf(repo);
    await expect(initWithStore(clone, machineOf(repo), { prefix: 'zz' })).rejects.toMatchObject({
      code: 'already_exists',
    });
    expect(existsSync(getRepositoryPaths(clone).store_dir)).toBe(false);
    expect(await initWithStore(clone, machineOf(repo), { prefix: 'sh' })).toMatchObject({ adopted: true });
  });

  it('mends what is missing in a project that was there: a driver, a hook, the database', async () => {
    await using repo = await sharedProject();
    const machine = machineOf(repo);
    const losses = [
      () => repo.git('config', '--remove-section', 'merge.forge'),
      () => rmSync(join(repo.path, '.git/hooks/post-merge')),
      () => rmSync(join(repo.path, '.git/forge/forge.db')),
    ];
    for (const lose of losses) {
      lose();
      expect(await initWithStore(repo.path, machine)).toMatchObject({ adopted: true });
      await expect(initWithStore(repo.path, machine)).rejects.toMatchObject({ code: 'already_exists' });
    }
  });

  it('that fails takes back what it made, and nothing of the project', async () => {
    await using repo = await sharedProject();
    const clone = cloneOf(repo);
    const machine = machineOf(repo);
    const before = readdirSync(join(clone, '.forge')).toSorted();
    const broken = async (location: StoreLocation): Promise<void> => {
      writeFileSync(toStoreFiles(location).database, '');
      throw new Error('no luck');
    };
    const made = initialiseProject({ cwd: clone, ...machine, openStore: broken });
    await expect(made).rejects.toMatchObject({
      code: 'io_failed',
      message: expect.stringContaining('no luck'),
    });
    expect(readdirSync(join(clone, '.forge')).toSorted()).toEqual(before);
    expect(existsSync(getRepositoryPaths(clone).store_dir)).toBe(false);
    expect(runTestGit(clone, ['status', '--porcelain'])).toBe('');
  });

  it('in a linked worktree of a project there is nothing to do', async () => {
    await using repo = await sharedProject();
    const linked = join(dirname(repo.path), 'linked');
    repo.git('worktree', 'add', '--quiet', '-b', 'fix', linked);
    await expect(initWithStore(linked, machineOf(repo))).rejects.toMatchObject({ code: 'already_exists' });
    await using project = await openSyncProject(linked, machineOf(repo));
    await project.create('From the worktree');
    await using main = await openSyncProject(repo.path, machineOf(repo));
    expect(await main.store.listTasks({})).toHaveLength(1);
  });
});

describe('what init cannot do is told, not thrown', () => {
  it('without git on the PATH the project is there, with notes on what is not', async () => {
    await using repo = await committedRepo();
    const machine = testMachine(dirname(repo.path), { PATH: join(repo.path, 'no', 'programs') });
    const { notes } = await initWithStore(repo.path, machine);
    expect(notes).toEqual([
      expect.stringMatching(/^The merge driver was not registered: .*git/),
      expect.stringMatching(/^The hooks were not installed: .*git/),
    ]);
    expect(findProject(repo.path, {}, machine.homeDir).config.idPrefix).toBe('fg');
    await using project = await openSyncProject(repo.path, machine);
    expect((await project.create('Works')).title).toBe('Works');
    // With git back, another init finishes it.
    expect(await initWithStore(repo.path, machineOf(repo))).toMatchObject({ adopted: true, notes: [] });
  });

  it('a configuration that is locked', async () => {
    await using repo = await committedRepo();
    await repo.write('.git/config.lock', '');
    const { notes } = await initWithStore(repo.path, machineOf(repo));
    expect(notes).toEqual([expect.stringMatching(/^The merge driver was not registered: .*locked/)]);
  });

  it('hooks that are not ours to write', async () => {
    await using repo = await committedRepo();
    await repo.write('hooks/pre-commit', '#!/bin/sh\nexit 0\n');
    repo.git('add', 'hooks');
    repo.git('config', 'core.hooksPath', 'hooks');
    const { notes } = await initWithStore(repo.path, machineOf(repo));
    expect(notes).toHaveLength(HOOK_NAMES.length);
    for (const [at, hook] of HOOK_NAMES.entries()) expect(notes[at]).toContain(`Hook ${hook}: `);
    expect(await repo.read('hooks/pre-commit')).toBe('#!/bin/sh\nexit 0\n');
  });

  it('a hooks folder that cannot be written', async () => {
    await using repo = await committedRepo();
    rmSync(join(repo.path, '.git/hooks'), { recursive: true });
    await repo.write('.git/hooks', 'in the way');
    const { notes } = await initWithStore(repo.path, machineOf(repo));
    expect(notes.length).toBeGreaterThan(0);
    expect(notes.join('\n')).toMatch(/hook/i);
    expect(findProject(repo.path, {}, dirname(repo.path)).config.idPrefix).toBe('fg');
  });

  it('where there is a remote, what pull requests need', async () => {
    await using repo = await committedRepo();
    repo.git('remote', 'add', 'origin', '../nowhere');
    const { notes } = await initWithStore(repo.path, machineOf(repo));
    expect(notes).toEqual([REMOTE_HINT]);
  });
});

async function committedRepo(): Promise<TempRepo> {
  const repo = await tempRepo();
  await repo.write('readme.txt', 'readme\n');
  repo.git('add', '.');
  repo.git('commit', '--quiet', '-m', 'first');
  return repo;
}

/** A project whose files are in the last commit. */
async function sharedProject(): Promise<TempRepo> {
  const repo = await committedRepo();
  await initWithStore(repo.path, machineOf(repo), { prefix: 'sh', name: 'Shop' });
  repo.git('add', '.');
  repo.git('commit', '--quiet', '--no-verify', '-m', 'forge');
  return repo;
}

function cloneOf(repo: TempRepo): string {
  const clone = join(dirname(repo.path), 'clone');
  repo.git('clone', '--quiet', repo.path, clone);
  return clone;
}

function machineOf(repo: TempRepo) {
  const home = join(dirname(repo.path), 'home of nobody');
  mkdirSync(home, { recursive: true });
  return testMachine(home);
}

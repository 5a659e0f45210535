import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import {
  initWithStore,
  openSyncProject,
  testMachine,
  type SyncProject,
} from '../../tests/support/sync-project.ts';
import { tempRepo, type TempRepo } from '../../tests/support/temp-repo.ts';
import { changeMode, type ModeChange } from './change-mode.ts';
import { findProject } from './find-project.ts';

describe('forge init --upgrade', () => {
  it('[S79] from stealth: commits the project and nothing else', async () => {
    await using repo = await committedRepo();
    await initWithStore(repo.path, machineOf(repo), { stealth: true });
    await addTask(repo, 'Hidden');
    await repo.write('staged.txt', 'mine\n');
    repo.git('add', 'staged.txt');
    const change = await upgrade(repo, undefined);
    expect(change).toMatchObject({ from: 'stealth', to: 'standard', notes: [] });
    expect(change.commit).toBe(repo.git('rev-parse', 'HEAD'));
    expect(repo.git('show', '--format=%s', '--name-only', 'HEAD').split('\n').filter(Boolean)).toEqual([
      'Share the Forge project',
      '.forge/config.json',
      '.forge/history.jsonl',
      '.forge/hooks/post-merge',
      '.forge/hooks/pre-commit',
      '.forge/tasks.jsonl',
      '.gitattributes',
      '.gitignore',
    ]);
    expect(repo.git('show', 'HEAD:.forge/tasks.jsonl')).toContain('Hidden');
    expect(repo.git('status', '--porcelain')).toBe('A  staged.txt');
    expect(await repo.read('.git/info/exclude')).not.toMatch(/^\.forge\/$/m);
    expect(modeOf(repo)).toEqual({ initMode: 'standard', branchName: undefined });
  });

  it('to a branch and back: every task is there each time', async () => {
    await using repo = await committedRepo();
    await initWithStore(repo.path, machineOf(repo));
    repo.git('add', '.');
    repo.git('commit', '--quiet', '--no-verify', '-m', 'forge');
    await addTask(repo, 'One');
    const away = await upgrade(repo, 'forge-data');
    expect(away).toMatchObject({ from: 'standard', to: 'branch' });
    expect(away.commit).toBe(repo.git('rev-parse', 'forge-data'));
    expect(repo.git('show', 'forge-data:.forge/tasks.jsonl')).toContain('One');
    expect(repo.git('show', '--format=', '--name-only', 'HEAD')).toBe('.forge/config.json');
    expect(JSON.parse(repo.git('show', 'HEAD:.forge/config.json'))).toMatchObject({
      initMode: 'branch',
      branchName: 'forge-data',
      mode_changed_at: expect.any(String),
    });
    expect(repo.git('status', '--porcelain')).toBe('');
    expect(existsSync(join(repo.path, '.git/hooks/pre-commit'))).toBe(false);
    expect(modeOf(repo)).toEqual({ initMode: 'branch', branchName: 'forge-data' });
    await addTask(repo, 'Two');
    const back = await upgrade(repo, undefined);
    expect(back).toMatchObject({
      from: 'branch',
      to: 'standard',
      notes: ['Branch forge-data stays as it is'],
    });
    expect(
      repo
        .git('show', 'HEAD:.forge/tasks.jsonl')
        .match(/"title":"\w+"/g)
        ?.toSorted(),
    ).toEqual(['"title":"One"', '"title":"Two"']);
    expect(repo.git('status', '--porcelain')).toBe('');
  });

  it('refuses the mode that it is in, a branch that is checked out, and one with another prefix', async () => {
    await using repo = await committedRepo();
    await initWithStore(repo.path, machineOf(repo), { branch: 'other-data', prefix: 'xx' });
    await using other = await tempRepo();
    await other.write('a.txt', '');
    other.git('add', '.');
    other.git('commit', '--quiet', '-m', 'first');
    other.git('fetch', '--quiet', repo.path, 'other-data:other-data');
    await initWithStore(other.path, machineOf(other), { prefix: 'fg' });
    const before = other.git('for-each-ref');
    await expect(upgrade(other, undefined)).rejects.toMatchObject({ code: 'already_exists' });
    await expect(upgrade(other, 'main')).rejects.toMatchObject({ code: 'state_invalid' });
    await expect(upgrade(other, 'other-data')).rejects.toMatchObject({
      code: 'already_exists',
      details: { prefix: 'xx' },
    });
    await expect(upgrade(repo, 'other-data')).rejects.toMatchObject({ code: 'already_exists' });
    expect(other.git('for-each-ref')).toBe(before);
    expect(modeOf(other)).toEqual({ initMode: 'standard', branchName: undefined });
  });

  it('where git refuses the commit: the old mode stays, or the files stand ready', async () => {
    await using repo = await committedRepo();
    await initWithStore(repo.path, machineOf(repo), { stealth: true });
    await addTask(repo, 'Kept');
    for (const key of ['name', 'email']) repo.git('config', '--unset-all', `user.${key}`);
    await expect(upgrade(repo, 'forge-data')).rejects.toMatchObject({
      message: expect.stringContaining('git does not know who you are'),
    });
    expect(modeOf(repo)).toEqual({ initMode: 'stealth', branchName: undefined });
    const { commit, notes } = await upgrade(repo, undefined);
    expect({ commit, notes }).toEqual({
      commit: null,
      notes: [expect.stringMatching(/^Not committed: git does not know/)],
    });
    expect(modeOf(repo).initMode).toBe('standard');
    expect(repo.git('status', '--porcelain')).toBe('?? .forge/\n?? .gitattributes\n?? .gitignore');
    expect(await repo.read('.forge/tasks.jsonl')).toContain('Kept');
  });
});

async function committedRepo(): Promise<TempRepo> {
  const repo = await tempRepo();
  await repo.write('readme.txt', 'readme\n');
  repo.git('add', '.');
  repo.git('commit', '--quiet', '-m', 'first');
  return repo;
}

async function inProject<T>(repo: TempRepo, work: (project: SyncProject) => Promise<T>): Promise<T> {
  await using project = await openSyncProject(repo.path, machineOf(repo));
  return await work(project);
}

function addTask(repo: TempRepo, title: string): Promise<unknown> {
  return inProject(repo, (project) => project.create(title));
}

function upgrade(repo: TempRepo, branch: string | undefined): Promise<ModeChange> {
  const machine = machineOf(repo);
  return inProject(repo, (project) => changeMode(project, { by: project.by, machine, branch }));
}

function modeOf(repo: TempRepo): { initMode: string; branchName: string | undefined } {
  const { initMode, branchName } = findProject(repo.path, {}, dirname(repo.path)).config;
  return { initMode, branchName };
}

function machineOf(repo: TempRepo) {
  return testMachine(join(dirname(repo.path), 'home'));
}

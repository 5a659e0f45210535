import { spawnSync } from 'node:child_process';
import { devNull } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { tempFolder, type TempFolder, tempRepo } from '../../tests/support/temp-repo.ts';
import { findRepository } from './find-repository.ts';
import { findUserName } from './read-user-name.ts';

interface Place {
  readonly cwd: string;
  readonly home: string;
  readonly env?: NodeJS.ProcessEnv;
}

function toEnv({ home, env }: Place): NodeJS.ProcessEnv {
  return { PATH: process.env['PATH'], HOME: home, GIT_CONFIG_SYSTEM: devNull, ...env };
}

/** Blank counts as not set: nobody can be called so. */
function askGit(place: Place): string | undefined {
  const options = { cwd: place.cwd, env: toEnv(place), encoding: 'utf8' } as const;
  const result = spawnSync('git', ['config', '--get', 'user.name'], options);
  expect(result.status).toBeLessThanOrEqual(1);
  const name = result.stdout.replace(/\n$/, '');
  return name.trim() === '' ? undefined : name;
}

function find(place: Place): string | undefined {
  return findUserName(findRepository(place.cwd), toEnv(place), place.home);
}

/** The home holds no program called git, so an answer can only have come from files. */
function findByFiles(place: Place): string | undefined {
  return findUserName(findRepository(place.cwd), { ...toEnv(place), PATH: place.home }, place.home);
}

function expectFromFiles(place: Place, name: string | undefined): void {
  expect(askGit(place)).toBe(name);
  expect(findByFiles(place)).toBe(name);
}

function expectFromGit(place: Place, name: string | undefined): void {
  expect(askGit(place)).toBe(name);
  expect(find(place)).toBe(name);
  expect(() => findByFiles(place)).toThrow(expect.objectContaining({ code: 'dependency_missing' }));
}

/** A repository without a name of its own, and an empty home. */
async function emptyPlace(): Promise<TempFolder & { cwd: string; home: string }> {
  const repo = await tempRepo({ folder: 'Prøject 1' });
  repo.git('config', '--unset', 'user.name');
  await repo.write('../home/.keep', '');
  return { ...repo, cwd: repo.path, home: join(repo.path, '..', 'home') };
}

describe('findUserName', () => {
  it('reads odd values as git does', async () => {
    await using place = await emptyPlace();
    for (const [text, name] of ODD_CONFIGS) {
      await place.write('../home/.gitconfig', text);
      expectFromFiles(place, name);
    }
  });

  it('takes the strongest file that has a name', async () => {
    await using place = await emptyPlace();
    const env = { GIT_CONFIG_SYSTEM: join(place.home, 'system') };
    const here = { ...place, env };
    expectFromFiles(here, undefined);
    await place.write('../home/system', '[user]\n\tname = System\n');
    expectFromFiles(here, 'System');
    await place.write('../home/.config/git/config', '[user]\n\tname = Default XDG\n');
    expectFromFiles(here, 'Default XDG');
    await place.write('../home/xdg/git/config', '[user]\n\tname = XDG\n');
    const xdg = { ...place, env: { ...env, XDG_CONFIG_HOME: join(place.home, 'xdg') } };
    expectFromFiles(xdg, 'XDG');
    expectFromFiles({ ...place, env: { ...env, XDG_CONFIG_HOME: '' } }, 'Default XDG');
    await place.write('../home/.gitconfig', '[user]\n\tname = Home\n');
    expectFromFiles(xdg, 'Home');
    await place.write('../home/global', '[core]\n');
    const global = { ...place, env: { ...env, GIT_CONFIG_GLOBAL: join(place.home, 'global') } };
    expectFromFiles(global, 'System');
    expectFromFiles({ ...place, env: { ...env, GIT_CONFIG_GLOBAL: '' } }, 'System');
    for (const off of ['1', 'true', 'yes']) {
      expectFromFiles({ ...place, env: { ...global.env, GIT_CONFIG_NOSYSTEM: off } }, undefined);
    }
    expectFromFiles({ ...place, env: { ...global.env, GIT_CONFIG_NOSYSTEM: '0' } }, 'System');
    await place.write('.git/config', `${await place.read('.git/config')}[user]\n\tname = Local\n`);
    expectFromFiles(xdg, 'Local');
  });

  it('lets a blank name in a strong file hide a weaker one', async () => {
    await using place = await emptyPlace();
    await place.write('../home/.config/git/config', '[user]\n\tname = Weak\n');
    await place.write('../home/.gitconfig', '[user]\n\tname =\n');
    expectFromFiles(place, undefined);
  });

  it('reads config.worktree only where the extension is on', async () => {
    await using repo = await tempRepo();
    const linked = join(repo.path, '..', 'linked');
    repo.git('commit', '--quiet', '--allow-empty', '-m', 'first');
    repo.git('worktree', 'add', '--quiet', linked);
    await repo.write('.git/worktrees/linked/config.worktree', '[user]\n\tname = Linked\n');
    await repo.write('.git/config.worktree', '[user]\n\tname = Main\n');
    const main = { cwd: repo.path, home: join(repo.path, '..') };
    expectFromFiles({ ...main, cwd: linked }, 'Test User');
    repo.git('config', 'extensions.worktreeConfig', 'yes');
    expectFromFiles({ ...main, cwd: linked }, 'Linked');
    expectFromFiles(main, 'Main');
    await repo.write('.git/worktrees/linked/config.worktree', '');
    expectFromFiles({ ...main, cwd: linked }, 'Test User');
  });

  it('works outside a repository', async () => {
    await using folder = await tempFolder();
    await folder.write('.gitconfig', '[user]\n\tname = Home\n');
    expectFromFiles({ cwd: folder.path, home: folder.path }, 'Home');
  });

  it('asks git about includes, only when the file is needed', async () => {
    await using place = await emptyPlace();
    await place.write('../home/more', '[user]\n\tname = Included\n');
    await place.write('../home/.gitconfig', '[user]\n\tname = Home\n[Include]\n\tpath = more\n');
    expectFromGit(place, 'Included');
    await place.write('../home/.gitconfig', `[includeIf "gitdir:${place.cwd}/"]\n\tpath = more\n`);
    expectFromGit(place, 'Included');
    await place.write('../home/.gitconfig', '[includeIf "gitdir:/nowhere/"]\n\tpath = more\n');
    expectFromGit(place, undefined);
    await place.write('.git/config', `${await place.read('.git/config')}[user]\n\tname = Local\n`);
    expectFromFiles(place, 'Local');
  });

  it('asks git about includes without a repository, and finds none on the way', async () => {
    await using repo = await tempRepo();
    await repo.write('.gitconfig', '[include]\n\tpath = more\n');
    await repo.write('more', '[user]\n\tname = Included\n');
    expect(findUserName(undefined, toEnv({ cwd: repo.path, home: repo.path }), repo.path)).toBe('Included');
  });

  it('asks git about settings in the environment', async () => {
    await using repo = await tempRepo();
    const place = { cwd: repo.path, home: join(repo.path, '..') };
    const counted = { GIT_CONFIG_COUNT: '1', GIT_CONFIG_KEY_0: 'user.name', GIT_CONFIG_VALUE_0: 'Counted' };
    expectFromGit({ ...place, env: counted }, 'Counted');
    expectFromGit({ ...place, env: { GIT_CONFIG_PARAMETERS: "'user.name'='Parameter'" } }, 'Parameter');
    // Other variables that lead git elsewhere do not count: the repository was found already.
    await using other = await tempRepo();
    other.git('config', 'user.name', 'Other');
    const misled = { ...counted, GIT_CONFIG_KEY_0: 'a.b', GIT_DIR: join(other.path, '.git') };
    expect(find({ ...place, env: misled })).toBe('Test User');
    expect(find({ ...place, env: { ...misled, GIT_CONFIG: join(other.path, '.git', 'config') } })).toBe(
      'Test User',
    );
  });

  it('shows what git says about a file that it refuses', async () => {
    await using place = await emptyPlace();
    await place.write('../home/.gitconfig', '[user\nname = x\n');
    expect(() => find(place)).toThrow(
      expect.objectContaining({
        code: 'invalid_input',
        message: expect.stringMatching(/git could not read user\.name: .*bad config line 1 .*\.gitconfig/),
        hint: expect.stringContaining('git config user.name'),
      }),
    );
  });

  it('does not start git where a stronger file answers, even with a broken weaker one', async () => {
    await using repo = await tempRepo();
    await repo.write('../home/.gitconfig', '[user\n');
    expect(findByFiles({ cwd: repo.path, home: join(repo.path, '..', 'home') })).toBe('Test User');
  });
});

const ODD_CONFIGS: readonly (readonly [text: string, name: string | undefined])[] = [
  ['', undefined],
  ['[user]\n', undefined],
  ['[user]\nname = Ada\n', 'Ada'],
  ['\uFEFF[user]\nname = Ada\n', 'Ada'],
  ['[USER]\r\n\tNAME = Ada Lovelace\r\n', 'Ada Lovelace'],
  ['[user]name=Ada', 'Ada'],
  ['[core]x=1\n[user] name = Ada', 'Ada'],
  ['[user]\nname = Ada\n[core]\nx = 1\n[user]\nname = Grace\n', 'Grace'],
  ['[user]\nname = "Ada # ; Lovelace" # comment\n', 'Ada # ; Lovelace'],
  ['[user]\nname = Ada;Lovelace\n', 'Ada'],
  ['[user]\nname = "\\"Ada\\" \\\\ \\t x"\n', '"Ada" \\ \t x'],
  ['[user]\nname = Ada \\\n    Lovelace\n', 'Ada     Lovelace'],
  ['[user]\nname = "Ada \\\nLovelace"\n', 'Ada Lovelace'],
  ['[user]\nname = # \\\nemail = x\n', undefined],
  ['[user]\nname = Zoë "Ångström" 名前 𝒳\n', 'Zoë Ångström 名前 𝒳'],
  ['[user]\nname\n', undefined],
  ['[user]\nname = Ada\nname =\n', undefined],
  ['[user]\nname = "   "\n', undefined],
  ['[user ""]\nname = no\n', undefined],
  ['[user "x"]\nname = no\n', undefined],
  ['[user.x]\nname = no\n', undefined],
  ['[xuser]\nname = no\n[user]\nxname = no\nname-x = no\n', undefined],
  ['; [user]\n# name = no\n[user]\n  ;name = no\n  name = yes', 'yes'],
  ['[user]\nname = Ada" "\n', 'Ada '],
  ['[user]\nname = O\'Neil & "Sons" <x> $HOME %s\n', "O'Neil & Sons <x> $HOME %s"],
  [`[user]\nname = ${'x'.repeat(5000)}\n`, 'x'.repeat(5000)],
];

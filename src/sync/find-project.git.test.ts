import { execFileSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { runTestGit, tempFolder, tempRepo, type TempRepo } from '../../tests/support/temp-repo.ts';
import { findProject } from './find-project.ts';
import { refreshSharedConfig } from './shared-config.ts';

const HOME = join('/', 'nobody', 'at', 'home');

function configText(name: string): string {
  return `${JSON.stringify({ name, idPrefix: 'fg', version: 1, created_at: '2026-02-18T00:00:00.000Z' }, null, 2)}\n`;
}

/** A branch `before` from a time without Forge, and `main` with the config committed. */
async function project(folder = 'project'): Promise<TempRepo> {
  const repo = await tempRepo({ folder });
  await repo.write('src/a.txt', 'a\n');
  repo.git('add', '.');
  repo.git('commit', '--quiet', '-m', 'first');
  repo.git('branch', 'before');
  await repo.write('.forge/config.json', configText('Committed'));
  repo.git('add', '.');
  repo.git('commit', '--quiet', '-m', 'forge');
  return repo;
}

function nameAt(cwd: string, env = {}): string {
  return findProject(cwd, env, HOME).config.name;
}

const NOT_A_PROJECT = expect.objectContaining({
  code: 'not_a_project',
  message: "Not a Forge project. Run 'forge init' first.",
});

describe('findProject', () => {
  it('finds the project from any folder inside', async () => {
    await using repo = await project('Größe 名前 1');
    const found = findProject(join(repo.path, 'src'), {}, HOME);
    expect(found.config.name).toBe('Committed');
    expect(found.paths.root).toBe(repo.path);
    expect(found.paths.store).toEqual({ folder: join(repo.path, '.git', 'forge') });
  });

  it('[S127] says to the letter that this is no project, in a repository and outside', async () => {
    await using repo = await tempRepo();
    await using folder = await tempFolder();
    await repo.write('.forge/notes.txt', 'a folder of that name is not enough\n');
    expect(() => nameAt(repo.path)).toThrow(NOT_A_PROJECT);
    expect(() => nameAt(folder.path)).toThrow(NOT_A_PROJECT);
    await folder.write('.forge/config.json', configText('No repository'));
    expect(() => nameAt(folder.path)).toThrow(NOT_A_PROJECT);
    await using committed = await project();
    expect(() => nameAt(join(committed.path, '.git'))).toThrow(NOT_A_PROJECT);
  });

  it('falls back on the shared copy in a branch older than init', async () => {
    await using repo = await project();
    refreshSharedConfig(findProject(repo.path, {}, HOME).paths);
    repo.git('switch', '--quiet', 'before');
    expect(existsSync(join(repo.path, '.forge'))).toBe(false);
    expect(nameAt(repo.path)).toBe('Committed');
    await repo.write('.forge/config.json', configText('Own'));
    expect(nameAt(repo.path)).toBe('Own');
    // A pipe in its place is not waited for.
    rmSync(join(repo.path, '.forge/config.json'));
    execFileSync('sh', ['-c', 'mkfifo .forge/config.json'], { cwd: repo.path });
    expect(() => nameAt(repo.path)).toThrow('.forge/config.json');
  });

  it('gives linked worktrees the same store, with or without .forge', async () => {
    await using repo = await project();
    refreshSharedConfig(findProject(repo.path, {}, HOME).paths);
    for (const branch of ['before', 'main']) {
      const tree = join(repo.path, '..', `tree ${branch}`);
      repo.git('worktree', 'add', '--quiet', '--detach', tree, branch);
      const found = findProject(join(tree, 'src'), {}, HOME);
      expect(found.config.name).toBe('Committed');
      expect(found.paths.root).toBe(tree);
      expect(found.paths.store_dir).toBe(join(repo.path, '.git', 'forge'));
    }
  });

  it('works in the worktrees of a bare repository', async () => {
    await using repo = await project();
    const bare = join(repo.path, '..', 'hub.git');
    repo.git('clone', '--quiet', '--bare', '.', bare);
    runTestGit(bare, ['worktree', 'add', '--quiet', '../new', 'main']);
    runTestGit(bare, ['worktree', 'add', '--quiet', '../old', 'before']);
    const { paths } = findProject(join(repo.path, '..', 'new'), {}, HOME);
    expect(() => nameAt(join(repo.path, '..', 'old'))).toThrow(NOT_A_PROJECT);
    refreshSharedConfig(paths);
    expect(nameAt(join(repo.path, '..', 'old'))).toBe('Committed');
    expect(() => nameAt(bare)).toThrow(NOT_A_PROJECT);
  });

  it('keeps the last good copy where the config cannot be read', async () => {
    await using repo = await project();
    const { paths } = findProject(repo.path, {}, HOME);
    refreshSharedConfig(paths);
    const good = readFileSync(paths.shared_config, 'utf8');
    for (const text of ['', '{"version": 1,', 'null']) {
      writeFileSync(paths.config, text);
      refreshSharedConfig(paths);
      expect(readFileSync(paths.shared_config, 'utf8')).toBe(good);
    }
  });

  it('keeps a submodule apart from the project around it', async () => {
    await using repo = await project();
    await using library = await tempRepo();
    library.git('commit', '--quiet', '--allow-empty', '-m', 'first');
    repo.git('-c', 'protocol.file.allow=always', 'submodule', '--quiet', 'add', library.path, 'sub');
    expect(() => nameAt(join(repo.path, 'sub'))).toThrow(NOT_A_PROJECT);
    await repo.write('sub/.forge/config.json', configText('Submodule'));
    const found = findProject(join(repo.path, 'sub'), {}, HOME);
    expect(found.config.name).toBe('Submodule');
    expect(found.paths.store_dir).toBe(join(repo.path, '.git', 'modules', 'sub', 'forge'));
  });

  it('[S120] never takes the Forge home for a project', async () => {
    await using dotfiles = await project();
    const home = dotfiles.path;
    const forge = join(home, '.forge');
    await dotfiles.write('code/a.txt', '');
    expect(findProject(home, {}, HOME).config.name).toBe('Committed');
    expect(() => findProject(home, {}, home)).toThrow(NOT_A_PROJECT);
    expect(() => findProject(join(home, 'code'), {}, home)).toThrow(NOT_A_PROJECT);
    expect(() => findProject(home, { FORGE_HOME: forge }, HOME)).toThrow(NOT_A_PROJECT);
    expect(() => findProject(home, { FORGE_HOME: `${forge}/../.forge/` }, HOME)).toThrow(NOT_A_PROJECT);
    expect(findProject(home, { FORGE_HOME: join(home, 'code') }, home).config.name).toBe('Committed');

    const data = join(home, '..', 'data');
    mkdirSync(data);
    symlinkSync(forge, join(data, 'forge'));
    expect(() => findProject(home, { XDG_DATA_HOME: data }, HOME)).toThrow(NOT_A_PROJECT);
    symlinkSync(home, join(home, '..', 'alias'));
    expect(() => findProject(home, {}, join(home, '..', 'alias'))).toThrow(NOT_A_PROJECT);

    // Nor by way of the shared copy, which a linked worktree of the dotfiles may have made.
    refreshSharedConfig(findProject(home, {}, HOME).paths);
    rmSync(join(forge, 'config.json'));
    expect(() => findProject(home, {}, home)).toThrow(NOT_A_PROJECT);
  });

  it('[S118] refuses a config of a newer Forge', async () => {
    await using repo = await project();
    await repo.write('.forge/config.json', configText('x').replace('"version": 1', '"version": 2'));
    expect(() => nameAt(repo.path)).toThrow(
      expect.objectContaining({
        code: 'schema_newer',
        message: expect.stringContaining('was written by a newer Forge'),
      }),
    );
  });

  it('names the file that cannot be used, be it the copy', async () => {
    await using repo = await project();
    const { paths } = findProject(repo.path, {}, HOME);
    refreshSharedConfig(paths);
    rmSync(paths.config);
    writeFileSync(paths.shared_config, '{');
    expect(() => nameAt(repo.path)).toThrow(`${paths.shared_config} is not valid JSON`);
    mkdirSync(paths.config);
    expect(() => nameAt(repo.path)).toThrow(
      expect.objectContaining({
        code: 'invalid_input',
        message: `${paths.config} is not a regular file but a folder`,
      }),
    );
  });

  it('passes on what is wrong with a .git file', async () => {
    await using folder = await tempFolder();
    await folder.write('.git', 'nonsense');
    expect(() => nameAt(folder.path)).toThrow(expect.objectContaining({ code: 'not_a_repository' }));
  });

  it('writes nothing, and loads neither zod nor what starts processes', async () => {
    await using repo = await project();
    const before = readdirSync(join(repo.path, '.git')).toSorted();
    const script = `
      import { registerHooks } from 'node:module';
      const urls = [];
      registerHooks({ load: (url, context, next) => (urls.push(url), next(url, context)) });
      const { findProject } = await import('#sync/find-project.ts');
      findProject(process.argv[1], {}, '/nobody');
      const started = process.moduleLoadList.includes('NativeModule child_process');
      console.log(JSON.stringify({ started, ours: urls.some((url) => url.endsWith('/src/sync/find-project.ts')),
        zod: urls.some((url) => url.includes('/zod/') || url.includes('/src/contract/')) }));`;
    const output = execFileSync(process.execPath, ['--input-type=module', '--eval', script, repo.path], {
      cwd: join(import.meta.dirname, '..', '..'),
      encoding: 'utf8',
    });
    expect(JSON.parse(output)).toEqual({ started: false, ours: true, zod: false });
    expect(readdirSync(join(repo.path, '.git')).toSorted()).toEqual(before);
  });
});

describe('refreshSharedConfig', () => {
  it('copies bytes when they differ, and only then', async () => {
    await using repo = await project();
    const { paths } = findProject(repo.path, {}, HOME);
    refreshSharedConfig(paths);
    const first = statSync(paths.shared_config);
    expect(readFileSync(paths.shared_config)).toEqual(readFileSync(paths.config));
    refreshSharedConfig(paths);
    expect(statSync(paths.shared_config).ino).toBe(first.ino);
    writeFileSync(paths.config, `${configText('New')}\r\n\t`);
    refreshSharedConfig(paths);
    expect(readFileSync(paths.shared_config)).toEqual(readFileSync(paths.config));
    expect(readdirSync(paths.store_dir)).toEqual(['config.json']);
  });

  it('keeps the copy where the worktree has no config', async () => {
    await using repo = await project();
    const { paths } = findProject(repo.path, {}, HOME);
    refreshSharedConfig(paths);
    rmSync(paths.config);
    refreshSharedConfig(paths);
    expect(readFileSync(paths.shared_config, 'utf8')).toBe(configText('Committed'));
  });

  it('says why it could not copy', async () => {
    await using repo = await project();
    const { paths } = findProject(repo.path, {}, HOME);
    writeFileSync(paths.store_dir, 'a file in the way');
    expect(() => refreshSharedConfig(paths)).toThrow(/Could not (?:copy|read) /);
  });
});

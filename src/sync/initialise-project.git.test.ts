import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, expect, it } from 'vitest';
import { toStoreFiles, type StoreLocation } from '#store/store-location.ts';
import { runTestGit, tempFolder, tempRepo } from '../../tests/support/temp-repo.ts';
import { findProject } from './find-project.ts';
import { HOOK_NAMES } from './hooks/hook-block.ts';
import { initialiseProject, type InitOptions } from './initialise-project.ts';

const NOW = Date.UTC(2026, 1, 18);
const HOME = join('/', 'nobody', 'at', 'home');
const LINES = '.forge/forge.db\n.forge/forge.db-shm\n.forge/forge.db-wal\n';
const EXCLUDED = `${LINES}.forge/*.tmp\n`;
const ATTRIBUTES = ['tasks', 'history']
  .map((name) => `.forge/${name}.jsonl merge=forge text eol=lf -filter -ident !working-tree-encoding\n`)
  .join('');
const STATUS = '?? .forge/\n?? .gitattributes\n?? .gitignore';
/** What lies in `.forge` after init, and which of it git sees. */
const OWN = ['config.json', 'forge.db', 'history.jsonl', 'hooks', 'issues', 'tasks.jsonl'];
const VISIBLE = [
  ...['config.json', 'history.jsonl', 'hooks/post-merge', 'hooks/pre-commit', 'tasks.jsonl'].map(
    (file) => `?? .forge/${file}`,
  ),
  '?? .gitattributes',
  '?? .gitignore',
].join('\n');

const PROJECT_ID = '7c12fc26-496c-4d7a-8b00-cbe469a023f5';
const PROGRAM = { node: process.execPath, script: join(import.meta.dirname, '..', '..', 'bin', 'forge.cjs') };

/** A store as small as can be: a real database in WAL mode with one table. */
async function openStore(location: StoreLocation): Promise<void> {
  const database = new DatabaseSync(toStoreFiles(location).database);
  database.exec('PRAGMA journal_mode = WAL; CREATE TABLE IF NOT EXISTS tasks (id TEXT PRIMARY KEY) STRICT');
  database.close();
}

function init(cwd: string, more: Partial<InitOptions> = {}) {
  const machine = { env: {}, homeDir: HOME, clock: { now: () => NOW }, program: PROGRAM };
  return initialiseProject({ cwd, ...machine, openStore, newId: () => PROJECT_ID, ...more });
}

/** Every path below a folder, with what it holds: two equal answers mean that nothing changed. */
function snapshot(folder: string): Record<string, string> {
  const paths = readdirSync(folder, { recursive: true, encoding: 'utf8' }).toSorted();
  return Object.fromEntries(paths.map((path) => [path, describePath(join(folder, path))]));
}

function describePath(path: string): string {
  const found = lstatSync(path);
  if (found.isSymbolicLink()) return `-> ${readlinkSync(path)}`;
  const content = found.isDirectory() ? 'folder' : readFileSync(path, 'latin1');
  return `${(found.mode & 0o777).toString(8)} ${content}`;
}

async function expectRefusal(
  cwd: string,
  folder: string,
  more: Partial<InitOptions>,
  fault: object,
): Promise<void> {
  const before = snapshot(folder);
  await expect(init(cwd, more)).rejects.toMatchObject(fault);
  expect(snapshot(folder)).toEqual(before);
}

describe('forge init', () => {
  it('[S4] writes a config with exactly name, idPrefix, version, created_at and the id of the project', async () => {
    await using repo = await tempRepo({ folder: 'shop' });
    const result = await init(repo.path);
    expect(await repo.read('.forge/config.json')).toBe(
      '{\n  "name": "shop",\n  "idPrefix": "fg",\n  "version": 1,\n  "created_at": "2026-02-18T00:00:00.000Z",\n  "projectId": "PID"\n}\n'.replace(
        'PID',
        PROJECT_ID,
      ),
    );
    expect(await repo.read('.git/forge/config.json')).toBe(await repo.read('.forge/config.json'));
    expect(result).toEqual({
      name: 'shop',
      idPrefix: 'fg',
      project_id: PROJECT_ID,
      version: 1,
      created_at: '2026-02-18T00:00:00.000Z',
      directory: join(repo.path, '.forge'),
      database: join(repo.path, '.git', 'forge', 'forge.db'),
      mode: 'standard',
      adopted: false,
      notes: [],
    });
    expect(findProject(repo.path, {}, HOME).config.name).toBe('shop');
  });

  it('[S72] takes --prefix and --name', async () => {
    await using repo = await tempRepo();
    expect(await init(repo.path, { prefix: 'myp', name: 'My "Project" ünï' })).toMatchObject({
      idPrefix: 'myp',
    });
    expect(findProject(repo.path, {}, HOME).config).toMatchObject({
      name: 'My "Project" ünï',
      idPrefix: 'myp',
    });
  });

  it('[S10] writes three .gitignore lines, once each, and the same and one more into info/exclude', async () => {
    await using repo = await tempRepo();
    await repo.write('.gitignore', 'node_modules\n.forge/forge.db-wal');
    const exclude = await repo.read('.git/info/exclude');
    await init(repo.path);
    expect(await repo.read('.gitignore')).toBe(
      'node_modules\n.forge/forge.db-wal\n.forge/forge.db\n.forge/forge.db-shm\n',
    );
    expect(await repo.read('.git/info/exclude')).toBe(exclude + EXCLUDED);
    expect(await repo.read('.gitattributes')).toBe(ATTRIBUTES);
  });

  it('[S10] keeps CRLF, and makes what is missing', async () => {
    await using repo = await tempRepo();
    await repo.write('.gitignore', 'dist\r\n');
    rmSync(join(repo.path, '.git', 'info'), { recursive: true });
    await init(repo.path);
    expect(await repo.read('.gitignore')).toBe(`dist\r\n${LINES.replaceAll('\n', '\r\n')}`);
    expect(await repo.read('.git/info/exclude')).toBe(EXCLUDED);
    expect(repo.git('check-ignore', '.forge/forge.db', '.forge/forge.db-shm', '.forge/forge.db-wal')).toBe(
      LINES.trim(),
    );
  });

  it('[S72] shows git only .forge/, .gitignore and .gitattributes, and touches nothing else', async () => {
    await using repo = await tempRepo();
    await repo.write('a.txt', 'a\n');
    repo.git('add', '.');
    repo.git('commit', '--quiet', '-m', 'first');
    const before = snapshot(repo.path);
    await init(join(repo.path));
    expect(repo.git('status', '--porcelain')).toBe(STATUS);
    expect(repo.git('status', '--porcelain', '-uall')).toBe(VISIBLE);
    const after = snapshot(repo.path);
    const changed = Object.keys(after).filter(
      (path) => path !== join('.git', 'index') && after[path] !== before[path],
    );
    expect(changed).toEqual(
      ['.forge', ...OWN.map((name) => `.forge/${name}`), '.gitattributes', '.gitignore']
        .concat(['.forge/hooks/pre-commit', '.forge/hooks/post-merge', '.git/info/attributes'])
        .concat([
          '.git/forge',
          ...['added-lines.json', 'config.json', 'forge.db', 'hooks.json'].map(
            (name) => `.git/forge/${name}`,
          ),
        ])
        .concat(['.git/config', '.git/info/exclude', '.git/hooks/post-index-change'])
        .concat(HOOK_NAMES.map((hook) => `.git/hooks/${hook}`))
        .toSorted(),
    );
    repo.git('clean', '-fdxq');
    expect(findProject(repo.path, {}, HOME).config.name).toBe('project');
  });

  it('works from a folder inside, and puts the project at the top', async () => {
    await using repo = await tempRepo({ folder: 'Größe 名前 1' });
    await repo.write('src/deep/a.txt', '');
    expect(await init(join(repo.path, 'src', 'deep'))).toMatchObject({
      name: 'Größe 名前 1',
      directory: join(repo.path, '.forge'),
    });
  });

  it('links .forge/forge.db to the database, also through symbolic links', async () => {
    await using repo = await tempRepo();
    const alias = join(repo.path, '..', 'far', 'away', 'alias');
    mkdirSync(dirname(alias), { recursive: true });
    symlinkSync(repo.path, alias);
    await init(alias);
    expect(readlinkSync(join(repo.path, '.forge', 'forge.db'))).toBe(join('..', '.git', 'forge', 'forge.db'));
    const database = new DatabaseSync(join(repo.path, '.forge', 'forge.db'), { readOnly: true });
    expect(database.prepare('SELECT count(*) AS n FROM tasks').get()).toEqual({ n: 0 });
    database.close();
  });

  it('[S73] fails the second time, naming the folder, and changes nothing', async () => {
    await using repo = await tempRepo();
    await init(repo.path);
    const fault = { code: 'already_exists', hint: 'forge task create "…"' };
    const folder = join(repo.path, '.forge');
    await expectRefusal(repo.path, repo.path, {}, { ...fault, details: { path: folder } });
    await expectRefusal(repo.path, repo.path, { prefix: 'xx' }, { message: expect.stringContaining(folder) });
  });

  it('[D7] brings back a .forge that was deleted, with the same name, prefix and time', async () => {
    await using repo = await tempRepo();
    await init(repo.path, { prefix: 'sh', name: 'Shop' });
    const config = await repo.read('.forge/config.json');
    for (const commit of [false, true]) {
      if (commit) {
        repo.git('add', '.');
        repo.git('commit', '--quiet', '--no-verify', '-m', 'project');
      }
      rmSync(join(repo.path, '.forge'), { recursive: true });
      if (commit) repo.git('rm', '-r', '--quiet', '--cached', '.forge');
      expect(await init(repo.path)).toMatchObject({ name: 'Shop', idPrefix: 'sh', adopted: true });
      expect(await repo.read('.forge/config.json')).toBe(config);
      expect(existsSync(join(repo.path, '.forge/tasks.jsonl'))).toBe(true);
    }
    expect(repo.git('status', '--porcelain')).toBe('');
    await expect(init(repo.path, { prefix: 'xx' })).rejects.toMatchObject({ code: 'already_exists' });
  });

  it('[S74] says outside git that there is no repository', async () => {
    await using folder = await tempFolder();
    const fault = {
      code: 'not_a_repository',
      message: expect.stringMatching(/^Not inside a git repository\. /),
      hint: 'git init',
    };
    await expectRefusal(folder.path, folder.path, {}, fault);
    await using repo = await tempRepo();
    const bare = { code: 'not_a_repository', message: expect.stringContaining('which has no working tree') };
    await expectRefusal(join(repo.path, '.git'), repo.path, {}, bare);
    repo.git('config', 'core.bare', 'true');
    await expectRefusal(repo.path, repo.path, {}, bare);
  });

  it('[S113] checks the prefix, and the name', async () => {
    await using repo = await tempRepo();
    for (const prefix of ['TOOLONG', 'f', 'FG', '', 'a-b', 'fg\n']) {
      await expectRefusal(
        repo.path,
        repo.path,
        { prefix },
        {
          code: 'invalid_input',
          message: expect.stringContaining('2 to 4 lower-case letters or digits'),
        },
      );
    }
    for (const name of ['', ' ', 'a\nb', 'x'.repeat(201)]) {
      await expectRefusal(
        repo.path,
        repo.path,
        { name },
        { code: 'invalid_input', details: { key: 'name' } },
      );
    }
  });

  it('[S120] does not make a project of the Forge home, there or not yet', async () => {
    await using dotfiles = await tempRepo();
    const home = dotfiles.path;
    const fault = { code: 'invalid_input', message: expect.stringContaining('is the Forge home') };
    await expectRefusal(home, home, { homeDir: home }, fault);
    await expectRefusal(home, home, { env: { FORGE_HOME: join(home, '.forge') } }, fault);
    await dotfiles.write('.forge/config.json', '{"projects":[]}\n');
    await expectRefusal(home, home, { homeDir: home }, fault);
    rmSync(join(home, '.forge'), { recursive: true });
    mkdirSync(join(home, '..', 'real'));
    symlinkSync('../real', join(home, '.forge'));
    await expectRefusal(home, home, { env: { FORGE_HOME: join(home, '..', 'real') } }, fault);
  });
});

describe('forge init with something in the way', () => {
  it('refuses a .forge that is a file or a link', async () => {
    await using repo = await tempRepo();
    const fault = { code: 'already_exists', message: expect.stringContaining('is in the way') };
    await repo.write('.forge', 'a file');
    await expectRefusal(repo.path, repo.path, {}, fault);
    rmSync(join(repo.path, '.forge'));
    mkdirSync(join(repo.path, '..', 'elsewhere'));
    for (const target of ['../elsewhere', '../nowhere']) {
      symlinkSync(target, join(repo.path, '.forge'));
      await expectRefusal(repo.path, repo.path, {}, fault);
      rmSync(join(repo.path, '.forge'));
    }
    expect(readdirSync(join(repo.path, '..', 'elsewhere'))).toEqual([]);
  });

  it('refuses a forge.db that it would have to replace, and a linked .gitignore', async () => {
    await using repo = await tempRepo();
    const fault = { code: 'already_exists', message: expect.stringContaining('is in the way') };
    await repo.write('.forge/forge.db', 'data of somebody');
    await expectRefusal(repo.path, repo.path, {}, fault);
    rmSync(join(repo.path, '.forge'), { recursive: true });
    await repo.write('.git/forge', 'not a folder');
    await expectRefusal(repo.path, repo.path, {}, fault);
    rmSync(join(repo.path, '.git', 'forge'));
    await repo.write('shared-ignore', 'x\n');
    symlinkSync('shared-ignore', join(repo.path, '.gitignore'));
    await expectRefusal(repo.path, repo.path, {}, fault);
  });

  it('keeps what stands in .forge and in the store already', async () => {
    await using repo = await tempRepo();
    await repo.write('.forge/issues/issue-1/prd.md', 'keep\n');
    await repo.write('.git/forge/tasks.jsonl', '{}\n');
    await repo.write('.forge/tasks.jsonl', 'came by a branch\n');
    await init(repo.path);
    expect(await repo.read('.forge/issues/issue-1/prd.md')).toBe('keep\n');
    expect(await repo.read('.forge/tasks.jsonl')).toBe('came by a branch\n');
    expect(await repo.read('.git/forge/tasks.jsonl')).toBe('{}\n');
  });

  it('goes on after a crash half way', async () => {
    await using repo = await tempRepo();
    await init(repo.path);
    const complete = snapshot(repo.path);
    rmSync(join(repo.path, '.forge', 'config.json'));
    rmSync(join(repo.path, '.git', 'forge', 'config.json'));
    await init(repo.path);
    expect(snapshot(repo.path)).toEqual(complete);
  });

  it('leaves an exclude file alone that is a link to one of the user', async () => {
    await using repo = await tempRepo();
    await repo.write('../my-excludes', '*.swp\n');
    rmSync(join(repo.path, '.git', 'info', 'exclude'));
    symlinkSync('../../../my-excludes', join(repo.path, '.git', 'info', 'exclude'));
    await init(repo.path);
    expect(await repo.read('../my-excludes')).toBe('*.swp\n');
    expect(repo.git('status', '--porcelain', '-uall')).toBe(VISIBLE);
  });
});

describe('forge init that fails', () => {
  it('takes everything back when the store cannot be made', async () => {
    await using repo = await tempRepo();
    await repo.write('.gitignore', 'no newline at the end');
    const broken = async (location: StoreLocation) => {
      await openStore(location);
      writeFileSync(`${toStoreFiles(location).database}-wal`, 'x');
      throw Object.assign(new Error('ENOSPC: no space left on device'), { code: 'ENOSPC' });
    };
    await expectRefusal(
      repo.path,
      repo.path,
      { openStore: broken },
      {
        code: 'disk_full',
        message: `Could not make ${repo.path} a Forge project: ENOSPC: no space left on device`,
      },
    );
    await init(repo.path);
  });

  it('removes from an older store only what is new', async () => {
    await using repo = await tempRepo();
    await repo.write('.git/forge/tasks.jsonl', '{}\n');
    await repo.write('.forge/issues/a.md', 'a\n');
    const broken = async (location: StoreLocation) => {
      writeFileSync(toStoreFiles(location).database, '');
      throw new Error('no luck');
    };
    await expectRefusal(
      repo.path,
      repo.path,
      { openStore: broken },
      {
        code: 'io_failed',
        message: expect.stringContaining('no luck'),
      },
    );
  });

  it('takes everything back with a file in place of the info folder', async () => {
    await using repo = await tempRepo();
    await repo.write('.gitignore', 'dist\r\nno end');
    rmSync(join(repo.path, '.git', 'info'), { recursive: true });
    await repo.write('.git/info', 'in the way');
    await expectRefusal(repo.path, repo.path, {}, { code: 'io_failed' });
  });

  it('takes everything back when .forge is gone before the end', async () => {
    await using repo = await tempRepo();
    await repo.write('.gitignore', 'dist\n');
    const spoil = async (location: StoreLocation) => {
      await openStore(location);
      rmSync(join(repo.path, '.forge'), { recursive: true }); // the config and the link have nowhere to go
    };
    await expectRefusal(
      repo.path,
      repo.path,
      { openStore: spoil },
      { code: 'io_failed', message: expect.not.stringContaining('undone') },
    );
  });

  it.each(['.gitignore', '.git/info/exclude'])(
    'takes everything back with a folder called %s',
    async (path) => {
      await using repo = await tempRepo();
      rmSync(join(repo.path, path), { force: true });
      mkdirSync(join(repo.path, path));
      await expectRefusal(
        repo.path,
        repo.path,
        {},
        { code: 'invalid_input', message: expect.stringContaining('is not a regular file but a folder') },
      );
    },
  );

  it.each([
    ['.gitattributes', 'already_exists'],
    ['.forge/hooks', 'already_exists'],
  ])('takes everything back with something else in the place of %s', async (path, code) => {
    await using repo = await tempRepo();
    await repo.write('.gitignore', 'dist\n');
    mkdirSync(dirname(join(repo.path, path)), { recursive: true });
    if (path === '.gitattributes') symlinkSync('nowhere', join(repo.path, path));
    else writeFileSync(join(repo.path, path), 'of somebody\n');
    await expectRefusal(repo.path, repo.path, {}, { code, message: expect.stringContaining(path) });
  });

  it.skipIf(process.getuid?.() === 0)('takes everything back where it may not write', async () => {
    await using repo = await tempRepo();
    await repo.write('.gitignore', 'x\n');
    chmodSync(join(repo.path, '.gitignore'), 0o444);
    await expectRefusal(repo.path, repo.path, {}, { code: 'permission_denied' });
    chmodSync(join(repo.path, '.gitignore'), 0o644);
    // With the link in its place already it is the very last step that fails.
    const folder = join(repo.path, '.forge');
    mkdirSync(folder);
    symlinkSync('../.git/forge/forge.db', join(folder, 'forge.db'));
    chmodSync(folder, 0o555);
    await expectRefusal(repo.path, repo.path, {}, { code: 'permission_denied' });
    chmodSync(folder, 0o755);
    await init(repo.path);
  });

  it('passes on what the store says', async () => {
    await using repo = await tempRepo();
    const { ForgeError } = await import('#kernel/errors.ts');
    const said = new ForgeError('schema_newer', 'The database was written by a newer Forge');
    await expect(init(repo.path, { openStore: () => Promise.reject(said) })).rejects.toBe(said);
    expect(existsSync(join(repo.path, '.forge'))).toBe(false);
  });

  it('waits for another init and leaves its project alone', async () => {
    await using repo = await tempRepo();
    let second: Promise<unknown> | undefined;
    await init(repo.path, {
      name: 'The faster one',
      async openStore(location) {
        second = init(repo.path, { name: 'The slower one' });
        await openStore(location);
      },
    });
    await expect(second).rejects.toMatchObject({ code: 'already_exists' });
    expect(findProject(repo.path, {}, HOME).config.name).toBe('The faster one');
    expect(await repo.read('.gitignore')).toBe(LINES);
    expect(readdirSync(join(repo.path, '.forge')).toSorted()).toEqual(OWN);
    const made = ['added-lines.json', 'config.json', 'forge.db', 'hooks.json'];
    expect(readdirSync(join(repo.path, '.git', 'forge')).toSorted()).toEqual(made);
    expect(existsSync(join(repo.path, '.git', 'forge-init.lock'))).toBe(false);
  });

  it('takes over a lock whose process is gone', async () => {
    await using repo = await tempRepo();
    const { pid } = spawnSync(process.execPath, ['-e', '0']);
    await repo.write('.git/forge-init.lock', String(pid));
    await expect(init(repo.path)).resolves.toMatchObject({ idPrefix: 'fg' });
    expect(existsSync(join(repo.path, '.git', 'forge-init.lock'))).toBe(false);
  });

  it('lets one of many at once succeed', async () => {
    await using repo = await tempRepo();
    const names = ['a', 'b', 'c', 'd', 'e'];
    const results = await Promise.allSettled(names.map((name) => init(repo.path, { name })));
    const won = results.filter((result) => result.status === 'fulfilled');
    expect(won).toHaveLength(1);
    expect(findProject(repo.path, {}, HOME).config.name).toBe(won[0]?.value.name);
    expect(readdirSync(join(repo.path, '.forge')).toSorted()).toEqual(OWN);
  });
});

describe('forge init in other kinds of working trees', () => {
  it('in a linked worktree serves the whole repository, named after the main one', async () => {
    await using repo = await tempRepo({ folder: 'shop' });
    repo.git('commit', '--quiet', '--allow-empty', '-m', 'first');
    const linked = join(repo.path, '..', 'fix 1');
    repo.git('worktree', 'add', '--quiet', '-b', 'fix', linked);
    expect(await init(linked)).toMatchObject({ name: 'shop', directory: join(linked, '.forge') });
    const target = resolve(linked, '.forge', readlinkSync(join(linked, '.forge', 'forge.db')));
    expect(target).toBe(join(repo.path, '.git', 'forge', 'forge.db'));
    expect(runTestGit(linked, ['status', '--porcelain'])).toBe(STATUS);
    expect(repo.git('status', '--porcelain')).toBe('');
    expect(findProject(repo.path, {}, HOME).config.name).toBe('shop');
    expect(await init(repo.path)).toMatchObject({ name: 'shop', adopted: true });
  });

  it.each([
    ['hub.git', 'hub'],
    ['shop/.bare', 'shop'],
    ['plain', 'plain'],
  ])('in a worktree of the bare repository %s is called %s', async (bare, name) => {
    await using repo = await tempRepo();
    repo.git('commit', '--quiet', '--allow-empty', '-m', 'first');
    const hub = join(repo.path, '..', bare);
    repo.git('clone', '--quiet', '--bare', '.', hub);
    const tree = join(repo.path, '..', 'tree');
    runTestGit(hub, ['worktree', 'add', '--quiet', tree, 'main']);
    expect(await init(tree)).toMatchObject({ name, database: join(hub, 'forge', 'forge.db') });
    expect(runTestGit(tree, ['status', '--porcelain'])).toBe(STATUS);
  });

  it('in a submodule is a project of its own', async () => {
    await using repo = await tempRepo();
    await using library = await tempRepo({ folder: 'library' });
    library.git('commit', '--quiet', '--allow-empty', '-m', 'first');
    repo.git('-c', 'protocol.file.allow=always', 'submodule', '--quiet', 'add', library.path, 'sub');
    const sub = join(repo.path, 'sub');
    expect(await init(sub)).toMatchObject({ name: basename(sub) });
    expect(() => findProject(repo.path, {}, HOME)).toThrow('Not a Forge project');
    await init(repo.path);
    expect(findProject(repo.path, {}, HOME).config.name).toBe('project');
    expect(runTestGit(sub, ['status', '--porcelain'])).toBe(STATUS);
  });
});

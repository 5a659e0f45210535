import { existsSync, mkdirSync, realpathSync, renameSync, symlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type TempRepo, tempFolder, tempRepo } from '../../tests/support/temp-repo.ts';
import { findProject } from './find-project.ts';
import type { HomePlace } from './forge-home.ts';
import { initialiseProject } from './initialise-project.ts';
import {
  addProject,
  findProjectToAdd,
  findRegistered,
  listProjects,
  removeProject,
  type RegisteredProject,
} from './project-registry.ts';

const NOW = Date.UTC(2026, 1, 10, 9);

interface Setup extends AsyncDisposable {
  readonly place: HomePlace;
  readonly repo: TempRepo;
  readonly init: (path: string, prefix: string) => Promise<void>;
  readonly add: (path: string, name?: string) => ReturnType<typeof addProject>;
}

/** A project `a` with prefix fg, and a home that is not there yet. */
async function setUp(): Promise<Setup> {
  const repo = await tempRepo({ folder: 'a' });
  const homeDir = join(dirname(repo.path), 'person');
  mkdirSync(homeDir);
  const place = { home: join(homeDir, '.forge'), env: {}, homeDir };
  const init = async (cwd: string, prefix: string): Promise<void> =>
    void (await initialiseProject({
      cwd,
      env: {},
      homeDir,
      prefix,
      clock: { now: () => NOW },
      program: { node: process.execPath, script: import.meta.filename },
      openStore: async () => {},
    }));
  await init(repo.path, 'fg');
  const add = (path: string, name?: string) =>
    addProject(place, { found: findProjectToAdd(path, place), name, now: NOW });
  return { place, repo, init, add, [Symbol.asyncDispose]: () => repo[Symbol.asyncDispose]() };
}

async function addRepo(setup: Setup, folder: string, prefix: string): Promise<string> {
  const path = join(dirname(setup.repo.path), folder);
  mkdirSync(path);
  setup.repo.git('init', '--quiet', path);
  await setup.init(path, prefix);
  return path;
}

describe('the register of projects', () => {
  it('[S119] [S123] holds name, real path, prefix and time, and adding again changes nothing', async () => {
    await using setup = await setUp();
    const { place, repo, add } = setup;
    expect(listProjects(place.home)).toEqual([]);
    const b = await addRepo(setup, 'b', 'pb');
    const link = join(dirname(b), 'link');
    symlinkSync(b, link);
    const first = { name: 'a', path: repo.path, prefix: 'fg', added_at: '2026-02-10T09:00:00.000Z' };
    expect(await add(repo.path)).toEqual({ ...first, outcome: 'added' });
    expect(await add(link, 'backend')).toMatchObject({ name: 'backend', path: b, prefix: 'pb' });
    const text = await repo.read('../person/.forge/config.json');
    expect(JSON.parse(text)).toEqual({
      version: 1,
      projects: [first, expect.objectContaining({ name: 'backend' })],
    });
    mkdirSync(join(b, 'deep'));
    expect(await add(join(b, 'deep'))).toMatchObject({ name: 'backend', outcome: 'unchanged' });
    expect(await add(repo.path, 'a')).toMatchObject({ outcome: 'unchanged' });
    expect(await repo.read('../person/.forge/config.json')).toBe(text);
    expect(await add(b, 'server')).toMatchObject({ name: 'server', outcome: 'updated' });
    expect(listProjects(place.home).map(({ name }) => name)).toEqual(['a', 'server']);
  });

  it('[S125] refuses a second project of a prefix or of a name, and says which one has it', async () => {
    await using setup = await setUp();
    const { place, repo, add } = setup;
    const same = await addRepo(setup, 'same', 'fg');
    const other = await addRepo(setup, 'other', 'ot');
    await add(repo.path);
    const text = await repo.read('../person/.forge/config.json');
    await expect(add(same)).rejects.toMatchObject({
      code: 'already_exists',
      message: `Ids that begin with fg- belong to project a (${repo.path})`,
      hint: expect.stringMatching(/idPrefix .*same.*forge project remove "a"/) as string,
    });
    await expect(add(other, 'a')).rejects.toMatchObject({
      code: 'already_exists',
      hint: expect.stringContaining('<another name>') as string,
    });
    expect(await repo.read('../person/.forge/config.json')).toBe(text);
    await removeProject(place.home, 'a');
    expect(await add(same)).toMatchObject({ name: 'same', outcome: 'added' });
  });

  it('takes the main working tree for a linked one', async () => {
    await using setup = await setUp();
    const { repo, add } = setup;
    repo.git('commit', '--quiet', '--allow-empty', '-m', 'first');
    const linked = join(dirname(repo.path), 'linked');
    repo.git('worktree', 'add', '--quiet', '-b', 'x', linked);
    expect(await add(linked)).toMatchObject({ path: repo.path, outcome: 'added' });
    expect(await add(repo.path)).toMatchObject({ outcome: 'unchanged' });
  });

  it('[S120] refuses what is no project, and the home itself', async () => {
    await using setup = await setUp();
    const { place, repo, add } = setup;
    await using folder = await tempFolder();
    expect(() => add(folder.path)).toThrow(
      expect.objectContaining({
        code: 'not_a_project',
        hint: expect.stringContaining('forge init') as string,
      }) as Error,
    );
    await add(repo.path);
    repo.git('init', '--quiet', place.homeDir); // a dotfiles repository
    for (const path of [place.homeDir, place.home]) expect(() => add(path)).toThrow(/holds the Forge home/);
    expect(listProjects(place.home)).toHaveLength(1);
  });

  it('does not take a folder further up, nor other ids, for a project that is gone; and sees that it moved', async () => {
    await using setup = await setUp();
    const { place, repo, init, add } = setup;
    const inner = join(repo.path, 'inner');
    mkdirSync(inner);
    repo.git('init', '--quiet', inner);
    await init(inner, 'in');
    await add(repo.path);
    await add(inner);
    const [, registered] = listProjects(place.home) as [RegisteredProject, RegisteredProject];
    expect(findRegistered(registered, place).config.idPrefix).toBe('in');
    expect(() => findRegistered({ ...registered, prefix: 'xx' }, place)).toThrow('begin with in- now');
    const moved = join(dirname(repo.path), 'moved');
    renameSync(inner, moved);
    mkdirSync(inner);
    expect(findProject(inner, {}, place.homeDir).config.idPrefix).toBe('fg');
    expect(() => findRegistered(registered, place)).toThrow('not there any more');
    const stranger = await addRepo(setup, 'stranger', 'in');
    await expect(add(stranger)).rejects.toMatchObject({
      message: expect.stringContaining('not there any more') as string,
      hint: expect.stringContaining('if it is the same project') as string,
    });
    expect(await add(moved)).toMatchObject({ name: 'inner', path: realpathSync(moved), outcome: 'updated' });
    expect(listProjects(place.home)).toHaveLength(2);
  });

  it('keeps keys that it does not know, of the file and of each project', async () => {
    await using setup = await setUp();
    const { place, repo, add } = setup;
    await add(repo.path);
    const file = JSON.parse(await repo.read('../person/.forge/config.json')) as { projects: object[] };
    const more = {
      theme: 'dark',
      ...file,
      projects: [{ ...file.projects[0], color: 'red' }],
      big: { x: [1] },
    };
    await repo.write('../person/.forge/config.json', JSON.stringify(more));
    await add(repo.path, 'renamed');
    await add(await addRepo(setup, 'b', 'pb'));
    await removeProject(place.home, 'b');
    expect(JSON.parse(await repo.read('../person/.forge/config.json'))).toEqual({
      ...more,
      projects: [{ ...more.projects[0], name: 'renamed' }],
    });
  });

  it.each([
    ['{"version":1,', 'invalid_input', 'not valid JSON'],
    ['[]', 'invalid_input', 'JSON object'],
    ['{"version":2,"projects":[]}', 'schema_newer', 'newer Forge'],
    ['{"version":"1","projects":[]}', 'invalid_input', 'version must be 1'],
    ['{"version":1,"projects":{}}', 'invalid_input', 'must be a list'],
    ['{"version":1,"projects":[null]}', 'invalid_input', 'projects[0].name'],
    [
      '{"version":1,"projects":[{"name":"a","path":"/a","prefix":"X!"}]}',
      'invalid_input',
      'projects[0].prefix',
    ],
    ['{"version":1,"projects":[{"name":"a","prefix":"aa"}]}', 'invalid_input', 'projects[0].path'],
  ])('leaves a file alone that it cannot read: %s', async (text, code, message) => {
    await using setup = await setUp();
    const { place, repo, add } = setup;
    await repo.write('../person/.forge/config.json', text);
    expect(() => listProjects(place.home)).toThrow(message);
    await expect(add(repo.path)).rejects.toMatchObject({ code });
    await expect(removeProject(place.home, 'a')).rejects.toMatchObject({ code });
    expect(await repo.read('../person/.forge/config.json')).toBe(text);
    expect(existsSync(join(place.home, 'config.json.lock'))).toBe(false);
  });

  it('loses none of ten that are added at once', async () => {
    await using setup = await setUp();
    const paths = [];
    for (const n of Array.from({ length: 10 }, (_, at) => at))
      paths.push(await addRepo(setup, `p${n}`, `p${n}`));
    await Promise.all(paths.map((path) => setup.add(path)));
    expect(
      listProjects(setup.place.home)
        .map(({ name }) => name)
        .toSorted(),
    ).toEqual(paths.map((_, n) => `p${n}`));
  });
});

import { cpSync, existsSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { openServerProjects, type ServerProjects } from '#app/server-projects.ts';
import { systemClock } from '#kernel/clock.ts';
import { LIMITS } from '#kernel/limits.ts';
import { toHomePlace } from '#sync/forge-home.ts';
import { FORGE, forgeProject, type ForgeProject } from '../support/forge-cli.ts';

describe('the projects of a server', () => {
  test('a small task file is joined in by the server, a large one by a process of its own', async () => {
    await using project = await forgeProject();
    const calls = join(dirname(project.path), 'calls');
    const told: string[] = [];
    await using projects = await openFor(project, calls, told);
    const [only] = projects.list();
    await only?.keepUp(); // the look that opening began
    writeTasks(project, 5);
    await only?.keepUp();
    expect(await only?.use(({ store }) => store.listTasks({}))).toHaveLength(5);
    expect(existsSync(calls)).toBe(false);
    writeTasks(project, 3_000);
    expect(readFileSync(taskFile(project)).length).toBeGreaterThan(LIMITS.server_fold_bytes);
    await only?.keepUp();
    expect(told).toEqual([]);
    expect(readFileSync(calls, 'utf8')).toContain('import');
    expect(await only?.use(({ store }) => store.listTasks({}))).toHaveLength(3_000);
    // What was read is not read again.
    await only?.keepUp();
    expect(readFileSync(calls, 'utf8').trim().split('\n')).toHaveLength(1);
  });

  test.each([
    ['lines of one task', '.forge/tasks.jsonl', (line: string) => line],
    ['lines that are no tasks', '.forge/tasks.jsonl', () => 'x'],
    ['moves that are none', '.forge/history.jsonl', () => '{}'],
  ])('few bytes with many lines are read by a process of its own: %s', async (_name, file, toLine) => {
    await using project = await forgeProject();
    const { id } = await project.create('there');
    await project.run('export');
    const calls = join(dirname(project.path), 'calls');
    await using projects = await openFor(project, calls);
    const [only] = projects.list();
    await only?.keepUp();
    expect(existsSync(calls)).toBe(false);
    const path = join(project.path, file);
    const before = existsSync(path) ? readFileSync(path, 'utf8') : '';
    const [line = ''] = readFileSync(taskFile(project), 'utf8').split('\n');
    const lines = Array.from({ length: LIMITS.server_fold_lines + 1 }, (_, at) =>
      toLine(line.replace('"there"', `"there ${at}"`)),
    );
    writeFileSync(path, `${before}${lines.join('\n')}\n`);
    expect(readFileSync(path).length).toBeLessThan(LIMITS.server_fold_bytes);
    await only?.keepUp();
    expect(readFileSync(calls, 'utf8')).toContain('import');
    // It was joined in by the other process: the task is there, and nothing is left to read.
    expect((await only?.use(({ store }) => store.getTask(id)))?.title).toMatch(/^there/);
    await only?.keepUp();
    expect(readFileSync(calls, 'utf8').trim().split('\n')).toHaveLength(1);
  });

  test('work that goes on keeps the store open while another one takes its place', async () => {
    await using project = await forgeProject();
    const { id } = await project.create('there');
    await using projects = await openFor(project, join(dirname(project.path), 'calls'));
    const [only] = projects.list();
    let goOn = (): void => undefined;
    const waits = new Promise<void>((resolve) => (goOn = resolve));
    const working = only?.use(async ({ store }) => {
      await waits;
      return store.getTask(id);
    });
    const database = join(project.path, '.git/forge/forge.db');
    for (const suffix of ['', '-wal', '-shm']) rmSync(`${database}${suffix}`, { force: true });
    await project.run('task', 'list');
    const { generation } = only ?? {};
    await only?.keepUp();
    expect(only?.generation).toBe((generation ?? 0) + 1);
    goOn();
    expect((await working)?.title).toBe('there');
    expect((await only?.use(({ store }) => store.getTask(id)))?.title).toBe('there');
  });

  test('a project whose config cannot be read is told with the file, by every way to name it, and works again', async () => {
    await using project = await forgeProject();
    await using other = await forgeProject({ prefix: 'ot', name: 'other' });
    await project.json('project', 'add', 'other', other.path);
    await project.json('project', 'add', 'own', project.path);
    const told: string[] = [];
    await using projects = await openFor(project, join(dirname(project.path), 'calls'), told);
    expect(projects.list().map(({ prefix }) => prefix)).toEqual(['fg', 'ot']);
    for (const [broken, prefix, name] of [
      [other, 'ot', 'other'],
      [project, 'fg', projects.list()[0]?.name ?? ''],
    ] as const) {
      const config = join(broken.path, '.forge/config.json');
      const before = readFileSync(config, 'utf8');
      writeFileSync(config, '{"version": 1,');
      await projects.refresh();
      await projects.refresh();
      for (const ref of [{ project: prefix }, { project: name }, { route: `${prefix}-a1b2` }])
        await expect(projects.find(ref)).rejects.toMatchObject({
          code: 'invalid_input',
          message: expect.stringContaining(config) as string,
          hint: expect.any(String) as string,
        });
      // A token for another project learns nothing of it.
      const rest = prefix === 'ot' ? 'fg' : 'ot';
      await expect(projects.find({ project: prefix, within: [rest] })).rejects.toMatchObject({
        code: 'not_found',
      });
      expect((await projects.find({ project: rest })).prefix).toBe(rest);
      // Its agents go on meanwhile.
      expect(
        projects
          .list()
          .map((one) => one.prefix)
          .toSorted(),
      ).toEqual(['fg', 'ot']);
      expect(told.filter((line) => line.includes(config))).toHaveLength(1);
      writeFileSync(config, before);
      await projects.refresh();
      expect((await projects.find({ project: prefix })).prefix).toBe(prefix);
    }
  });

  test('a project whose folder is gone is told once and left out', async () => {
    await using project = await forgeProject();
    await using gone = await forgeProject({ prefix: 'gn', name: 'gone' });
    await project.json('project', 'add', 'gone', gone.path);
    await gone[Symbol.asyncDispose]();
    const told: string[] = [];
    await using projects = await openFor(project, join(dirname(project.path), 'calls'), told);
    await projects.refresh();
    expect(projects.list().map(({ prefix }) => prefix)).toEqual(['fg']);
    expect(told.filter((line) => line.includes('gone'))).toHaveLength(1);
  });

  test.each([
    ['registered', true],
    ['not registered', false],
  ])(
    'a project around, %s, that takes the prefix of another one keeps its own',
    async (_name, isRegistered) => {
      await using project = await forgeProject();
      await using other = await forgeProject({ prefix: 'zz', name: 'other' });
      await project.json('project', 'add', 'other', other.path);
      if (isRegistered) await project.json('project', 'add', 'own', project.path);
      const told: string[] = [];
      await using projects = await openFor(project, join(dirname(project.path), 'calls'), told);
      const config = join(project.path, '.forge/config.json');
      const before = readFileSync(config, 'utf8');
      // Its name is that of the other one too, so that it is not found by it either.
      changePrefix(project, { idPrefix: 'zz', name: 'zz' });
      await refreshOften(projects);
      expect(listPlaces(projects)).toEqual({ fg: project.path, zz: other.path });
      for (const ref of [{ project: 'zz' }, { within: ['zz'] }, { route: 'zz-a1b2' }, { project: 'other' }])
        expect((await projects.find(ref)).path).toBe(other.path);
      await expect(projects.find({ project: 'fg' })).rejects.toMatchObject({
        message: expect.stringContaining('zz-') as string,
        hint: expect.stringContaining('forge project') as string,
      });
      expect(told.filter((line) => line.includes('zz-'))).toHaveLength(1);
      writeFileSync(config, before);
      // The copy in the git directory follows first.
      for (const one of projects.list()) await one.keepUp();
      await projects.refresh();
      expect((await projects.find({ project: 'fg' })).path).toBe(project.path);
    },
  );

  test('a prefix that is registered for another folder is not served from the one around', async () => {
    await using project = await forgeProject({ prefix: 'zz', name: 'hostile' });
    await using other = await forgeProject({ prefix: 'zz', name: 'other' });
    await project.json('project', 'add', 'other', other.path);
    const told: string[] = [];
    await using projects = await openFor(project, join(dirname(project.path), 'calls'), told);
    expect(listPlaces(projects)).toEqual({ zz: other.path });
    expect(told).toEqual([expect.stringContaining(`${project.path} is left out`)]);
  });

  test('of the projects that were named, one that takes a prefix or is gone does not hold the others back', async () => {
    await using project = await forgeProject();
    await using other = await forgeProject({ prefix: 'zz', name: 'other' });
    const told: string[] = [];
    const calls = join(dirname(project.path), 'calls');
    await using projects = await openFor(project, calls, told, [project.path, other.path]);
    changePrefix(project, { idPrefix: 'zz' });
    await refreshOften(projects);
    expect(listPlaces(projects)).toEqual({ fg: project.path, zz: other.path });
    expect(told).toHaveLength(1);
    await project[Symbol.asyncDispose]();
    await projects.refresh();
    await projects.refresh();
    expect(listPlaces(projects)).toEqual({ zz: other.path });
    expect(told).toHaveLength(2);
    await other.create('later');
    await projects.list()[0]?.keepUp();
    expect(await projects.list()[0]?.use(({ store }) => store.listTasks({}))).toHaveLength(1);
  });

  test('a project that is registered again with its new prefix is served with it', async () => {
    await using project = await forgeProject();
    await project.json('project', 'add', 'own', project.path);
    await using projects = await openFor(project, join(dirname(project.path), 'calls'));
    changePrefix(project, { idPrefix: 'nw' });
    await refreshOften(projects);
    expect(listPlaces(projects)).toEqual({ fg: project.path });
    await project.json('project', 'add', 'own', project.path);
    await projects.refresh();
    expect(listPlaces(projects)).toEqual({ nw: project.path });
    expect((await projects.find({ project: 'nw' })).path).toBe(project.path);
  });

  test('a project that was copied with its folder is another one, also after a restart', async () => {
    await using project = await forgeProject();
    const { id } = await project.create('there');
    const copy = join(dirname(project.path), 'copy');
    cpSync(project.path, copy, { recursive: true });
    for (const config of ['.forge/config.json', '.git/forge/config.json'].map((name) => join(copy, name)))
      writeFileSync(config, readFileSync(config, 'utf8').replace('"idPrefix": "fg"', '"idPrefix": "cp"'));
    const serve = async (): Promise<string[]> => {
      const calls = join(dirname(project.path), 'calls');
      await using projects = await openFor(project, calls, [], [project.path, copy]);
      await refreshOften(projects);
      expect(listPlaces(projects)).toEqual({ fg: project.path, cp: copy });
      const [first, second] = projects.list();
      expect(await first?.use(({ store }) => store.holdsTask(id))).toBe(true);
      expect(await second?.use(async ({ paths }) => paths.root)).toBe(copy);
      return projects.list().map(({ store_id }) => store_id);
    };
    const ids = await serve();
    expect(new Set(ids).size).toBe(2);
    expect(await serve()).toEqual(ids);
    renameSync(project.path, join(dirname(project.path), 'away'));
    renameSync(copy, project.path);
    // It stands where the other one was, and is still the copy.
    await using moved = await openFor(project, join(dirname(project.path), 'calls'), [], [project.path]);
    expect(moved.list().map(({ store_id }) => store_id)).toEqual(ids.slice(1));
  });
});

/** Until the copy of a config has followed, and what it says was seen. */
async function refreshOften(projects: ServerProjects): Promise<void> {
  for (let look = 0; look < 3; look += 1) {
    await projects.refresh();
    for (const one of projects.list()) await one.keepUp();
  }
}

/** Prefixes with the folders that they stand for. */
function listPlaces(projects: ServerProjects): Record<string, string> {
  return Object.fromEntries(projects.list().map(({ prefix, path }) => [prefix, path]));
}

/** As a commit does that is pulled. */
function changePrefix({ path }: ForgeProject, change: Record<string, string>): void {
  const file = join(path, '.forge/config.json');
  const config = JSON.parse(readFileSync(file, 'utf8')) as Record<string, unknown>;
  writeFileSync(file, JSON.stringify({ ...config, ...change }));
}

function taskFile({ path }: ForgeProject): string {
  return join(path, '.forge', 'tasks.jsonl');
}

function writeTasks(project: ForgeProject, count: number): void {
  const lines = Array.from({ length: count }, (_, at) => {
    const created_at = new Date(Date.UTC(2026, 0, 1) + at).toISOString();
    return JSON.stringify({
      id: `fg-${(at + 46_656).toString(36)}`,
      title: `task ${at}`,
      description: 'x'.repeat(200),
      status: 'open',
      priority: 2,
      type: 'task',
      created_at,
      created_by: 'somebody',
      updated_at: created_at,
    });
  });
  writeFileSync(taskFile(project), `${lines.join('\n')}\n`);
}

/** The program is the real one, started by a script that notes that it was. */
function openFor(
  project: ForgeProject,
  calls: string,
  told: string[] = [],
  paths: string[] = [],
): Promise<ServerProjects> {
  const script = join(dirname(project.path), 'noted.cjs');
  writeFileSync(
    script,
    `require('node:fs').appendFileSync(${JSON.stringify(calls)}, process.argv.slice(2).join(' ') + '\\n');
     process.argv[1] = ${JSON.stringify(FORGE)};
     require(${JSON.stringify(FORGE)});`,
  );
  return openServerProjects(
    { paths, cwd: project.path },
    {
      place: toHomePlace(project.env, project.home),
      clock: systemClock,
      env: project.env,
      program: { node: process.execPath, script },
      notice: (line) => told.push(line),
    },
  );
}

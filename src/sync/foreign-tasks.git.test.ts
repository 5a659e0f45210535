import { mkdirSync, renameSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { LIMITS } from '#kernel/limits.ts';
import { openStore } from '#store/open-store.ts';
import type { NewTaskInput, TaskStore } from '#store/store.ts';
import { TestClock } from '../../tests/support/temp-store.ts';
import { tempRepo } from '../../tests/support/temp-repo.ts';
import { findProject, type FoundProject } from './find-project.ts';
import { findProjectOf, prefixOf, refreshForeign, refuseForeignCycle } from './foreign-tasks.ts';
import { initialiseProject } from './initialise-project.ts';
import { addProject, removeProject } from './project-registry.ts';

const clock = new TestClock();
const writer = () => {
  clock.advance(1_000);
  return { actor: { kind: 'agent' as const, name: 'w', named: true }, now: clock.now() };
};
const task = (prefix: string, foreign_depends_on: string[] = []): NewTaskInput => ({
  id_prefix: prefix,
  title: `of ${prefix}`,
  description: '',
  type: 'task',
  priority: 2,
  state: 'todo',
  parent_id: null,
  assignee: null,
  labels: [],
  github_issue: null,
  depends_on: [],
  foreign_depends_on,
  metadata: new Map(),
});

/** Two projects, `aa` and `bb`, of which bb is registered. */
async function setUp() {
  const repo = await tempRepo({ folder: 'aa' });
  const root = dirname(repo.path);
  const homeDir = join(root, 'person');
  mkdirSync(homeDir);
  const place = { home: join(homeDir, '.forge'), env: {}, homeDir };
  const open = async (found: FoundProject): Promise<TaskStore> => openStore(found.paths.store, { clock });
  const make = async (name: string): Promise<{ found: FoundProject; store: TaskStore }> => {
    const path = join(root, name);
    mkdirSync(path, { recursive: true });
    repo.git('init', '--quiet', path);
    await initialiseProject({
      cwd: path,
      env: {},
      homeDir,
      prefix: name,
      clock,
      program: { node: process.execPath, script: import.meta.filename },
      openStore: async () => {},
    });
    const found = findProject(path, {}, homeDir);
    return { found, store: await open(found) };
  };
  const [a, b] = [await make('aa'), await make('bb')];
  const register = (found: FoundProject) => addProject(place, { found, name: undefined, now: clock.now() });
  await register(b.found);
  const refresh = async () => refreshForeign(a.store, await a.store.listForeign(), { place, prefix: 'aa' });
  return {
    a,
    b,
    place,
    root,
    register,
    refresh,
    async [Symbol.asyncDispose]() {
      await a.store[Symbol.asyncDispose]();
      await b.store[Symbol.asyncDispose]();
      await repo[Symbol.asyncDispose]();
    },
  };
}

describe('tasks of other projects', () => {
  it('are looked up in their own database, and readiness follows', async () => {
    await using setup = await setUp();
    const { a, b, refresh } = setup;
    const there = await b.store.createTask(task('bb'), writer());
    const here = await a.store.createTask(task('aa', [there.id]), writer());
    expect((await refresh()).get(there.id)).toEqual({
      outcome: 'found',
      project: 'bb',
      task: { title: 'of bb', status: 'open', state: 'todo', priority: 2, assignee: null },
    });
    expect(await a.store.listReady({})).toEqual([]);
    await b.store.closeTask({ id: there.id, reason: 'done' }, writer());
    await refresh();
    expect((await a.store.listReady({})).map(({ id }) => id)).toEqual([here.id]);
    await b.store.reopenTask({ id: there.id, reason: null }, writer());
    await refresh();
    expect(await a.store.listReady({})).toEqual([]);
  });

  it('are looked up by the limit however many edges a file has, and other work goes on meanwhile', async () => {
    await using setup = await setUp();
    const { a, refresh } = setup;
    const edges = Array.from(
      { length: LIMITS.foreign_tasks + 200 },
      (_, at) => `bb-${(at + 46_656).toString(36)}`,
    );
    for (let at = 0; at < edges.length; at += 2_000)
      await a.store.createTask(task('aa', edges.slice(at, at + 2_000)), writer());
    let isOver = false;
    let turns = 0;
    const count = (): void => {
      turns += 1;
      if (!isOver) setImmediate(count);
    };
    setImmediate(count);
    const found = await refresh();
    isOver = true;
    expect(found.size).toBe(LIMITS.foreign_tasks);
    expect(turns).toBeGreaterThanOrEqual(LIMITS.foreign_tasks / LIMITS.tasks_a_turn - 1);
  });

  it('that cannot be found out stay as they were last known, and say why', async () => {
    await using setup = await setUp();
    const { a, b, place, root, refresh, register } = setup;
    const there = await b.store.createTask(task('bb'), writer());
    await a.store.createTask(task('aa', [there.id, 'bb-gone', 'zz-what', 'aa-lost']), writer());
    const why = async (id: string): Promise<unknown> => {
      const known = (await refresh()).get(id);
      return known?.outcome === 'unknown' ? known.why : known;
    };
    expect(await why('bb-gone')).toBe('project bb has no such task');
    expect(await why('zz-what')).toBe('no registered project has ids that begin with zz-');
    expect(await why('aa-lost')).toBeUndefined(); // this project's own: nobody else can know
    await b.store.closeTask({ id: there.id, reason: 'done' }, writer());
    await refresh();
    const closed = async () =>
      (await a.store.listForeign()).filter((edge) => edge.closed).map(({ id }) => id);
    expect(await closed()).toEqual([there.id]);
    renameSync(join(root, 'bb'), join(root, 'moved'));
    expect(await why(there.id)).toMatch(/bb .*is not there any more/);
    expect(await closed()).toEqual([there.id]);
    const moved = findProject(join(root, 'moved'), {}, place.homeDir);
    expect(await register(moved)).toMatchObject({ name: 'bb', outcome: 'updated' });
    expect(await why(there.id)).toMatchObject({ outcome: 'found' });
    await removeProject(place.home, 'bb');
    expect(await why('bb-gone')).toBe('no registered project has ids that begin with bb-');
  });

  it('[S124] belong to the project whose prefix they have', async () => {
    await using setup = await setUp();
    expect(['bb-x1y2', 'BB-x1', 'bb-', 'x1y2', 'toolong-x', 'b-x'].map(prefixOf)).toEqual([
      'bb',
      'bb',
      'bb',
      undefined,
      undefined,
      undefined,
    ]);
    expect(findProjectOf('BB-x1', setup.place)?.name).toBe('bb');
    expect(findProjectOf('aa-x1', setup.place)).toBeUndefined();
  });

  it('must not wait for what waits for them, by whatever way', async () => {
    await using setup = await setUp();
    const { a, b, place, register } = setup;
    await register(a.found);
    const top = await a.store.createTask(task('aa'), writer());
    const middle = await b.store.createTask(task('bb', [top.id]), writer());
    const last = await b.store.createTask(task('bb'), writer());
    await b.store.addDependency({ from_id: last.id, to_id: middle.id, type: 'blocks' }, writer());
    const check = (from_id: string, to_id: string) =>
      refuseForeignCycle({ from_id, to_id }, { own: a.found.paths.store, prefix: 'aa', place });
    expect(() => check(top.id, last.id)).toThrow(
      expect.objectContaining({
        code: 'dependency_cycle',
        details: { path: [top.id, last.id, middle.id, top.id] },
      }) as Error,
    );
    const other = await a.store.createTask(task('aa'), writer());
    expect(() => check(other.id, last.id)).not.toThrow();
    expect(() => check(other.id, 'zz-none')).not.toThrow();
  });
});

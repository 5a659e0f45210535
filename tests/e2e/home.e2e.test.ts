import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Task, TaskView } from '#contract/task.ts';
import { LIMITS } from '#kernel/limits.ts';
import { forgeProject, type ForgeCli, type ForgeProject } from '../support/forge-cli.ts';
import { forgeProjectHere } from '../support/forge-here.ts';
import { runTestGit } from '../support/temp-repo.ts';

interface TwoProjects extends AsyncDisposable {
  /** Prefix fg. */
  readonly a: ForgeProject;
  /** Prefix pb, in the same home. */
  readonly b: ForgeCli & { readonly path: string };
  /** In neither. */
  readonly outside: ForgeCli;
  readonly home: string;
}

async function twoProjects(
  options: { readonly register?: boolean; readonly open?: typeof forgeProject } = {},
): Promise<TwoProjects> {
  const { register = true, open = forgeProjectHere } = options;
  const a = await open({ folder: 'a' });
  const b = await addProject(a, 'b', 'pb');
  if (register) {
    await a.text('project', 'add');
    await a.text('project', 'add', 'backend', '../b');
  }
  const outside = a.with({ cwd: dirname(a.path) });
  const home = join(a.home, '.forge');
  return { a, b, outside, home, [Symbol.asyncDispose]: () => a[Symbol.asyncDispose]() };
}

async function addProject(a: ForgeProject, folder: string, prefix: string): Promise<TwoProjects['b']> {
  const path = join(dirname(a.path), folder);
  mkdirSync(path);
  runTestGit(path, ['init', '--quiet', '-b', 'main']);
  const cli = a.with({ cwd: path });
  await cli.json('init', '--prefix', prefix);
  return { ...cli, path };
}

const ready = async (forge: ForgeCli): Promise<string[]> =>
  (await forge.json<Task[]>('ready')).map(({ id }) => id);

describe('registered projects', () => {
  it('[S119] [S123] stand in the home with name, path and prefix, and are listed with what there is to do', async () => {
    await using two = await twoProjects({ register: false, open: forgeProject });
    const { a, b, outside, home } = two;
    expect(existsSync(home)).toBe(false);
    expect(await a.json('project', 'list')).toEqual([]);
    expect(existsSync(home)).toBe(false);
    await b.create('one');
    expect(await a.json('project', 'add', 'a', '.')).toMatchObject({ name: 'a', outcome: 'added' });
    expect(await a.json('project', 'add', '../b')).toMatchObject({
      name: 'b',
      path: b.path,
      outcome: 'added',
    });
    expect(statSync(home).mode & 0o777).toBe(0o700);
    expect(JSON.parse(readFileSync(join(home, 'config.json'), 'utf8'))).toMatchObject({
      version: 1,
      projects: [
        { name: 'a', path: a.path, prefix: 'fg' },
        { name: 'b', path: b.path, prefix: 'pb' },
      ],
    });
    expect(await outside.json('project', 'list')).toMatchObject([
      { name: 'a', there: true, problem: null, open: 0, ready: 0 },
      { name: 'b', there: true, problem: null, open: 1, ready: 1, in_progress: 0 },
    ]);
    expect(await b.json('project', 'add')).toMatchObject({ name: 'b', outcome: 'unchanged' });
    renameSync(b.path, `${b.path}-gone`);
    expect(await outside.text('project', 'list')).toMatch(/b +pb +- +- +- .*\(not there\)/);
    expect(await outside.text('project', 'remove', 'b')).toContain('off the register');
    expect((await outside.fails('project', 'remove', 'b')).error).toMatchObject({ code: 'not_found' });
  });

  it('[S125] need a prefix of their own: the second is refused, with the name of the first and what to do', async () => {
    await using two = await twoProjects();
    const { a, home } = two;
    const c = await addProject(a, 'c', 'fg');
    const before = readFileSync(join(home, 'config.json'), 'utf8');
    const { error } = await c.fails('project', 'add');
    expect(error).toMatchObject({ code: 'already_exists', details: { project: 'a', path: a.path } });
    expect(error.hint).toContain('forge project remove "a"');
    expect(readFileSync(join(home, 'config.json'), 'utf8')).toBe(before);
  });

  it('are never the home itself, nor a folder without a project', async () => {
    await using two = await twoProjects();
    const { a, outside, home } = two;
    runTestGit(a.home, ['init', '--quiet']); // a dotfiles repository around the home
    for (const path of [home, a.home])
      expect((await outside.fails('project', 'add', 'x', path)).error.message).toContain('the Forge home');
    expect((await outside.fails('project', 'add')).error.code).toBe('not_a_project');
    expect((await outside.with({ cwd: a.home }).fails('ready')).error.code).toBe('not_a_project');
  });

  it('[S334] are kept under XDG_DATA_HOME where there is no ~/.forge', async () => {
    await using two = await twoProjects({ register: false });
    const data = join(two.a.home, 'data');
    const forge = two.a.with({ env: { FORGE_HOME: undefined, XDG_DATA_HOME: data } });
    await forge.text('project', 'add');
    expect(existsSync(join(data, 'forge', 'config.json'))).toBe(true);
    expect(existsSync(join(two.a.home, '.forge'))).toBe(false);
  });

  it('a damaged register is named, and kept; commands of the project itself go on', async () => {
    await using two = await twoProjects();
    const { a, home } = two;
    const { id } = await a.create('one');
    writeFileSync(join(home, 'config.json'), '{"version":1,');
    const { error } = await a.fails('project', 'list');
    expect(error).toMatchObject({ code: 'invalid_input' });
    expect(error.message).toContain(join(home, 'config.json'));
    expect((await a.fails('project', 'add')).error.code).toBe('invalid_input');
    expect(readFileSync(join(home, 'config.json'), 'utf8')).toBe('{"version":1,');
    expect(await ready(a)).toEqual([id]);
    expect((await a.show(id)).title).toBe('one');
  });
});

describe('[S124] ids of another project', () => {
  it('lead there from a project and from outside: read and write', async () => {
    await using two = await twoProjects();
    const { a, b, outside } = two;
    const { id } = await b.create('in b');
    for (const forge of [a, outside]) expect((await forge.show(id)).title).toBe('in b');
    expect((await a.show(id.slice(0, -1).toUpperCase())).id).toBe(id);
    expect(await a.json('claim', id, '--actor', 'w')).toMatchObject({ assignee: 'w' });
    await outside.text('task', 'comment', id, 'from outside');
    await a.text('task', 'update', id, '--title', 'renamed');
    await outside.text('task', 'close', id, '--reason', 'done');
    expect(await b.show(id)).toMatchObject({ title: 'renamed', status: 'closed' });
    const child = await a.create('below', '--parent', id);
    expect(child.id).toMatch(/^pb-/);
    expect((await a.json<Task[]>('task', 'list', '--parent', id)).map((task) => task.id)).toEqual([child.id]);
    await a.text('task', 'delete', child.id);
    expect(await outside.json('task', 'restore', child.id)).toMatchObject({ id: child.id });
    expect(await a.json<Task[]>('search')).toEqual([]);
  });

  it('stay with this project where it holds exactly that id, or nobody registered the prefix', async () => {
    await using two = await twoProjects({ register: false });
    const { a, b, outside } = two;
    const { id } = await b.create('in b');
    expect((await a.fails('task', 'show', id)).error.code).toBe('not_found');
    expect((await outside.fails('task', 'show', id)).error.code).toBe('not_a_project');
    await a.text('project', 'add', 'backend', '../b');
    expect((await a.show(id)).title).toBe('in b');
    // The same id here, as an import from the other project brings it.
    const line = readFileSync(join(b.path, '.git', 'forge', 'tasks.jsonl'), 'utf8').replace(
      'in b',
      'imported',
    );
    writeFileSync(join(a.path, '.git', 'forge', 'tasks.jsonl'), line);
    expect((await a.show(id)).title).toBe('imported');
    expect((await outside.show(id)).title).toBe('in b');
  });

  it('of a project that is gone are refused with what to do', async () => {
    await using two = await twoProjects();
    const { a, b } = two;
    const { id } = await b.create('in b');
    rmSync(b.path, { recursive: true });
    const { error } = await a.fails('task', 'show', id);
    expect(error).toMatchObject({ code: 'not_a_project', details: { project: 'backend' } });
    expect(error.hint).toContain('forge project remove "backend"');
  });
});

describe('dependencies across projects', () => {
  it('block until the other task is closed, and everything says so', async () => {
    await using two = await twoProjects();
    const { a, b } = two;
    const there = await b.create('There', '--priority', '1');
    const here = await a.create('Here');
    expect(await a.json('dep', 'add', here.id, there.id.slice(0, -1))).toEqual({
      from_id: here.id,
      to_id: there.id,
      type: 'blocks',
      added: true,
    });
    expect(await ready(a)).toEqual([]);
    expect(await a.text('ready', '--explain')).toContain(`waits for ${there.id} (open in backend)`);
    expect(await a.text('blocked')).toContain(`waits for ${there.id}  There  [open]`);
    expect(await a.text('dep', 'tree', here.id)).toContain(`blocks ${there.id}  There  [open]`);
    expect((await a.show(here.id)).dependencies).toMatchObject([
      { id: there.id, resolved: { title: 'There', status: 'open', priority: 1 } },
    ]);
    expect((await a.fails('claim', here.id)).error.code).toBe('dependency_gate');
    expect((await a.fails('claim', '--next')).error.code).toBe('nothing_ready');
    await b.text('task', 'close', there.id, '--reason', 'done');
    expect(await a.json('claim', '--next', '--actor', 'w')).toMatchObject({ id: here.id });
    await a.text('release', here.id, '--actor', 'w');
    await b.text('task', 'reopen', there.id);
    expect(await ready(a)).toEqual([]);
    await a.text('dep', 'remove', here.id, there.id);
    expect(await ready(a)).toEqual([here.id]);
  });

  it('can be named when a task is made, and from the other side', async () => {
    await using two = await twoProjects();
    const { a, b, outside } = two;
    const there = await b.create('There');
    const here = await a.create('Here', '--depends-on', there.id);
    expect(here.dependencies).toEqual([{ id: there.id, type: 'blocks' }]);
    expect(await ready(a)).toEqual([]);
    const other = await a.create('Other');
    await outside.text('dep', 'add', there.id, other.id);
    expect(await ready(b)).toEqual([]);
    const { error } = await a.fails('dep', 'add', other.id, here.id);
    expect(error).toMatchObject({
      code: 'dependency_cycle',
    });
  });

  it('keep blocking while the other project cannot be read, and say why', async () => {
    await using two = await twoProjects();
    const { a, b } = two;
    const there = await b.create('There');
    await a.create('Here', '--depends-on', there.id);
    renameSync(b.path, `${b.path}-gone`);
    expect(await a.text('ready', '--explain')).toMatch(/backend .*is not there any more/);
    renameSync(`${b.path}-gone`, b.path);
    await a.text('project', 'remove', 'backend');
    expect(await a.text('ready', '--explain')).toContain('no registered project has ids that begin with pb-');
    expect(await ready(a)).toEqual([]);
  });

  it('on what is nowhere are refused, unless --force says that it is elsewhere', async () => {
    await using two = await twoProjects();
    const { a, b } = two;
    const { id } = await a.create('Here');
    const unknown = await a.fails('dep', 'add', id, 'zz-a1b2');
    expect(unknown.error).toMatchObject({ code: 'not_found', hint: 'forge project add <name> <path>' });
    const missing = await a.fails('dep', 'add', id, 'pb-none');
    expect(missing.error).toMatchObject({ code: 'not_found', details: { project: 'backend' } });
    expect((await a.fails('dep', 'add', id, 'pb-none', '--force')).error.code).toBe('not_found');
    expect((await a.fails('dep', 'add', id, 'zz-a', '--force')).error.code).toBe('not_found');
    expect(await a.json('dep', 'add', id, 'zz-a1b2', '--force')).toMatchObject({
      to_id: 'zz-a1b2',
      added: true,
    });
    expect(await ready(a)).toEqual([]);
    expect((await a.show(id)).dependencies).toMatchObject([{ id: 'zz-a1b2', resolved: null }]);
    expect((await b.json<TaskView[]>('search')).length).toBe(0);
  });
});

describe('[S121] agent identities', () => {
  it('are lines of agents.jsonl', async () => {
    await using two = await twoProjects({ register: false });
    const { outside, home } = two;
    expect(await outside.text('agent', 'list')).toContain('forge agent add');
    expect(await outside.json('agent', 'add', 'worker-1', '--description', 'nights')).toMatchObject({
      outcome: 'added',
    });
    expect(await outside.text('agent', 'add', 'worker-1')).toBe('Already there: agent worker-1');
    await outside.text('agent', 'add', 'reviewer');
    const lines = readFileSync(join(home, 'agents.jsonl'), 'utf8').trim().split('\n');
    expect(lines.map((line) => JSON.parse(line) as unknown)).toMatchObject([
      { name: 'worker-1', description: 'nights' },
      { name: 'reviewer' },
    ]);
    expect(await outside.json('agent', 'list')).toMatchObject([{ name: 'worker-1' }, { name: 'reviewer' }]);
    await outside.text('agent', 'remove', 'worker-1');
    expect((await outside.fails('agent', 'remove', 'worker-1')).error.code).toBe('not_found');
    for (const name of ['', ' x', 'a\nb', 'x'.repeat(201)])
      expect((await outside.fails('agent', 'add', name)).error.code).toBe('invalid_input');
  });

  it('lose none of eight that are added at once', async () => {
    await using two = await twoProjects({ register: false, open: forgeProject });
    const names = Array.from({ length: 8 }, (_, n) => `w${n}`);
    await Promise.all(names.map((name) => two.outside.text('agent', 'add', name)));
    const listed = await two.outside.json<{ name: string }[]>('agent', 'list');
    expect(listed.map(({ name }) => name).toSorted()).toEqual(names);
  });
});

interface BatchView {
  done: boolean;
  counts: Record<string, number>;
  tasks: { id: string; project: string; status: string | null; problem: string | null }[];
}

describe('[S122] batches', () => {
  it('of many tasks are looked up in parts, and keep the order and the projects of their tasks', async () => {
    await using two = await twoProjects();
    const { a, b, outside } = two;
    const [short, there] = [await a.create('Short'), await b.create('There')];
    await a.text('export');
    const known = readFileSync(join(a.path, '.forge/tasks.jsonl'), 'utf8');
    const [line = ''] = known.split('\n');
    const ids = Array.from(
      { length: LIMITS.tasks_a_turn + 20 },
      (_, at) => short.id.slice(0, 3) + `x${at + 1_000}`,
    );
    const lines = ids.map((id) => line.replace(short.id, id));
    writeFileSync(join(a.path, '.forge/tasks.jsonl'), `${known}${lines.join('\n')}\n`);
    const refs = [
      there.id,
      ...ids.slice(0, 510),
      short.id.slice(3),
      ...ids.slice(510).map((id) => id.toUpperCase()),
    ];
    await a.text('batch', 'create', 'many', ...refs);
    await a.text('batch', 'create', 'few', there.id);
    const shown = await outside.json<BatchView>('batch', 'show', 'many');
    expect(shown.tasks.map(({ id }) => id)).toEqual([
      there.id,
      ...ids.slice(0, 510),
      short.id,
      ...ids.slice(510),
    ]);
    expect(shown.tasks.map(({ project }) => project).filter((name) => name === 'backend')).toHaveLength(1);
    expect(await outside.json('batch', 'list')).toMatchObject([
      { name: 'many', counts: { total: ids.length + 2, open: ids.length + 2 } },
      { name: 'few', counts: { total: 1, open: 1 } },
    ]);
  });

  it('follow tasks of several projects until all are closed', async () => {
    await using two = await twoProjects();
    const { a, b, outside, home } = two;
    const [here, more, there] = [await a.create('Here'), await a.create('More'), await b.create('There')];
    await a.text('batch', 'create', 'release 1', here.id.slice(3), there.id);
    expect(await a.text('batch', 'add', 'release 1', more.id, here.id)).toContain(`Added ${more.id} to`);
    expect(readFileSync(join(home, 'batches.jsonl'), 'utf8')).toContain(`"id":"${here.id}","project":"a"`);
    await a.text('task', 'close', here.id, '--reason', 'done');
    const shown = await outside.json<BatchView>('batch', 'show', 'release 1');
    expect(shown).toMatchObject({
      done: false,
      counts: { total: 3, open: 2, in_progress: 0, closed: 1, missing: 0 },
      tasks: [
        { id: here.id, project: 'a', status: 'closed' },
        { id: there.id, project: 'backend', status: 'open' },
        { id: more.id, project: 'a', status: 'open' },
      ],
    });
    for (const id of [there.id, more.id]) await outside.text('task', 'close', id, '--reason', 'done');
    expect(await outside.text('batch', 'show', 'release 1')).toContain('done: 3 of 3 closed');
    expect(await outside.json('batch', 'list')).toMatchObject([{ name: 'release 1', done: true }]);
    await outside.text('batch', 'close', 'release 1');
    expect(await outside.json('batch', 'list')).toEqual([]);
    expect(await outside.json('batch', 'list', '--all')).toMatchObject([{ name: 'release 1' }]);
    expect((await a.fails('batch', 'add', 'release 1', here.id)).error.code).toBe('state_invalid');
  });

  it('take tasks of the project around though nobody registered it, and find them again', async () => {
    await using two = await twoProjects({ register: false });
    const { a, outside } = two;
    const { id } = await a.create('Here');
    await a.text('batch', 'create', 'b');
    await a.text('batch', 'add', 'b', id);
    const shown = await outside.json<BatchView>('batch', 'show', 'b');
    expect(shown.tasks).toMatchObject([{ id, project: 'a', status: 'open', problem: null }]);
  });

  it('say which projects and tasks are missing, and show the rest', async () => {
    await using two = await twoProjects();
    const { a, b, outside } = two;
    const [here, deleted, there] = [
      await a.create('Here'),
      await a.create('Deleted'),
      await b.create('There'),
    ];
    await a.text('batch', 'create', 'b', here.id, deleted.id, there.id);
    await a.text('task', 'delete', deleted.id);
    renameSync(b.path, `${b.path}-moved`);
    const { tasks, counts, done } = await outside.json<BatchView>('batch', 'show', 'b');
    expect({ done, counts }).toMatchObject({ done: false, counts: { total: 3, open: 1, missing: 2 } });
    expect(tasks.map(({ problem }) => problem)).toEqual([
      null,
      'deleted',
      expect.stringContaining('not there any more'),
    ]);
    await outside.text('project', 'add', 'backend', `${b.path}-moved`);
    expect((await outside.json<BatchView>('batch', 'show', 'b')).counts).toMatchObject({
      open: 2,
      missing: 1,
    });
  });

  it('refuse what they cannot find', async () => {
    await using two = await twoProjects();
    const { a, outside } = two;
    await a.text('batch', 'create', 'b');
    expect((await a.fails('batch', 'create', 'b')).error.code).toBe('already_exists');
    for (const command of ['show', 'close']) {
      expect((await a.fails('batch', command, 'no')).error.code).toBe('not_found');
    }
    expect((await a.fails('batch', 'add', 'no', 'fg-a1b2')).error).toMatchObject({
      hint: 'forge batch list',
    });
    expect((await a.fails('batch', 'add', 'b', 'fg-none')).error.code).toBe('not_found');
    expect((await outside.fails('batch', 'add', 'b', 'x1y2')).error.code).toBe('not_a_project');
    expect((await a.fails('batch', 'add', 'b')).error.code).toBe('usage');
  });
});

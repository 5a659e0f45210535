import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Task } from '#contract/task.ts';
import { forgeClones, titlesOf } from '../support/git-clones.ts';
import { forgeProjectHere } from '../support/forge-here.ts';
import { runTestGit } from '../support/temp-repo.ts';

describe('[D15] what came from another tool', () => {
  it('a task is found by the id it had there, by show, by a write and by search', async () => {
    await using project = await forgeProjectHere();
    const line = (id: string, title: string): string =>
      JSON.stringify({ id, title, status: 'open', created_at: '2026-01-01T00:00:00Z' });
    await project.write('old/issues.jsonl', `${line('bd-0088', 'First')}\n${line('bd-0881', 'Second')}\n`);
    await project.run('import', '--from', 'beads', 'old/issues.jsonl');
    const task = await project.json<Task>('task', 'show', 'BD-0088');
    expect(task.title).toBe('First');
    expect(await project.json('task', 'update', 'bd-0881', '--priority', '0')).toMatchObject({
      title: 'Second',
    });
    const found = await project.json<Task[]>('search', '--query', 'bd-0088');
    expect(found.map(({ title }) => title)).toEqual(['First']);
    expect((await project.fails('task', 'show', 'bd-9999')).error.code).toBe('not_found');
  });

  it('tasks of Backlog.md in subfolders come in too', async () => {
    await using project = await forgeProjectHere();
    const file = (id: string): string => `---\nid: ${id}\ntitle: Title ${id}\nstatus: To Do\n---\n`;
    await project.write('backlog/tasks/task-1 - one.md', file('task-1'));
    await project.write('backlog/tasks/epic a/deep/task-2 - two.md', file('task-2'));
    await project.write('backlog/completed/2025/task-3 - three.md', file('task-3'));
    await project.write('backlog/docs/more/x.md', 'no task');
    const { stdout } = await project.run('import', '--from', 'backlog-md', 'backlog', '--json');
    const { tasks, notes } = JSON.parse(stdout) as {
      tasks: Task[];
      notes: { where: string; what: string }[];
    };
    expect(tasks.map(({ title }) => title).toSorted()).toEqual([
      'Title task-1',
      'Title task-2',
      'Title task-3',
    ]);
    expect(notes).toContainEqual({
      where: 'docs',
      what: 'holds no tasks; its files stay where they are (1)',
    });
  });
});

describe('[D15] conflicts in plain words', () => {
  it('of two claims the first stands, and the list says who has the task', async () => {
    await using world = await forgeClones(['a', 'b']);
    const { a, b } = world.clone;
    const { id } = await a.create('Both want it');
    await a.commitTasks();
    a.git('push', '--quiet', 'origin', 'main');
    b.git('pull', '--quiet');
    await a.json('claim', id, '--actor', 'ann');
    await b.json('claim', id, '--actor', 'bob');
    await a.commitTasks();
    await b.commitTasks();
    a.git('push', '--quiet', 'origin', 'main');
    const said = b.tryGit(['pull', '--quiet']).output;
    expect(said).toContain('of two claims the first');
    const { stdout } = await b.run('conflicts');
    expect(stdout).toContain('status stands: in progress, owned by ann');
    expect(stdout).toContain('in progress, owned by bob');
    expect(stdout).not.toContain('{');
  });
});

describe('[D15] where the repository is', () => {
  it('outside of every repository GIT_WORK_TREE and GIT_DIR lead to the project; what does not belong together is refused', async () => {
    await using world = await forgeClones(['a', 'b'], { by: 'the program' });
    const { a, b } = world.clone;
    await a.create('of a');
    const from = (cwd: string, env: NodeJS.ProcessEnv) =>
      world.place.with({ cwd, env: { ...world.place.env, ...env } });
    const git = join(a.path, '.git');
    expect(await titlesOf(from(world.folder, { GIT_DIR: git, GIT_WORK_TREE: a.path }))).toEqual(['of a']);
    // A hook of a, in which a script goes to b: b is meant.
    expect(await titlesOf(from(b.path, { GIT_DIR: git, GIT_WORK_TREE: a.path }))).toEqual([]);
    expect(await titlesOf(from(world.folder, { GIT_DIR: git }))).toEqual(['of a']);
    const mixed = await from(world.folder, { GIT_DIR: git, GIT_WORK_TREE: b.path }).run('ready');
    expect(mixed).toMatchObject({ exit: 5, stderr: expect.stringContaining('unset GIT_DIR GIT_WORK_TREE') });
  });

  it('a bare repository is called one', async () => {
    await using world = await forgeClones(['a']);
    const bare = join(world.folder, 'bare.git');
    mkdirSync(bare);
    runTestGit(bare, ['init', '--quiet', '--bare']);
    const cli = world.place.with({ cwd: bare });
    for (const command of ['init', 'ready']) {
      const { exit, stderr } = await cli.run(command);
      expect(exit).toBe(5);
      expect(stderr).toContain(`${bare} is a bare repository or a git directory, which has no working tree`);
      expect(stderr).toContain('git worktree add');
    }
  });
});

import { describe, expect, it } from 'vitest';
import type { Task } from '#contract/task.ts';
import { forgeClones, type Clone } from './support/git-clones.ts';
import { shareOf } from './support/share-of.ts';

const FILE = '.forge/tasks.jsonl';

interface Project {
  readonly a: Clone;
  readonly one: string;
  readonly two: string;
  readonly three: string;
}

/** What commands wrote is in no file: the file shows the tasks as they were made. */
const WRITTEN = { title: 'Renamed', labels: ['kept'] };

async function makeProject(a: Clone, isCommitted: boolean): Promise<Project> {
  const [one, two, three] = await Promise.all(['One', 'Two', 'Three'].map((title) => a.create(title)));
  if (one === undefined || two === undefined || three === undefined) throw new Error('not made');
  await a.run(isCommitted ? 'commit' : 'export');
  await a.json('task', 'update', one.id, '--title', 'Renamed', '--label-add', 'kept');
  await a.json('dep', 'add', one.id, two.id);
  await a.json('task', 'close', three.id, '--reason', 'done');
  return { a, one: one.id, two: two.id, three: three.id };
}

/** The file as a tool that knows nothing of stamps writes it, with one edit. */
function withoutStamps({ a, two }: Project): string[] {
  return a
    .read(FILE)
    .trimEnd()
    .split('\n')
    .map((line) => {
      const { _v, ...plain } = JSON.parse(line) as Record<string, unknown>;
      return JSON.stringify(plain['id'] === two ? { ...plain, description: 'by a script' } : plain);
    });
}

function write(a: Clone, lines: readonly string[]): void {
  a.write(FILE, lines.map((line) => `${line}\n`).join(''));
}

async function show(a: Clone, id: string): Promise<Task> {
  return (await a.json('task', 'show', id)) as Task;
}

async function expectKept({ a, one, two, three }: Project): Promise<void> {
  expect(await show(a, two)).toMatchObject({ title: 'Two', description: 'by a script' });
  expect(await show(a, one)).toMatchObject({ ...WRITTEN, dependencies: [{ id: two }] });
  expect(await show(a, three)).toMatchObject({ status: 'closed', close_reason: 'done' });
  expect(await a.json('conflicts')).toEqual([]);
}

describe('[D1] lines that are not in the file for a while take back nothing when they come again', () => {
  it.for(shareOf([0, 1, 2], 2))(
    'where a script writes the file slowly, and %i lines are there at a look',
    async (many) => {
      await using world = await forgeClones(['a']);
      const project = await makeProject(world.clone.a, true);
      const lines = withoutStamps(project);
      write(project.a, lines.slice(0, many));
      await project.a.run('ready');
      write(project.a, lines);
      await expectKept(project);
    },
  );

  it('where git stashes tasks that no commit has', async () => {
    await using world = await forgeClones(['a']);
    const project = await makeProject(world.clone.a, false);
    const { a } = project;
    write(a, withoutStamps(project));
    await expectKept(project);
    a.git('stash', '--quiet');
    await a.run('ready');
    a.git('stash', 'pop', '--quiet');
    await expectKept(project);
  });

  it('where a pull sets changes aside, and brings a commit that reverts the one with the tasks', async () => {
    await using world = await forgeClones(['a']);
    const project = await makeProject(world.clone.a, true);
    const { a } = project;
    a.git('push', '--quiet');
    const server = await world.addClone('server', { init: false });
    server.git('revert', '--no-edit', 'HEAD');
    server.git('push', '--quiet');
    a.git('commit', '--quiet', '--no-verify', '--allow-empty', '--message', 'own');
    write(a, withoutStamps(project));
    await expectKept(project);
    a.git('pull', '--quiet', '--rebase', '--autostash');
    await expectKept(project);
  });
});

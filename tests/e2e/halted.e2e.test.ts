import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { InboxItem } from '#contract/inbox-operations.ts';
import type { WorkedTask } from '#contract/run-task-operations.ts';
import type { TaskView } from '#contract/task.ts';
import { forgeProjectHere } from '../support/forge-here.ts';
import { inSoak } from '../support/share-of.ts';

let project: Awaited<ReturnType<typeof forgeProjectHere>>;
beforeEach(async () => {
  project = await forgeProjectHere();
  await project.write('README.md', 'first\n');
  project.git('add', '-A');
  project.git('commit', '-qm', 'first');
});
afterEach(() => project[Symbol.asyncDispose]());

async function addAgent(name: string, script: string): Promise<void> {
  const words = ['bash', '-c', script].map((word) => `--command=${word}`);
  await project.text('agent', 'add', name, '--executor', 'shell', ...words);
}

const commands = async (): Promise<string[]> =>
  (await project.json<InboxItem[]>('inbox')).map(({ command }) => command);

const show = (id: string): Promise<TaskView> => project.json<TaskView>('task', 'show', id);

/** What the inbox, `task show` and its text say to type, of a task that waits. */
async function toldBy(id: string): Promise<(string | undefined)[]> {
  const shown = /Go on +(.*)/.exec(await project.text('task', 'show', id))?.[1];
  return [...(await commands()), (await show(id)).wait?.command, shown];
}

async function dispatch(): Promise<{ exit: number; worked: WorkedTask[] }> {
  const { exit, stdout } = await project.run('dispatch', '--until-empty', '--merge', '--json');
  return { exit, worked: JSON.parse(stdout) as WorkedTask[] };
}

const bea = () => project.with({ env: { FORGE_ACTOR: 'user:Bea' } });

/** Worked on by w1, and rejected by a person while nothing runs. */
async function rejected(title: string): Promise<string> {
  const { id } = await project.create(title);
  await project.json('task', 'assign', id, 'reviewer', '--user', 'Bea');
  const asked = await project.run('run', id, '--agent', 'w1');
  expect(asked.stdout).toContain(`its review waits for the word of Bea (forge review ${id} pass)`);
  const said = await bea().text('review', id, 'reject', '--reason', 'not yet');
  expect(said).toContain(`Next: forge run ${id} --agent w1 --merge`);
  return id;
}

describe('work that stands still while no process is there to go on with it', () => {
  it('is in the inbox after a person rejected it, and dispatch goes on with it', async () => {
    await addAgent('w1', 'echo again >> v');
    const id = await rejected('Rejected');
    const next = `forge run ${id} --agent w1 --merge`;
    expect(await toldBy(id)).toEqual([next, next, next]);
    expect((await project.json<{ waiting: number }>('status')).waiting).toBe(1);
    const { exit, worked } = await dispatch();
    // It waits for its reviewer again, after a second run.
    expect({ exit, worked }).toMatchObject({
      exit: 1,
      worked: [{ task: { id, state: 'review' }, wait: { command: `forge review ${id} pass` } }],
    });
    expect(worked[0]?.runs).toHaveLength(2);
    await bea().text('review', id, 'pass');
    expect((await project.run('run', id, '--merge')).exit).toBe(0);
    expect(await show(id)).toMatchObject({ state: 'done', counters: { rejections: 0 } });
  });

  it('is not taken from an agent that works without forge run', async () => {
    await addAgent('w1', 'echo again >> v');
    const id = await rejected('Outside');
    await project.text('task', 'transition', id, 'todo');
    const { wait, state } = await project.with({ env: { FORGE_ACTOR: 'w1' } }).json<TaskView>('claim', id);
    expect({ wait, state }).toEqual({ state: 'in_progress' });
    expect(await commands()).toEqual([]);
    expect(await dispatch()).toEqual({ exit: 0, worked: [] });
    expect(await show(id)).toMatchObject({ state: 'in_progress', assignee: 'w1' });
  });

  it('goes back to the queue where its agent is gone', async () => {
    await addAgent('w1', 'echo again >> v');
    const id = await rejected('Alone');
    await project.text('agent', 'remove', 'w1');
    const next = `forge task transition ${id} todo`;
    expect(await toldBy(id)).toEqual([next, next, next]);
    await addAgent('w2', 'echo two > v');
    expect(await dispatch()).toEqual({ exit: 0, worked: [] });
    await project.text(...next.split(' ').slice(1));
    expect((await dispatch()).worked).toMatchObject([{ task: { id, state: 'review', assignee: 'w2' } }]);
  });
});

describe('a merge that met a conflict', () => {
  const RESOLVES =
    'if grep -q "<<<<<<<" README.md; then echo both > README.md; else echo mine > README.md; fi';

  async function conflict(): Promise<string> {
    await addAgent('w1', RESOLVES);
    const { id } = await project.create('Conflict');
    expect((await project.run('run', id, '--agent', 'w1')).exit).toBe(0);
    await project.write('README.md', 'theirs\n');
    project.git('commit', '-qam', 'theirs');
    const told = await project.text('task', 'transition', id, 'merging');
    expect(told).toContain(`Go on: forge run ${id} --agent w1 --merge`);
    expect((await show(id)).state).toBe('merge_failed');
    return id;
  }

  it('names one command everywhere, and that one brings it to its end', async () => {
    const id = await conflict();
    const next = `forge run ${id} --agent w1 --merge`;
    expect(await toldBy(id)).toEqual([next, next, next]);
    expect(await project.text(...next.split(' ').slice(1))).toContain(`${id} is in done`);
    expect(project.git('show', 'main:README.md').trim()).toBe('both');
  });

  inSoak(() => {
    it('is gone on with by dispatch after a person sent it back to work', async () => {
      const id = await conflict();
      const next = `forge run ${id} --agent w1 --merge`;
      expect(await project.text('task', 'transition', id, 'in_progress')).toContain(`Go on: ${next}`);
      expect(await toldBy(id)).toEqual([next, next, next]);
      expect(await dispatch()).toMatchObject({ exit: 0, worked: [{ task: { id, state: 'done' } }] });
      expect(project.git('show', 'main:README.md').trim()).toBe('both');
    });
  });
});

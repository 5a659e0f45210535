import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Run } from '#contract/attempt.ts';
import type { Task } from '#contract/task.ts';
import { findProcesses } from '../support/crash-runs.ts';
import { FORGE, type ForgeProject } from '../support/forge-cli.ts';
import { forgeProjectHere } from '../support/forge-here.ts';
import { startForgeServer, type ForgeServer } from '../support/forge-server.ts';
import { shareOf } from '../support/share-of.ts';

let project: ForgeProject;
let server: ForgeServer;
beforeAll(async () => {
  project = await forgeProjectHere();
  await project.write('README.md', 'first\n');
  await project.exec('git', ['add', '-A']);
  await project.exec('git', ['commit', '-qm', 'first']);
  for (const name of ['slow', 'slow2', 'slow3']) {
    const words = ['bash', '-c', 'echo "$$" >> pids; sleep 600; echo late > late.txt'].map(
      (word) => `--command=${word}`,
    );
    await project.text('agent', 'add', name, '--executor', 'shell', ...words);
  }
  server = await startForgeServer(project);
});
afterAll(async () => {
  await server[Symbol.asyncDispose]();
  await project[Symbol.asyncDispose]();
});

type Losing = (id: string) => Promise<unknown>;
const post = (path: string, body: object): Promise<unknown> => server.ask(`/api/v1/${path}`, { body });
const patch = (id: string, body: object): Promise<unknown> =>
  server.ask(`/api/v1/tasks/${id}`, { method: 'PATCH', body });
const remove = (path: string): Promise<unknown> =>
  server.ask(`/api/v1/${path}`, { method: 'DELETE', body: {} });

/** What a client may ask for that takes a task from its agent. */
const BY_REST: readonly (readonly [string, Losing])[] = [
  ['POST release', (id) => post(`tasks/${id}/release`, { force: true })],
  ['PATCH assignee: null', (id) => patch(id, { assignee: null })],
  ['PATCH status: open', (id) => patch(id, { status: 'open' })],
  ['PATCH assignee: a person', (id) => patch(id, { assignee: 'ann' })],
  ['POST transition todo', (id) => post(`tasks/${id}/transition`, { status: 'todo' })],
  ['POST transition blocked', (id) => post(`tasks/${id}/transition`, { status: 'blocked' })],
  ['POST transition review', (id) => post(`tasks/${id}/transition`, { status: 'review' })],
  ['POST claim by force', (id) => post(`tasks/${id}/claim`, { force: true })],
  ['POST cancel', (id) => post(`tasks/${id}/cancel`, {})],
  ['POST archive', (id) => post(`tasks/${id}/archive`, {})],
  ['DELETE task', (id) => remove(`tasks/${id}`)],
];

/** The same by a command, while another process watches the agent. */
const BY_COMMAND: readonly (readonly [string, (id: string) => readonly string[]])[] = [
  ['release', (id) => ['release', id, '--force']],
  ['task update --status open', (id) => ['task', 'update', id, '--status', 'open']],
  ['task update --assignee', (id) => ['task', 'update', id, '--assignee', 'ann']],
  ['task transition blocked', (id) => ['task', 'transition', id, 'blocked']],
  ['claim --force', (id) => ['claim', id, '--force']],
  ['task archive', (id) => ['task', 'archive', id]],
  ['task delete', (id) => ['task', 'delete', id]],
];

describe('[C1] an agent whose task is taken away', () => {
  it.each(shareOf(BY_REST, 4))('by %s is gone when the request is answered', async (_, lose) => {
    const id = await claimed('slow');
    expect(await lose(id)).toMatchObject({ status: 200 });
    expect(findProcesses(id)).toEqual([]);
  });

  it.each(shareOf(BY_COMMAND, 4))(
    'by forge %s, in another process, is gone when the command ends',
    async (_, toArgs) => {
      const id = await claimed('slow');
      const { exit, stderr } = await project.run(...toArgs(id));
      expect([exit, stderr]).toEqual([0, '']);
      expect(findProcesses(id)).toEqual([]);
    },
  );

  it('by a command that did not start it: forge run watches, forge release takes', async () => {
    const { id } = await project.create('Watched elsewhere');
    const child = spawn(process.execPath, [FORGE, 'run', id, '--agent', 'slow', '--json'], {
      cwd: project.path,
      env: project.env,
      stdio: 'ignore',
    });
    const ended = once(child, 'exit');
    await begun(id);
    await project.text('release', id, '--force');
    expect(findProcesses(id)).toEqual([]);
    await ended;
    expect(await project.json('task', 'show', id)).toMatchObject({ state: 'todo', assignee: null });
  });

  it.each(
    shareOf(
      [
        ['a claim by force', (id: string) => post(`tasks/${id}/claim`, { agent_id: 'slow2', force: true })],
        ['another assignee', (id: string) => patch(id, { assignee: 'slow2' })],
        [
          'a release and a claim',
          async (id: string) => {
            await post(`tasks/${id}/release`, { force: true });
            return post(`tasks/${id}/claim`, { agent_id: 'slow2' });
          },
        ],
      ],
      3,
    ),
  )('by %s for another one: that one is started, alone in the folder', async (_, hand) => {
    const id = await claimed('slow');
    const [first = ''] = findProcesses(id);
    expect(await hand(id)).toMatchObject({ status: 200 });
    await expect.poll(() => findProcesses(id).length, { timeout: 20_000 }).toBeGreaterThan(0);
    expect(findProcesses(id)).not.toContain(first);
    const runs = await project.json<Run[]>('runs', 'list', '--task', id);
    expect(runs.map(({ agent, outcome }) => [agent, outcome])).toEqual([
      ['slow', 'stopped'],
      ['slow2', null],
    ]);
    expect(await project.json<Task>('task', 'show', id)).toMatchObject({ assignee: 'slow2' });
    await post(`tasks/${id}/cancel`, {});
    expect(findProcesses(id)).toEqual([]);
  });

  it('by the removal of the agent goes back into the queue', async () => {
    const id = await claimed('slow3');
    expect(await remove('agents/slow3')).toMatchObject({ status: 200 });
    await expect.poll(() => findProcesses(id), { timeout: 10_000 }).toEqual([]);
    await expect
      .poll(async () => (await project.json<Task>('task', 'show', id)).state, { timeout: 10_000 })
      .toBe('todo');
  });
});

async function claimed(agent: string): Promise<string> {
  const { id } = await project.create('Slow');
  expect(await post(`tasks/${id}/claim`, { agent_id: agent })).toMatchObject({ status: 200 });
  await begun(id);
  return id;
}

async function begun(id: string): Promise<void> {
  await expect.poll(() => findProcesses(id).length, { timeout: 20_000 }).toBeGreaterThan(1);
}

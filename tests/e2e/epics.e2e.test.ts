import { expect, it } from 'vitest';
import type { Task } from '#contract/task.ts';
import type { WorkedTask } from '#contract/run-task-operations.ts';
import { forgeProjectHere } from '../support/forge-here.ts';

it('an epic is worked on after its children, and closes say what is left and what is finished', async () => {
  await using project = await forgeProjectHere();
  await project.write('README.md', 'first\n');
  project.git('add', '-A');
  project.git('commit', '-qm', 'first');
  const words = ['bash', '-c', 'echo x > "$FORGE_TASK_ID"'].map((word) => `--command=${word}`);
  await project.text('agent', 'add', 'w1', '--executor', 'shell', ...words);
  const epic = await project.create('Epic', '--type', 'epic', '--priority', '0');
  const first = await project.create('First', '--parent', epic.id);
  const second = await project.create('Second', '--parent', epic.id);
  const ready = (await project.json<Task[]>('ready')).map(({ id }) => id);
  expect(ready).toEqual([epic.id, first.id, second.id]);

  const bob = project.with({ env: { FORGE_ACTOR: 'bob' } });
  expect(await bob.json('claim', '--next')).toMatchObject({ id: first.id });
  const { stdout } = await project.run('dispatch', '--until-empty', '--merge', '--json');
  const worked = JSON.parse(stdout) as WorkedTask[];
  expect(worked.map(({ task }) => `${task.id} ${task.state}`)).toEqual([`${second.id} done`]);

  const text = await project.text('task', 'close', epic.id, '--reason', 'enough');
  expect(text).toContain(`Still open below it: ${first.id}`);
  await project.text('task', 'reopen', epic.id);
  expect(await project.json('task', 'close', first.id, '--reason', 'done')).toMatchObject({
    finished_epic: epic.id,
  });
  expect(await bob.json('claim', '--next')).toMatchObject({ id: epic.id });
});

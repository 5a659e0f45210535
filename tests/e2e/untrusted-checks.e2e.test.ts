import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import type { Attempt } from '#contract/attempt.ts';
import type { InboxItem } from '#contract/inbox-operations.ts';
import type { TaskView } from '#contract/task.ts';
import { forgeProjectHere } from '../support/forge-here.ts';

it('a check that nobody has trusted is noticed before an agent works, and the inbox says what helps', async () => {
  await using project = await forgeProjectHere();
  await project.write('README.md', 'first\n');
  project.git('add', '-A');
  project.git('commit', '-qm', 'first');
  const script = ['bash', '-c', 'echo "$FORGE_TASK_ID" > ok.txt'].map((word) => `--command=${word}`);
  await project.text('agent', 'add', 'w1', '--executor', 'shell', ...script);
  const { id } = await project.create('Theirs', '--ci-step', 'test -f ok.txt');
  const items = async (): Promise<string[]> =>
    (await project.json<InboxItem[]>('inbox')).map(({ message, command }) => `${message}; ${command}`);
  // As it is on a machine to which the task came by a pull.
  await project.text('trust', '--revoke');
  const untrusted = 'Nobody has trusted this command here: test -f ok.txt';
  const refused = { code: 'untrusted', message: untrusted, hint: 'forge trust' };
  expect((await project.fails('run', id, '--agent', 'w1', '--merge')).error).toMatchObject(refused);
  const before = await project.json<TaskView>('task', 'show', id);
  expect(before).toMatchObject({ state: 'todo', assignee: null, counters: { attempts: 0 } });

  // Where trust is taken back while the agent is at work, the task waits for it.
  await project.text('trust', '--yes');
  const waiting = ['bash', '-c', 'until test -e go; do sleep 0.1; done; echo x > ok.txt'];
  const words = waiting.map((word) => `--command=${word}`);
  await project.text('agent', 'add', 'w2', '--executor', 'shell', ...words);
  const running = project.program.run('run', id, '--agent', 'w2', '--merge');
  const runs = (): Promise<{ state: string }[]> => project.json('runs', 'list', '--task', id);
  await expect.poll(async () => (await runs()).at(-1)?.state).toBe('running');
  const [attempt] = await project.json<Attempt[]>('task', 'attempts', id);
  await project.text('trust', '--revoke');
  writeFileSync(join(attempt?.path ?? '', 'go'), '');
  expect((await running).exit).toBe(1);
  expect((await project.json<TaskView>('task', 'show', id)).wait).toEqual({
    message: untrusted,
    command: 'forge trust',
  });
  expect(await items()).toEqual([`${untrusted}; forge trust`]);
  await project.text('trust', '--yes');
  expect(await items()).toEqual([
    `its commands are trusted now, and were not when they were to run; forge task transition ${id} todo`,
  ]);
  await project.text('task', 'transition', id, 'todo');
  expect(await project.text('run', id, '--agent', 'w1', '--merge')).toContain(`${id} is in done`);
});

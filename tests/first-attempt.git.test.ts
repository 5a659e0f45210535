import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import type { Attempt, Run } from '#contract/attempt.ts';
import type { Task } from '#contract/task.ts';
import { EXECUTOR_TYPES, type ExecutorType } from '#executors/executor-types.ts';
import { startProjectHttp, type ProjectHttp } from './support/http-server.ts';
import { shareOf } from './support/share-of.ts';
import { callTool } from './support/surface-callers.ts';
import { runTestGit } from './support/temp-repo.ts';

const TYPES: readonly ExecutorType[] = EXECUTOR_TYPES;
/** Those that need to be told nothing. */
const READY = TYPES.filter(({ options }) => (options as { required: string[] }).required.length === 0);
const NAMES = READY.map(({ kind }) => kind);

it.each(shareOf([...NAMES, 'CLAUDE_CODE', 'GEMINI_CLI'], 4))(
  '[S396] start_task_attempt starts %s where no agent was registered before',
  async (executor) => {
    await using http = await startOnFreshHome();
    const { id } = await operate<Task>(http, 'task.create', { title: 'First' });
    expect(await operate(http, 'agent.list', {})).toEqual([]);
    const started = (await callTool(http, {
      tool: 'start_task_attempt',
      input: { task_id: id, executor },
    })) as { attempt_id: string; run_id: string; attempt: Attempt; task: Task };
    const kind = executor.toLowerCase().replace(/_(cli|code)$/, '');
    expect(started).toMatchObject({ attempt: { task_id: id, agent: kind }, task: { assignee: kind } });
    expect(await operate<Run[]>(http, 'run.list', { task: id })).toMatchObject([
      { id: started.run_id, attempt_id: started.attempt_id, agent: kind, executor: kind },
    ]);
    expect(await operate(http, 'agent.list', {})).toMatchObject([
      { name: kind, profile: { executor: kind } },
    ]);
    // The next one is the same agent's.
    await settle(http);
    const second = await operate<Task>(http, 'task.create', { title: 'Second' });
    expect(
      await callTool(http, { tool: 'start_task_attempt', input: { task_id: second.id, executor } }),
    ).toMatchObject({ task: { assignee: kind } });
    expect(await operate(http, 'agent.list', {})).toHaveLength(1);
    await settle(http);
  },
);

it.each(shareOf(['acp', 'shell', 'script', 'nonsense'], 3))(
  'start_task_attempt claims nothing for %s, and registers nobody',
  async (executor) => {
    await using http = await startOnFreshHome();
    const { id } = await operate<Task>(http, 'task.create', { title: 'First' });
    const code = executor === 'nonsense' ? 'not_found' : 'invalid_input';
    expect(
      await callTool(http, { tool: 'start_task_attempt', input: { task_id: id, executor } }),
    ).toMatchObject({ error: { code, hint: expect.stringContaining('forge agent') as string } });
    expect(await operate(http, 'task.show', { id })).toMatchObject({ status: 'open', assignee: null });
    expect(await operate(http, 'agent.list', {})).toEqual([]);
  },
);

it('an agent of that name that somebody else starts stays what it is', async () => {
  await using http = await startOnFreshHome();
  await operate(http, 'agent.add', { name: 'claude' });
  const { id } = await operate<Task>(http, 'task.create', { title: 'First' });
  expect(
    await callTool(http, { tool: 'start_task_attempt', input: { task_id: id, executor: 'claude' } }),
  ).toMatchObject({ error: { code: 'not_found' } });
  expect(await operate(http, 'agent.list', {})).toMatchObject([{ name: 'claude', profile: null }]);
});

/** With programs of their names that end at once: nothing of this machine is started. */
async function startOnFreshHome(): Promise<ProjectHttp> {
  const http = await startProjectHttp();
  runTestGit(http.root, ['add', '-A']);
  runTestGit(http.root, ['commit', '-qm', 'first']);
  const programs = join(http.home, 'programs');
  mkdirSync(programs, { recursive: true });
  for (const { cli } of READY)
    if (cli !== undefined) writeFileSync(join(programs, cli.program), '#!/bin/sh\nexit 1\n', { mode: 0o755 });
  Object.assign(http.env, { PATH: `${programs}:${http.env['PATH'] ?? ''}` });
  return http;
}

async function settle(http: ProjectHttp): Promise<void> {
  for (const project of http.projects.list()) await (await project.workshop()).settled();
}

async function operate<T = unknown>(http: ProjectHttp, name: string, input: object): Promise<T> {
  const path = `/api/v1/operations/${name}`;
  return (await http.ask({ method: 'POST', path, token: http.admin, body: input })).json as T;
}

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Run } from '#contract/attempt.ts';
import type { Task } from '#contract/task.ts';
import { readOwnIdentity } from '#process/process-identity.ts';
import { type ProjectHttp, startProjectHttp } from './support/http-server.ts';

let http: ProjectHttp;
let task: Task;
let run: Run;
beforeAll(async () => {
  http = await startProjectHttp();
  const made = await ask('POST', '/tasks', { title: 'Long' });
  task = made.json as Task;
  await ask('POST', `/tasks/${task.id}/claim`, { assignee: 'user-ann' });
  run = await makeRun();
});
afterAll(async () => http[Symbol.asyncDispose]());

const ask = (method: string, path: string, body?: unknown, token = http.admin) =>
  http.ask({ method, path: `/api/v1${path}`, token, ...(body !== undefined && { body }) });

describe('/executions', () => {
  it('shows runs, their attempt and their log to readers', async () => {
    const { token } = await http.token('read');
    const [list, one, logs] = await Promise.all([
      ask('GET', `/executions?task=${task.id}&open=true`, undefined, token),
      ask('GET', `/executions/${run.id}`, undefined, token),
      ask('GET', `/executions/${run.id}/logs?offset=0&limit=5`, undefined, token),
    ]);
    expect(list.json).toEqual([run]);
    expect(one.json).toMatchObject({ ...run, attempt: { id: run.attempt_id }, approvals: [] });
    expect(logs.json).toMatchObject({ run_id: run.id, lines: [], next_offset: 0, ended: false });
    expect((await ask('GET', `/tasks/${task.id}/attempts`)).json).toMatchObject([{ id: run.attempt_id }]);
    expect((await ask('GET', `/tasks/${task.id}/reviews`)).json).toEqual([]);
  });

  it('lets nobody touch them without the right to run programs, and no agent', async () => {
    const tokens = [(await http.token('task')).token, (await http.token('task', 'worker-1')).token];
    for (const token of tokens) {
      for (const verb of ['stop', 'approve', 'deny', 'forget', 'messages']) {
        const body = verb === 'messages' ? { text: 'x' } : {};
        const { status } = await ask('POST', `/executions/${run.id}/${verb}`, body, token);
        expect([verb, status]).toEqual([verb, 403]);
      }
    }
  });

  it('takes messages for the agent', async () => {
    const { token } = await http.token('exec');
    const said = await ask('POST', `/executions/${run.id}/messages`, { text: 'Shorter' }, token);
    expect([said.status, said.json]).toMatchObject([201, { reaches: 'now' }]);
    expect((await ask('POST', `/executions/${run.id}/messages`, { text: ' ' }, token)).status).toBe(400);
  });

  it('[S377] [S378] POST /executions/{id}/stop keeps the state of the task and says why it waits', async () => {
    const before = (await ask('GET', `/tasks/${task.id}`)).json as Task;
    const stopped = await ask('POST', `/executions/${run.id}/stop`, {});
    expect([stopped.status, stopped.json]).toMatchObject([
      200,
      { run: { id: run.id }, task: { state: before.state } },
    ]);
    expect((await ask('GET', `/tasks/${task.id}`)).json).toMatchObject({
      state: before.state,
      assignee: before.assignee,
      error_annotation: { code: 'stopped' },
    });
    expect((await ask('POST', `/executions/${run.id}/stop`, {})).status).toBe(409);
    // A long poll of something that is over does not wait.
    const logs = await ask('GET', `/executions/${run.id}/logs?follow=true`);
    expect(logs.json).toMatchObject({ ended: true, followed: false });
  });
});

/** As a process that was killed leaves it. */
async function makeRun(): Promise<Run> {
  const [project] = http.projects.list();
  if (project === undefined) throw new Error('no project');
  return project.use(async ({ store }) => {
    const by = { actor: { kind: 'user', name: 'ann', named: true }, now: Date.now() } as const;
    const { id: attempt_id, created_at } = await store.startAttempt(
      {
        id: crypto.randomUUID(),
        task_id: task.id,
        name: '0000-long',
        path: '/nowhere/0000-long',
        target: 'main',
        base_commit: 'a'.repeat(40),
        agent: 'worker-1',
        port: null,
      },
      by,
    );
    await store.changeAttempt({ id: attempt_id, removed_at: created_at }, by);
    const { id } = await store.createRun(
      {
        id: crypto.randomUUID(),
        attempt_id,
        role: 'coder',
        agent: 'worker-1',
        executor: 'shell',
        fence: null,
        in_state: null,
        state: 'scheduled',
        session_id: null,
        watcher: { ...readOwnIdentity(), start_time: 1 },
      },
      by,
    );
    return store.moveRun({ id, to: 'running' }, by);
  });
}

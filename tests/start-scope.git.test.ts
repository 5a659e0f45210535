import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Task } from '#contract/task.ts';
import { type HttpAnswer, type ProjectHttp, startProjectHttp } from './support/http-server.ts';
import { runTestGit } from './support/temp-repo.ts';

let http: ProjectHttp;
let writer: string;
let own: string;
let runner: string;
beforeAll(async () => {
  http = await startProjectHttp();
  runTestGit(http.root, ['add', '-A']);
  runTestGit(http.root, ['commit', '-qm', 'first']);
  // It does nothing, and Forge starts it.
  await operate('agent.add', { name: 'hand', executor: 'null' }, http.admin);
  await operate('agent.add', { name: 'outside' }, http.admin);
  writer = (await http.token('task')).token;
  own = (await http.token('task', 'hand')).token;
  runner = (await http.token('exec')).token;
});
afterAll(async () => http[Symbol.asyncDispose]());

const operate = (name: string, body: object, token: string): Promise<HttpAnswer> =>
  http.ask({ method: 'POST', path: `/api/v1/operations/${name}`, token, body });

async function newTask(): Promise<string> {
  return ((await operate('task.create', { title: 'Work' }, http.admin)).json as Task).id;
}

const WAYS: readonly [string, string, (id: string) => object][] = [
  ['an attempt', 'attempt.start', (id) => ({ id, agent: 'hand' })],
  ['a claim', 'task.claim', (id) => ({ id, assignee: 'hand' })],
  ['a claim of a registered agent', 'task.claim', (id) => ({ id, agent_id: 'hand' })],
  ['the claim of what is next', 'task.claim', () => ({ next: true, assignee: 'hand' })],
  ['an update', 'task.update', (id) => ({ id, status: 'in_progress', assignee: 'hand' })],
];

describe('to start the program of an agent', () => {
  it.each(WAYS)('by %s (%s) needs the scope exec', async (_what, operation, toInput) => {
    const id = await newTask();
    for (const token of [writer, own]) {
      const refused = await operate(operation, toInput(id), token);
      expect([refused.status, refused.json]).toMatchObject([403, { code: 'permission_denied' }]);
    }
    const { json } = await operate('task.show', { id }, writer);
    expect(json).toMatchObject({ status: 'open', assignee: null });
    expect((await operate('run.list', { task: id }, writer)).json).toEqual([]);
  });

  it('by handing on a task that is worked on, or by a move, needs it too', async () => {
    const id = await newTask();
    expect((await operate('task.claim', { id, assignee: 'outside' }, writer)).status).toBe(200);
    const handed = await operate('task.update', { id, assignee: 'hand' }, writer);
    expect([handed.status, handed.json]).toMatchObject([
      403,
      { code: 'permission_denied', hint: 'forge token create --scope exec', details: { needed: 'exec' } },
    ]);
    const forced = await operate('task.claim', { id, assignee: 'hand', force: true }, writer);
    expect(forced.status).toBe(403);
    // What is only kept for the agent starts nothing; the move that begins it does.
    const kept = await newTask();
    expect((await operate('task.update', { id: kept, assignee: 'hand' }, writer)).status).toBe(200);
    const moved = await operate('task.transition', { id: kept, state: 'in_progress' }, writer);
    expect([moved.status, moved.json]).toMatchObject([403, { code: 'permission_denied' }]);
    expect((await operate('task.show', { id: kept }, writer)).json).toMatchObject({ status: 'open' });
  });

  it('is done with that scope; agents that start themselves need none', async () => {
    const id = await newTask();
    const started = await operate('task.claim', { id, assignee: 'hand' }, runner);
    expect([started.status, started.json]).toMatchObject([200, { assignee: 'hand' }]);
    expect((await operate('run.list', { task: id }, writer)).json).toMatchObject([{ agent: 'hand' }]);
    const other = await newTask();
    const plain = await operate('task.claim', { id: other, assignee: 'outside' }, writer);
    expect(plain.status).toBe(200);
  });
});

describe('to pass a review that allows a script which no person has allowed as it is', () => {
  it('needs the scope admin on every surface; a pass that allows nothing needs task', async () => {
    await writeFile(join(http.root, 'ci.sh'), 'true\n');
    runTestGit(http.root, ['add', '-A']);
    runTestGit(http.root, ['commit', '-qm', 'checks']);
    const command = ['bash', '-c', 'echo true >> ci.sh; git commit -qam mine'];
    await operate('agent.add', { name: 'sly', executor: 'shell', command }, http.admin);
    const id = await waitingReview('sly');
    const reviewer = await http.token('task');
    const said = { verdict: 'pass' };
    const body = { jsonrpc: '2.0', id: 1, method: 'tools/call' };
    const call = { ...body, params: { name: 'forge_review', arguments: { id, ...said } } };
    const accept = 'application/json, text/event-stream';
    for (const token of [reviewer.token, runner]) {
      const rest = { method: 'POST', path: `/api/v1/tasks/${id}/verdict`, token, body: said };
      for (const refused of [await operate('task.review', { id, ...said }, token), await http.ask(rest)])
        expect([refused.status, refused.json]).toMatchObject([
          403,
          { code: 'permission_denied', details: { needed: 'admin' } },
        ]);
      const tool = await http.ask({ method: 'POST', path: '/mcp', token, body: call, headers: { accept } });
      expect(tool.text).toContain('that needs a token with the scope admin');
    }
    expect((await operate('task.show', { id }, http.admin)).json).toMatchObject({ state: 'review' });
    expect((await operate('task.review', { id, ...said }, http.admin)).status).toBe(200);
    // The same bytes, which a person has allowed by now.
    const again = await waitingReview('sly');
    expect((await operate('task.review', { id: again, ...said }, reviewer.token)).status).toBe(200);
  });
});

/** A task whose checks would run a script that its agent has changed. */
async function waitingReview(agent: string): Promise<string> {
  const input = { title: 'Sly', review_config: { ci_steps: ['bash ci.sh'] } };
  const { id } = (await operate('task.create', input, http.admin)).json as Task;
  await operate('attempt.start', { id, agent }, http.admin);
  await expect
    .poll(async () => (await operate('task.reviews', { id }, http.admin)).json, { timeout: 20_000 })
    .toMatchObject([{ status: 'waiting' }]);
  return id;
}

import { writeFileSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { toStoreFiles } from '#store/store-location.ts';
import type { Attempt, AttemptView, Review, Run } from '#contract/attempt.ts';
import type { Task } from '#contract/task.ts';
import { resumeTasks } from '#engine/resume-tasks.ts';
import { Scheduler } from '#engine/scheduler.ts';
import { toHomePlace } from '#sync/forge-home.ts';
import { trustCommands } from '#sync/trust.ts';
import { type ProjectHttp, startProjectHttp } from './support/http-server.ts';
import { runTestGit } from './support/temp-repo.ts';

/** Rows about work that only a server shows: one project, one server, its agents. */
let http: ProjectHttp;
const STEP = 'test -f made.txt';
beforeAll(async () => {
  http = await startProjectHttp();
  const config = join(http.root, '.forge', 'config.json');
  const written = JSON.parse(readFileSync(config, 'utf8')) as object;
  writeFileSync(config, JSON.stringify({ ...written, review: { ci_steps: [STEP] } }));
  runTestGit(http.root, ['add', '-A']);
  runTestGit(http.root, ['commit', '-qm', 'first']);
  const place = toHomePlace(http.env, join(http.root, '..'));
  await trustCommands({ home: place.home, paths: served().found.paths }, [STEP], {
    now: Date.now(),
    by: 'user:ann',
  });
  await addAgent('maker', 'shell', ['bash', '-c', 'cat > prompt.txt; echo made > made.txt']);
  await addAgent('sleeper', 'shell', ['bash', '-c', 'sleep 600']);
  await addAgent('ada', 'claude', ['/bin/false']);
});
afterAll(async () => {
  await (await served().workshop()).settled();
  await http[Symbol.asyncDispose]();
});

interface Called {
  readonly result: { readonly isError?: boolean; readonly structuredContent: Record<string, unknown> };
}

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

function served() {
  const [project] = http.projects.list();
  if (project === undefined) throw new Error('no project');
  return project;
}

const ask = (method: string, path: string, body?: unknown) =>
  http.ask({ method, path: `/api/v1${path}`, token: http.admin, ...(body !== undefined && { body }) });

async function addAgent(name: string, executor: string, command: readonly string[]): Promise<void> {
  const added = await ask('POST', '/agents', { name, executor, command, permissions: 'all' });
  expect([added.status, added.json]).toMatchObject([200, { outcome: 'added' }]);
}

async function call(name: string, args: object): Promise<Called['result']> {
  const body = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: args } };
  const accept = 'application/json, text/event-stream';
  const answer = await http.ask({
    method: 'POST',
    path: '/mcp',
    token: http.admin,
    body,
    headers: { accept },
  });
  return (answer.json as Called).result;
}

async function create(title: string): Promise<Task> {
  const { structuredContent } = await call('forge_create_task', { title });
  return structuredContent as unknown as Task; // the declared output
}

async function settled(id: string): Promise<Task> {
  await (await served().workshop()).settled(id);
  return (await ask('GET', `/tasks/${id}`)).json as Task;
}

describe('a task that an agent creates', () => {
  it('[S352] [S353] [S211] has the project’s primary repository and what review asks there', async () => {
    const { id } = await create('By MCP');
    expect(await call('forge_assign_agent', { task_id: id, agent_id: 'maker' })).toMatchObject({
      structuredContent: { assignee: 'maker', state: 'in_progress' },
    });
    const reviewed = await settled(id);
    expect(reviewed).toMatchObject({ state: 'review', review_passed_at: expect.any(String) as string });
    const reviews = (await ask('GET', `/tasks/${id}/reviews`)).json as Review[];
    expect(reviews).toMatchObject([{ step_results: [{ command: STEP, exit_code: 0 }] }]);
    const [attempt] = (await ask('GET', `/tasks/${id}/attempts`)).json as Attempt[];
    const [repo] = (await ask('GET', '/repos')).json as { path: string; primary: boolean }[];
    expect(repo).toMatchObject({ path: http.root, primary: true });
    const branch = runTestGit(repo?.path ?? '', ['show', `${attempt?.branch}:made.txt`]);
    expect(branch.trim()).toBe('made');
    const runs = (await ask('GET', `/executions?task=${id}`)).json as Run[];
    // DESIGN decides: tasks have short ids, agents their names, all else UUIDs.
    for (const one of [...reviews, ...runs, attempt]) expect(one?.id).toMatch(UUID);
  });

  it('is worked on several times at once by a server, and one of the attempts is picked', async () => {
    const { id } = await create('Side by side');
    const started = await ask('POST', `/tasks/${id}/attempts`, { agents: ['maker'], attempts: 2 });
    expect([started.status, started.json]).toMatchObject([201, { run_id: expect.stringMatching(UUID) }]);
    expect((await settled(id)).error_annotation?.code).toBe('pick_attempt');
    const listed = (await ask('GET', `/tasks/${id}/attempts`)).json as AttemptView[];
    expect(listed.map(({ result }) => result)).toEqual(['green', 'green']);
    expect((started.json as { attempts: Attempt[] }).attempts).toHaveLength(2);
    const compared = await ask('GET', `/tasks/${id}/attempts/compare`);
    expect(compared.json).toMatchObject({ task_id: id, files: [{ path: 'made.txt', same: true }, {}] });
    const picked = await ask('POST', `/attempts/${listed[0]?.id}/pick`, {});
    expect([picked.status, picked.json]).toMatchObject([
      200,
      { reached: true, task: { state: 'review' }, attempts: [{ state: 'active' }, { state: 'archived' }] },
    ]);
  });

  it('[S133] [S134] is started by the name of an executor, as people spell it', async () => {
    const { id } = await create('By executor');
    const started = await call('start_task_attempt', { task_id: id, executor: 'CLAUDE_CODE' });
    expect(started).toMatchObject({
      structuredContent: { attempt_id: expect.stringMatching(UUID) as string, attempt: { agent: 'ada' } },
    });
    expect((await ask('GET', `/executions?task=${id}`)).json).toMatchObject([{ executor: 'claude' }]);
    await settled(id);
    const unknown = await call('start_task_attempt', { task_id: id, executor: 'NOBODY_CLI' });
    expect(unknown).toMatchObject({ isError: true, structuredContent: { error: { code: 'not_found' } } });
  });

  it('[S141] is moved by the words todo, in-progress and complete', async () => {
    const { id } = await create('By words');
    for (const [status, meant] of [
      ['in-progress', 'in_progress'],
      ['todo', 'open'],
      ['complete', 'closed'],
    ]) {
      const moved = await call('update_task', { task_id: id, status });
      expect([status, moved]).toMatchObject([status, { structuredContent: { id, status: meant } }]);
    }
    const patched = await ask('PATCH', `/tasks/${id}`, { status: 'somewhere' });
    expect(patched).toMatchObject({ status: 400, json: { code: 'invalid_input' } });
  });
});

describe('a run that somebody stopped', () => {
  it('[S379] is not begun again by anything but an action of theirs', async () => {
    const { id } = await create('Stopped');
    await ask('POST', `/tasks/${id}/claim`, { agent_id: 'sleeper' });
    const list = async (): Promise<Run[]> => (await ask('GET', `/executions?task=${id}`)).json as Run[];
    await expect.poll(async () => (await list())[0]?.pid ?? null, { timeout: 20_000 }).not.toBeNull();
    expect(await ask('POST', `/executions/${(await list())[0]?.id}/stop`, {})).toMatchObject({ status: 200 });
    const workshop = await served().workshop();
    const scheduler = new Scheduler(workshop, { merge: false, tell: () => undefined });
    for (let look = 0; look < 3; look += 1) {
      await resumeTasks(workshop, { unwatched_ms: 0 });
      await scheduler.tick();
    }
    expect(await settled(id)).toMatchObject({
      state: 'in_progress',
      assignee: 'sleeper',
      error_annotation: { code: 'stopped' },
    });
    expect(await list()).toHaveLength(1);
    const recovered = await ask('POST', `/tasks/${id}/roles/coder`, { agent_id: 'maker' });
    expect([recovered.status, recovered.json]).toMatchObject([200, {}]);
    expect(await settled(id)).toMatchObject({ state: 'todo' });
    const again = await ask('POST', `/tasks/${id}/claim`, { agent_id: 'maker' });
    expect([again.status, again.json]).toMatchObject([200, { state: 'in_progress' }]);
    expect(await settled(id)).toMatchObject({ state: 'review' });
    expect(await list()).toHaveLength(2);
  });
});

describe('the guards of a claim', () => {
  it('[S356] let one of a thousand through, and none past an open dependency', async () => {
    const [free, blocked, first] = [await create('Free'), await create('Blocked'), await create('First')];
    await ask('POST', `/tasks/${blocked.id}/dependencies`, { depends_on_id: first.id });
    const claims = Array.from({ length: 1_000 }, (_, at) =>
      ask('POST', `/tasks/${(at % 2 === 0 ? free : blocked).id}/claim`, { assignee: `agent-${at}` }),
    );
    const codes = (await Promise.all(claims)).map(({ status, json }) =>
      status === 200 ? 'claimed' : (json as { code: string }).code,
    );
    const count = (code: string): number => codes.filter((one) => one === code).length;
    expect([count('claimed'), count('claim_conflict'), count('dependency_gate')]).toEqual([1, 499, 500]);
    const moves = (await ask('GET', `/tasks/${free.id}/transitions`)).json as unknown[];
    expect(moves).toHaveLength(1);
  });
});

describe('what agents are made of', () => {
  it('[S229] [S230] has routes: profiles, and the types of executors with what each takes', async () => {
    const types = (await ask('GET', '/executor_types')).json as { kind: string; options: object }[];
    expect(types.map(({ kind }) => kind)).toEqual(
      expect.arrayContaining(['claude', 'codex', 'gemini', 'opencode', 'shell', 'null']),
    );
    for (const { options } of types) expect(options).toMatchObject({ type: 'object' });
    const profile = { name: 'careful', executor: 'claude', model: 'opus', env: ['KEY=secret'] };
    expect(await ask('POST', '/profiles', profile)).toMatchObject({ status: 200 });
    const shown = await ask('GET', '/profiles/careful');
    expect(shown.json).toMatchObject({ profile: { executor: 'claude', model: 'opus' }, env: ['KEY'] });
    expect((await ask('GET', '/profiles')).json).toEqual([shown.json]);
    expect(shown.text).not.toContain('secret');
    await ask('POST', '/agents', { name: 'eve', profile: 'careful' });
    expect((await ask('DELETE', '/profiles/careful')).status).toBe(409);
  });

  it('[S209] has a version, and of two changes of one version the second is refused', async () => {
    const { json } = await ask('POST', '/agents', { name: 'two', description: 'first' });
    const { version } = json as { version: number };
    const change = (description: string) => ask('POST', '/agents', { name: 'two', description, version });
    expect(await change('second')).toMatchObject({ status: 200, json: { version: version + 1 } });
    expect(await change('third')).toMatchObject({ status: 409, json: { code: 'version_conflict' } });
    expect((await ask('GET', '/agents/two')).json).toMatchObject({ description: 'second' });
  });
});

it('[S215] the tables of work are there, under the names that DESIGN gives them', async () => {
  const { DatabaseSync } = await import('node:sqlite');
  const { database } = toStoreFiles(served().found.paths.store);
  expect(basename(database)).toBe('forge.db');
  using db = new DatabaseSync(database, { readOnly: true });
  const tables = db.prepare("SELECT name FROM sqlite_schema WHERE type = 'table'").all();
  expect(tables.map(({ name }) => name)).toEqual(
    expect.arrayContaining(['runs', 'reviews', 'attempts', 'merges', 'transitions']),
  );
  // DESIGN decides: roles are a part of their task's record, agents belong to the person's home and not to a project.
  const { id } = await create('With a role');
  const reviewer = { agent: 'maker' };
  const assigned = await ask('POST', `/tasks/${id}/roles/reviewer`, { agent_id: 'maker' });
  expect([assigned.status, assigned.json]).toMatchObject([200, { roles: { reviewer } }]);
  const row = db.prepare('SELECT extra FROM tasks WHERE id = ?').get(id);
  expect(JSON.parse(String(row?.['extra']))).toMatchObject({ 'role:reviewer': reviewer });
  expect((await ask('GET', `/tasks/${id}/roles`)).json).toContainEqual({
    role: 'reviewer',
    holder: reviewer,
    from: 'assigned',
  });
  expect((await ask('GET', '/agents')).json).toContainEqual(expect.objectContaining({ name: 'maker' }));
});

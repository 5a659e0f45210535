import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  type HttpAnswer,
  type ProjectHttp,
  startHttp,
  startProjectHttp,
} from '../../../tests/support/http-server.ts';
import { ERROR_CODES, ForgeError } from '#kernel/errors.ts';

let http: ProjectHttp;
beforeAll(async () => {
  http = await startProjectHttp();
  for (const name of ['worker-1', 'worker-2']) await send('POST', '/agents', { name });
});
afterAll(async () => http[Symbol.asyncDispose]());

interface Json {
  readonly [key: string]: unknown;
}

const B = '/api/v1';

async function send(method: string, path: string, body?: unknown, token = http.admin): Promise<HttpAnswer> {
  return http.ask({ method, path: `${B}${path}`, token, ...(body !== undefined && { body }) });
}

async function get(path: string, token = http.admin): Promise<HttpAnswer> {
  return http.ask({ path: `${B}${path}`, token });
}

async function create(title: string, more: object = {}): Promise<Json & { id: string; version: number }> {
  const { status, json } = await send('POST', '/projects/fg/tasks', { title, ...more });
  expect([status, json]).toMatchObject([201, { title }]);
  return json as Json & { id: string; version: number };
}

describe('[S153] [S213] [S226] the resources', () => {
  it('are there under /api/v1', async () => {
    const [served] = http.projects.list();
    const project = { name: 'demo', prefix: 'fg', path: served?.path, paused_at: null };
    expect((await get('/projects')).json).toEqual([project]);
    expect((await get('/projects/fg')).json).toEqual(project);
    expect((await get('/projects/demo')).json).toEqual(project);
    expect(await get('/projects/xx')).toMatchObject({ status: 404, json: { code: 'not_found' } });
    for (const path of [
      '/tasks',
      '/projects/fg/tasks',
      '/projects/demo/tasks?status=open',
      '/tasks?project=fg',
    ])
      expect([path, (await get(path)).status]).toEqual([path, 200]);
    for (const path of ['/profiles', '/executor_types'])
      expect([path, (await get(path)).status]).toEqual([path, 200]);
    for (const path of ['/agents', '/skills', '/projects/fg/skills', '/tokens', '/batches', '/tasks/ready'])
      expect([path, (await get(path)).status]).toEqual([path, 200]);
    expect((await get('/repos')).json).toEqual([{ name: 'project', path: served?.path, primary: true }]);
  });

  it.each(['daemons', 'runtimes'])('[S227] have %s: none where nothing can run work', async (name) => {
    expect(await get(`/${name}`)).toMatchObject({ status: 200, json: [] });
  });

  it('[S315] say without a token that the server lives, and nothing more', async () => {
    const { status, text, headers } = await http.ask({ path: '/api/status' });
    expect([status, text]).toEqual([200, '{"status":"ok"}']);
    expect(headers).not.toHaveProperty('server');
    expect(headers).not.toHaveProperty('x-powered-by');
    expect(await http.ask({ path: '/api/status?challenge=short' })).toMatchObject({ status: 400 });
    expect(await http.ask({ path: '/api/status?token=x' })).toMatchObject({ status: 400 });
    // One that has no token of its own proves nothing.
    const asked = await http.ask({ path: `/api/status?challenge=${'0f'.repeat(32)}` });
    expect([asked.status, asked.json]).toEqual([200, { status: 'ok' }]);
  });

  it('[S159] [S157] bear a request id, in errors also in the body', async () => {
    const fine = await get('/projects');
    expect(fine.headers['forge-request-id']).toMatch(/^[0-9a-f-]{36}$/);
    const wrong = await get('/tasks/fg-nope');
    expect(wrong.json).toEqual({
      code: 'not_found',
      message: expect.stringContaining('fg-nope'),
      hint: expect.any(String),
      details: expect.any(Object),
      request_id: wrong.headers['forge-request-id'],
    });
    expect(wrong.headers['forge-request-id']).not.toBe(fine.headers['forge-request-id']);
  });

  it('bear the headers that keep a browser from misreading them', async () => {
    for (const { headers } of [
      await get('/tasks'),
      await get('/nope'),
      await http.ask({ path: '/api/status' }),
    ]) {
      expect(headers).toMatchObject({
        'content-type': 'application/json; charset=utf-8',
        'cache-control': 'no-store',
        'x-content-type-options': 'nosniff',
        'x-frame-options': 'DENY',
        'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
      });
    }
  });

  it('know their methods', async () => {
    const wrong = await send('PUT', '/tasks', {});
    expect([wrong.status, wrong.headers.allow, wrong.json]).toMatchObject([
      405,
      'GET, HEAD, POST',
      { code: 'method_not_allowed' },
    ]);
    const task = await create('look at me');
    const whole = await get(`/tasks/${task.id}`);
    const head = await http.ask({ method: 'HEAD', path: `${B}/tasks/${task.id}`, token: http.admin });
    expect([head.status, head.text, head.headers['content-length']]).toEqual([
      200,
      '',
      String(Buffer.byteLength(whole.text)),
    ]);
    // A word that asks for another method changes nothing.
    await http.ask({
      method: 'POST',
      path: `${B}/tasks/${task.id}/comments`,
      token: http.admin,
      body: { body: 'x' },
      headers: { 'x-http-method-override': 'DELETE' },
    });
    expect((await get(`/tasks/${task.id}`)).status).toBe(200);
  });

  it('[S158] give each error the one status of its code', async () => {
    const task = await create('errors');
    const cases: [HttpAnswer, keyof typeof ERROR_CODES][] = [
      [await get('/tasks/fg-zzzz9'), 'not_found'],
      [await send('POST', '/tasks', { title: '' }), 'invalid_input'],
      [await send('PATCH', `/tasks/${task.id}`, { title: 'x', version: 99 }), 'version_conflict'],
      [await send('POST', `/tasks/${task.id}/reopen`, {}), 'state_invalid'],
      [await send('POST', '/tokens/nope/rotate', {}), 'not_found'],
      [await http.ask({ path: `${B}/tasks` }), 'unauthorized'],
    ];
    for (const [answer, code] of cases)
      expect([answer.status, (answer.json as Json)['code']]).toEqual([ERROR_CODES[code].http, code]);
  });

  it('[S158] for every code there is', async () => {
    const codes = Object.keys(ERROR_CODES) as (keyof typeof ERROR_CODES)[];
    let thrown: keyof typeof ERROR_CODES = 'internal';
    const caller = { call: async () => Promise.reject(new ForgeError(thrown, 'No')) };
    await using stub = await startHttp({ deps: { caller } });
    const answers: unknown[] = [];
    for (thrown of codes) {
      const { status, json } = await stub.ask({
        path: `${B}/tasks`,
        token: (await stub.token('admin')).token,
      });
      answers.push([thrown, status, (json as Json)['code']]);
    }
    expect(answers).toEqual(codes.map((code) => [code, ERROR_CODES[code].http, code]));
    expect(new Set(codes.map((code) => ERROR_CODES[code].http)).size).toBeGreaterThan(8);
  });

  it('[S179] a guard that blocks gives 412', async () => {
    const blocker = await create('first');
    const task = await create('second', { depends_on: [blocker.id] });
    await send('PATCH', `/tasks/${task.id}`, { assignee: 'worker-1' });
    const answer = await send('POST', `/tasks/${task.id}/transition`, { status: 'in_progress' });
    expect(answer).toMatchObject({ status: 412, json: { details: { action: 'dependency_gate' } } });
  });
});

describe("seed 004's requests, as printed", () => {
  it('[S350] create a task with its review configuration', async () => {
    const { status, json } = await send('POST', '/projects/fg/tasks', {
      title: 'Add rate limiting',
      description: 'Add per-IP rate limiting to POST /api/v1/auth/login.',
      review_config: { ci_steps: ['cargo test -p api --test auth'] },
    });
    expect([status, json]).toMatchObject([
      201,
      { title: 'Add rate limiting', state: 'todo', status: 'open' },
    ]);
  });

  it('[S355] [S358] claim for an agent, or for whoever asks', async () => {
    const one = await create('for an agent');
    const claimed = await send('POST', `/tasks/${one.id}/claim`, { agent_id: 'worker-1', overrides: null });
    expect([claimed.status, claimed.json]).toMatchObject([200, { assignee: 'worker-1', claimed: true }]);
    const lost = await send('POST', `/tasks/${one.id}/claim`, { agent_id: 'worker-2', overrides: null });
    expect([lost.status, lost.json]).toMatchObject([409, { code: 'claim_conflict' }]);
    const two = await create('for a person');
    expect((await send('POST', `/tasks/${two.id}/claim`, {})).json).toMatchObject({ assignee: 'ann' });
    expect((await send('POST', `/tasks/${two.id}/claim`)).status).toBe(200);
  });

  it('[S361] are refused while a dependency is open, [S391] added and listed', async () => {
    const task = await create('dependent');
    const other = await create('dependency');
    const added = await send('POST', `/tasks/${task.id}/dependencies`, { depends_on_id: other.id });
    expect([added.status, added.json]).toMatchObject([
      200,
      { from_id: task.id, to_id: other.id, added: true },
    ]);
    expect((await get(`/tasks/${task.id}/dependencies`)).json).toMatchObject([
      { id: other.id, type: 'blocks', resolved: { title: 'dependency' } },
    ]);
    const gate = await send('POST', `/tasks/${task.id}/claim`, { agent_id: 'worker-1', overrides: null });
    expect([gate.status, gate.json]).toMatchObject([409, { code: 'dependency_gate' }]);
    const back = await send('POST', `/tasks/${other.id}/dependencies`, { depends_on_id: task.id });
    expect([back.status, back.json]).toMatchObject([409, { code: 'dependency_cycle' }]);
    expect((await send('DELETE', `/tasks/${task.id}/dependencies/${other.id}`)).json).toMatchObject({
      removed: ['blocks'],
    });
  });

  it('[S367] [S368] [S208] move a task by its version, and only by that', async () => {
    const { id, version } = await create('moved');
    const claimed = await send('POST', `/tasks/${id}/claim`, {});
    const now = (claimed.json as { version: number }).version;
    const stale = await send('POST', `/tasks/${id}/transition`, { status: 'todo', version });
    expect([stale.status, stale.json]).toMatchObject([409, { code: 'version_conflict' }]);
    const moved = await send('POST', `/tasks/${id}/transition`, { status: 'todo', version: now });
    expect([moved.status, moved.text]).toMatchObject([200, expect.stringContaining('"todo"')]);
    const edited = await get(`/tasks/${id}`);
    const { version: third } = edited.json as { version: number };
    expect((await send('PATCH', `/tasks/${id}`, { title: 'a', version: third })).status).toBe(200);
    const late = await send('PATCH', `/tasks/${id}`, { title: 'b', version: third });
    expect([late.status, late.json]).toMatchObject([409, { code: 'version_conflict' }]);
  });

  it('[S376] [S314] cancel it, show it, [S388] archive it', async () => {
    const { id } = await create('not needed');
    expect((await send('POST', `/tasks/${id}/cancel`, {})).status).toBe(200);
    expect((await get(`/tasks/${id}`)).json).toMatchObject({ status: 'closed', state: 'cancelled' });
    expect((await send('POST', `/tasks/${id}/archive`, {})).status).toBe(200);
    const listed = async (query: string) =>
      ((await get(`/tasks?all=true&limit=1000${query}`)).json as { id: string }[]).some(
        (one) => one.id === id,
      );
    expect(await listed('')).toBe(false);
    expect(await listed('&include_archived=true')).toBe(true);
  });

  it('[S201] [S390] show the log of every move', async () => {
    const { id } = await create('logged');
    await send('POST', `/tasks/${id}/claim`, {});
    const { status, json } = await get(`/tasks/${id}/transitions`);
    expect(status).toBe(200);
    expect((json as Json[]).at(-1)).toMatchObject({
      from_state: 'todo',
      to_state: 'in_progress',
      triggered_by: 'user:ann',
      rejection: false,
    });
  });

  it('[S340] comment in threads', async () => {
    const { id } = await create('talked about');
    const first = await send('POST', `/tasks/${id}/comments`, { body: 'first' });
    expect(first.status).toBe(201);
    const { id: parent } = first.json as { id: string };
    await send('POST', `/tasks/${id}/comments`, { body: 'second', reply_to: parent });
    expect((await get(`/tasks/${id}/comments`)).json).toMatchObject([
      { body: 'first', author: 'ann', reply_to: null },
      { body: 'second', reply_to: parent },
    ]);
  });
});

describe('what is sent', () => {
  it('is refused by name where nobody knows it', async () => {
    const task = await create('strict');
    const cases: [HttpAnswer, string][] = [
      [await get('/tasks?statsu=open'), 'statsu'],
      [await get('/tasks/ready?status=open'), 'status'],
      [await send('POST', '/tasks', { title: 'x', titel: 'y' }), 'titel'],
      [await send('PATCH', `/tasks/${task.id}?title=x`, {}), 'title'],
      [await get('/projects?x=1'), 'x'],
      [await get('/projects/fg/tasks?project=fg'), 'project'],
      [await get('/tasks?status=open&status=closed'), 'status'],
      [await send('PATCH', `/tasks/${task.id}`, { id: 'fg-other' }), 'id'],
      [await send('POST', `/tasks/${task.id}/claim`, { agent_id: 'a', assignee: 'b' }), 'assignee'],
    ];
    for (const [{ status, json }, name] of cases) {
      expect([name, status, json]).toMatchObject([name, 400, { code: 'invalid_input' }]);
      expect((json as { message: string }).message).toContain(name);
    }
    expect((await send('PATCH', `/tasks/${task.id}`, { id: task.id, title: 'same id' })).status).toBe(200);
  });

  it('[A10] never says who asks', async () => {
    const { token } = await http.token('read');
    const { token: worker } = await http.token('task');
    for (const field of ['scope', 'role', 'user', 'actor', 'created_by', 'token', 'agent']) {
      const { status } = await send('POST', '/tasks', { title: 'x', [field]: 'admin' }, worker);
      expect([field, status]).toEqual([field, 400]);
      const read = await send('POST', '/tasks', { title: 'x', [field]: 'admin' }, token);
      expect([field, read.status]).toEqual([field, 403]);
    }
    const answer = await http.ask({
      method: 'POST',
      path: `${B}/tasks`,
      token,
      body: { title: 'x' },
      headers: { 'x-forge-scope': 'admin', 'x-forge-actor': 'root', 'forge-actor': 'root' },
    });
    expect(answer).toMatchObject({ status: 403, json: { code: 'permission_denied' } });
  });

  it('[A3] [A11] becomes a command only by a token that may run programs', async () => {
    const { token: worker } = await http.token('task');
    const { token: runner } = await http.token('exec');
    const { token: agent } = await http.token('task', 'worker-1');
    const review_config = { ci_steps: ['touch /tmp/owned'] };
    const task = await create('guarded');
    for (const token of [worker, agent]) {
      const answers = [
        await send('POST', '/tasks', { title: 'x', review_config }, token),
        await send('PATCH', `/tasks/${task.id}`, { review_config }, token),
        await send('POST', `/tasks/${task.id}/claim`, { overrides: { command: 'sh' } }, token),
        await send('POST', '/operations/task.create', { title: 'x', review_config }, token),
        await send('PUT', '/projects/fg/workflow', { definition: '{}' }, token),
        await send('POST', '/tokens', { scope: 'admin' }, token),
        await send('POST', '/projects/fg/pause', {}, token),
      ];
      expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 403));
    }
    expect((await send('POST', '/tasks', { title: 'x', review_config }, runner)).status).toBe(201);
    const plain = { title: 'x', review_config: { review_prompt: 'look twice' } };
    expect((await send('POST', '/tasks', plain, worker)).status).toBe(201);
  });

  it('[G1] has no key that could be an object’s own', async () => {
    for (const key of ['__proto__', 'constructor']) {
      const bodies = [
        `{"title":"x","${key}":{"polluted":1}}`,
        `{"title":"x","metadata_set":{"${key}":{"polluted":1}}}`,
        `{"title":"x","metadata_set":{"a":[{"${key}":{"prototype":{"polluted":1}}}]}}`,
      ];
      for (const body of bodies)
        expect(await send('POST', '/tasks', body)).toMatchObject({
          status: 400,
          json: { code: 'invalid_input' },
        });
      expect((await get(`/tasks?${key}=1`)).status).toBe(400);
    }
    expect(({} as Json)['polluted']).toBeUndefined();
  });

  it('[G2] stays data, whatever it looks like in SQL', async () => {
    const title = `'); DROP TABLE tasks; -- " % _ \\ ' OR 1=1`;
    const { id } = await create(title, { labels: [`l' OR '1'='1`], metadata_set: { '$.a"b': `'` } });
    const { json } = await get(`/tasks/search?query=${encodeURIComponent(title)}`);
    expect((json as Json[]).map((task) => task['id'])).toEqual([id]);
    expect((await get(`/tasks?label=${encodeURIComponent("x' OR '1'='1")}`)).json).toEqual([]);
    for (const query of [
      'sort=priority;DROP',
      'sort=priority%20DESC',
      'assignee=%27',
      'parent_id=%27%20OR%201=1',
    ]) {
      const answer = await get(`/tasks?${query}`);
      expect([query, answer.status < 500]).toEqual([query, true]);
      expect(answer.text).not.toMatch(/SQLITE|syntax error|near "/i);
    }
    expect((await get(`/tasks/${id}`)).status).toBe(200);
  });

  it('[G5] is UTF-8 with whole characters and numbers that can be kept', async () => {
    const post = (body: string | Buffer) =>
      http.raw(
        Buffer.concat([
          Buffer.from(
            `POST ${B}/tasks HTTP/1.1\r\nHost: ${http.host}\r\nAuthorization: Bearer ${http.admin}\r\nContent-Type: application/json\r\nConnection: close\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n`,
          ),
          Buffer.from(body),
        ]),
      );
    const bad: (string | Buffer)[] = [
      Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d]),
      '{"title":"half \\ud800"}',
      '{"title":"x","metadata_set":{"\\udc00":1}}',
      '{"title":"nul \\u0000"}',
      '{"title":"x","metadata_set":{"n":1e400}}',
      '{"title":"x","metadata_set":{"n":9007199254740993}}',
      '{"title":"x",}',
      '[]',
      'null',
      '"x"',
      '{"title":"x"} {"title":"y"}',
      '{"title":"a","title":"b"}',
      'title=x',
    ];
    for (const body of bad)
      expect([String(body), await post(body)]).toEqual([
        String(body),
        expect.stringMatching(/^HTTP\/1\.1 400 /),
      ]);
    for (const body of ['\uFEFF{"title":"with a mark"}', '{\r\n"title":"lines"\r\n}'])
      expect(await post(body)).toMatch(/^HTTP\/1\.1 201 /);
  });

  it('[A13] costs no more for being nasty', async () => {
    const nasty = [
      'a'.repeat(7_000),
      '%20'.repeat(2_300),
      '{'.repeat(7_000),
      '/a'.repeat(3_500),
      'x?&='.repeat(1_700),
    ];
    for (const text of nasty) {
      const encoded = encodeURIComponent(text)
        .slice(0, 7_500)
        .replace(/%[0-9A-F]?$/, '');
      for (const path of [`/tasks/${encoded}`, `/tasks?query=${encoded}`, `/tasks/search?query=${encoded}`])
        expect((await get(path)).status).toBeLessThan(500);
    }
    const long = 'a '.repeat(50_000);
    expect((await send('POST', '/tasks', { title: long })).status).toBe(400);
    expect((await send('POST', '/tasks', { title: 'x', assignee: `${long}!` })).status).toBe(400);
    expect((await get('/tasks/%zz')).status).toBe(400);
    expect((await get('/tasks/%ff')).status).toBe(400);
  });

  it('is read from a query as the schema says', async () => {
    await create('typed', { priority: 0, github_issue: 77, labels: ['typed'] });
    for (const query of [
      'priority=0&label=typed',
      'github_issue=77',
      'assignee=none&label=typed',
      'label=typed&limit=1',
    ])
      expect([query, ((await get(`/tasks?${query}`)).json as unknown[]).length]).toEqual([query, 1]);
    for (const query of ['priority=x', 'priority=1.5', 'limit=0', 'limit=-1', 'all=yes', 'limit=1e3'])
      expect([query, (await get(`/tasks?${query}`)).status]).toEqual([query, 400]);
  });
});

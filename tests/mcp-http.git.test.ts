import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Task } from '#contract/task.ts';
import { LIMITS } from '#kernel/limits.ts';
import { AnswerBudget } from '#surfaces/http/answer-budget.ts';
import { HTTP_LIMITS } from '#surfaces/http/limits.ts';
import { revokeToken } from '#sync/access-tokens.ts';
import { type ProjectHttp, startProjectHttp } from './support/http-server.ts';
import { callTool, everyTool } from './support/mcp-calls.ts';
import { connectMcp, expectNoneCrossed, MCP_GENERATIONS } from './support/mcp-clients.ts';
import { rawSocket } from './support/raw-socket.ts';
import { inSoak } from './support/share-of.ts';

describe.each(Object.entries(MCP_GENERATIONS))('MCP over HTTP in the generation of %s', (_year, mode) => {
  it('[S236] lists and calls every tool', async () => {
    await using http = await startProjectHttp();
    await using client = await connectMcp(http, http.admin, mode);
    const { tools } = await client.listTools();
    expect(tools.length).toBeGreaterThan(10);
    await http.ask({ method: 'POST', path: '/api/v1/agents', token: http.admin, body: { name: 'worker-9' } });
    const called = await everyTool(client, 'worker-9');
    expect(called.toSorted()).toEqual(tools.map(({ name }) => name).toSorted());
  });

  inSoak(() => {
    it('A12: 20 clients with 500 interleaved calls get no answer that is not theirs', () =>
      expectNoneCrossed(mode, { clients: 20, rounds: 5 }));
  });
});

describe('MCP over HTTP', () => {
  it('[S132] [S236] answers a single request of curl', async () => {
    await using http = await startProjectHttp();
    const list = await post(http, http.admin, { jsonrpc: '2.0', id: 7, method: 'tools/list' });
    expect(list).toMatchObject({
      status: 200,
      json: { id: 7, result: { tools: expect.anything() as unknown } },
    });
    expect(list.headers['content-type']).toMatch(/^application\/json/);
    // The arguments as the seed prints them.
    const created = await post(http, http.admin, {
      jsonrpc: '2.0',
      id: 8,
      method: 'tools/call',
      params: {
        name: 'forge_create_task',
        arguments: {
          title: 'Add rate limiting',
          description: 'Add per-IP rate limiting to POST /api/v1/auth/login.',
        },
      },
    });
    expect(created.json).toMatchObject({
      result: { structuredContent: { title: 'Add rate limiting', status: 'open', state: 'todo' } },
    });
    const other = await post(http, http.admin, toCall(9, 'create_task', { title: 'By its other name' }));
    expect(other.json).toMatchObject({
      result: { structuredContent: { id: expect.stringMatching(/^fg-/) as string, state: 'todo' } },
    });
  });

  it('wants a token, knows who asks by it, and what they may do', async () => {
    await using http = await startProjectHttp();
    const call = {
      jsonrpc: '2.0',
      id: 1,
      method: 'tools/call',
      params: { name: 'create_task', arguments: { title: 'x' } },
    };
    expect(await post(http, undefined, call)).toMatchObject({ status: 401 });
    expect(await post(http, 'fgt_wrong', call)).toMatchObject({ status: 401 });
    const { token: reader } = await http.token('read');
    expect((await post(http, reader, call)).json).toMatchObject({
      result: { isError: true, structuredContent: { error: { code: 'permission_denied' } } },
    });
    const { token: agent } = await http.token('task', 'worker-1');
    expect((await post(http, agent, call)).json).toMatchObject({
      result: { structuredContent: { created_by: 'worker-1' } },
    });
  });

  it('[S366] assigns an agent by the rules of a claim', async () => {
    await using http = await startProjectHttp();
    const operate = (name: string, input: object) =>
      http.ask({ method: 'POST', path: `/api/v1/operations/${name}`, token: http.admin, body: input });
    const { json } = await operate('task.create', { title: 'To be assigned' });
    const { id: task_id } = json as Task;
    for (const name of ['worker-1', 'worker-2', 'worker-3']) await operate('agent.add', { name });
    expect(await operate('agent.pause', { name: 'worker-1' })).toMatchObject({ status: 200 });
    const assign = async (agent_id: string): Promise<unknown> =>
      (await post(http, http.admin, toCall(1, 'forge_assign_agent', { task_id, agent_id }))).json;
    expect(await assign('worker-1')).toMatchObject({
      result: { isError: true, structuredContent: { error: { code: 'agent_paused' } } },
    });
    expect(await assign('worker-2')).toMatchObject({
      result: { structuredContent: { assignee: 'worker-2' } },
    });
    expect(await assign('worker-3')).toMatchObject({
      result: { isError: true, structuredContent: { error: { code: 'claim_conflict' } } },
    });
  });

  it('keeps a session for the token that opened it, and ends it on DELETE', async () => {
    await using http = await startProjectHttp();
    const { token: other } = await http.token('admin');
    const session = await openSession(http, http.admin);
    const list = { jsonrpc: '2.0', id: 2, method: 'tools/list' };
    const headers = { 'mcp-session-id': session, 'mcp-protocol-version': '2025-06-18' };
    expect(await post(http, http.admin, list, headers)).toMatchObject({ status: 200 });
    expect(await post(http, other, list, headers)).toMatchObject({ status: 404 });
    expect(await post(http, http.admin, list, { 'mcp-session-id': 'made up' })).toMatchObject({
      status: 404,
    });
    const end = (token: string) => http.ask({ method: 'DELETE', path: '/mcp', token, headers });
    expect(await end(other)).toMatchObject({ status: 404 });
    expect(await post(http, http.admin, list, headers)).toMatchObject({ status: 200 });
    expect(await end(http.admin)).toMatchObject({ status: 200 });
    expect(await post(http, http.admin, list, headers)).toMatchObject({ status: 404 });
    expect(await http.ask({ method: 'DELETE', path: '/mcp', token: http.admin })).toMatchObject({
      status: 400,
    });
  });

  it('ends sessions that are silent for too long, and has a bound for them', async () => {
    let now = 0;
    await using http = await startProjectHttp({ mcpClock: { now: () => now } });
    const first = await openSession(http, http.admin);
    const list = { jsonrpc: '2.0', id: 2, method: 'tools/list' };
    now += LIMITS.mcp_session_idle_ms - 1;
    expect(await post(http, http.admin, list, { 'mcp-session-id': first })).toMatchObject({ status: 200 });
    now += 1;
    const fresh = await openSession(http, http.admin);
    for (const id of [first, fresh])
      expect(await post(http, http.admin, list, { 'mcp-session-id': id })).toMatchObject({ status: 200 });
    now += LIMITS.mcp_session_idle_ms + 1;
    expect(await post(http, http.admin, list, { 'mcp-session-id': first })).toMatchObject({ status: 404 });
  });

  it('[M8] one token cannot lock others out: its own oldest session ends, and theirs go on', async () => {
    let now = 0;
    await using http = await startProjectHttp({ mcpClock: { now: () => (now += 1) } });
    const list = { jsonrpc: '2.0', id: 2, method: 'tools/list' };
    const ask = (token: string, id: string) => post(http, token, list, { 'mcp-session-id': id });
    const theirs = await openSession(http, http.admin);
    const { token: greedy } = await http.token('read');
    const first = await openSession(http, greedy);
    for (let more = 0; more < LIMITS.mcp_sessions + 20; more += 1) await openSession(http, greedy);
    expect(await ask(greedy, first)).toMatchObject({ status: 404 });
    expect(await ask(http.admin, theirs)).toMatchObject({ status: 200 });
    expect(await ask(http.admin, await openSession(http, http.admin))).toMatchObject({ status: 200 });
  });

  it('[H6] counts the values of a body before it reads it, and names few of the names that it does not know', async () => {
    await using http = await startProjectHttp();
    const args = (count: number): object =>
      Object.fromEntries(Array.from({ length: count }, (_, at) => [`unknown_${at}`, 1]));
    const many = await post(http, http.admin, toCall(1, 'forge_create_task', args(160_000)));
    expect(many).toMatchObject({ status: 413 });
    const some = await post(http, http.admin, toCall(1, 'forge_create_task', args(4_000)));
    expect(some.status).toBe(200);
    expect(some.text.length).toBeLessThan(20_000);
    expect(some.text).toContain(`and ${4_000 - LIMITS.error_names} more`);
    const deep = await post(http, http.admin, '['.repeat(10_000));
    expect(deep).toMatchObject({ status: 400 });
  });

  it('has no stream of its own, and says what is wrong with a body', async () => {
    await using http = await startProjectHttp();
    const get = await http.ask({ path: '/mcp', token: http.admin, headers: { accept: 'text/event-stream' } });
    expect(get).toMatchObject({ status: 405, headers: { allow: 'POST, DELETE' } });
    expect(await post(http, http.admin, '{')).toMatchObject({
      status: 400,
      json: { error: { code: -32_700 } },
    });
    expect((await post(http, http.admin, '{"x":1}')).status).toBe(400);
    expect((await post(http, http.admin, '[]')).status).toBe(400);
    const twice =
      '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"forge_close","arguments":{"id":"a","id":"b"}}}';
    expect(await post(http, http.admin, twice)).toMatchObject({
      status: 400,
      json: { error: { code: -32_600, message: '"params.arguments.id" is given more than once' } },
    });
    const unknown = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'rm_rf', arguments: {} } };
    expect((await post(http, http.admin, unknown)).json).toMatchObject({ error: { code: -32_602 } });
    const long = await post(http, http.admin, ' '.repeat(LIMITS.mcp_body_bytes + 1));
    expect(long.status).toBe(413);
  });

  it('breaks off what nobody waits for any more', async () => {
    let now = 0;
    await using http = await startProjectHttp({ mcpClock: { now: () => now } });
    await using client = await connectMcp(http, http.admin, 'legacy');
    const { id } = await callTool<Task>(client, 'create_task', { title: 'never done' });
    const session = await openSession(http, http.admin);
    const leave = new AbortController();
    const headers = {
      authorization: `Bearer ${http.admin}`,
      'content-type': 'application/json',
      accept: '*/*',
    };
    const waiting = fetch(`http://${http.host}/mcp`, {
      method: 'POST',
      headers: { ...headers, 'mcp-session-id': session },
      body: JSON.stringify(toCall(3, 'forge_wait', { id, timeout_seconds: 600 })),
      signal: leave.signal,
    });
    // The session answers while it waits, and does not grow old.
    const list = { jsonrpc: '2.0', id: 4, method: 'tools/list' };
    const ask = () => post(http, http.admin, list, { 'mcp-session-id': session });
    expect(await ask()).toMatchObject({ status: 200 });
    now += LIMITS.mcp_session_idle_ms + 1;
    expect(await ask()).toMatchObject({ status: 200 });
    leave.abort();
    await expect(waiting).rejects.toThrow(/aborted/);
    // When the server has seen it, nothing is under way and the session can grow old.
    await expect
      .poll(async () => {
        now += LIMITS.mcp_session_idle_ms + 1;
        return (await ask()).status;
      })
      .toBe(404);
  });

  it('refuses the id of a request that is under way in the same session, and answers that one', async () => {
    await using http = await startProjectHttp();
    const { post: ask, task } = await openWaiting(http);
    const waiting = ask(toCall(9, 'forge_wait', { id: task, timeout_seconds: 600 }));
    // Another text is another id.
    const again = { ...toCall(0, 'forge_wait', { id: task, timeout_seconds: 0 }), id: '9' };
    expect(await ask(again)).toMatchObject({ status: 200, json: { id: '9' } });
    expect(await ask(toCall(9, 'forge_ready', {}))).toMatchObject({
      status: 400,
      json: {
        id: null,
        error: { code: -32_600, message: expect.stringMatching(/id 9 .*under way/) as string },
      },
    });
    await http.ask({
      method: 'POST',
      path: '/api/v1/operations/task.close',
      token: http.admin,
      body: { id: task, reason: 'done' },
    });
    expect(await waiting).toMatchObject({ status: 200, json: { id: 9 } });
    expect(await ask(toCall(9, 'forge_ready', {}))).toMatchObject({ status: 200, json: { id: 9 } });
  });

  it('answers a request that is cancelled, and one whose session is ended', async () => {
    let now = 0;
    await using http = await startProjectHttp({ mcpClock: { now: () => now } });
    const { post: ask, task, session } = await openWaiting(http);
    const wait = { id: task, timeout_seconds: 600 };
    const first = ask(toCall(3, 'forge_wait', wait));
    const cancel = { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 3 } };
    expect(await ask(cancel)).toMatchObject({ status: 202 });
    expect(await first).toMatchObject({
      json: { id: 3, error: { message: 'The client cancelled this request' } },
    });
    const second = ask(toCall(4, 'forge_wait', wait));
    const headers = { 'mcp-session-id': session };
    await http.ask({ method: 'DELETE', path: '/mcp', token: http.admin, headers });
    expect(await second).toMatchObject({
      json: { id: 4, error: { message: 'The session of this request was ended' } },
    });
    // A session whose requests are all cut counts as idle.
    const idle = await openWaiting(http);
    const cut = idle.post(toCall(5, 'forge_wait', wait));
    await idle.post({ ...cancel, params: { requestId: 5 } });
    await cut;
    now += LIMITS.mcp_session_idle_ms + 1;
    expect(await idle.post(toCall(6, 'forge_ready', {}))).toMatchObject({ status: 404 });
  });

  it('tokens that wait for an answer in every session leave a place for another token', async () => {
    await using http = await startProjectHttp();
    const { id } = await createTask(http);
    const wait = toCall(1, 'forge_wait', { id, timeout_seconds: 3_600 });
    const ends: Promise<unknown>[] = [];
    for (let at = 0; at * LIMITS.mcp_sessions_a_token < LIMITS.mcp_sessions; at += 1) {
      const { token } = await http.token('read');
      for (let more = 0; more < LIMITS.mcp_sessions_a_token; more += 1) {
        const headers = { 'mcp-session-id': await openSession(http, token) };
        ends.push(post(http, token, wait, headers).catch(() => 'closed'));
      }
    }
    const { token: honest } = await http.token('read');
    const headers = { 'mcp-session-id': await openSession(http, honest) };
    expect(await Promise.race(ends)).toMatchObject({
      json: { error: { message: 'The session of this request was ended' } },
    });
    expect(await post(http, honest, toCall(2, 'forge_ready', {}), headers)).toMatchObject({ status: 200 });
    http.server.closeAllConnections();
    await Promise.all(ends);
  });

  it('breaks off a call whose token is revoked meanwhile', async () => {
    await using http = await startProjectHttp();
    const { id, token } = await http.token('task');
    const made = await post(http, http.admin, toCall(1, 'create_task', { title: 'never done' }));
    const task = (made.json as { result: { structuredContent: Task } }).result.structuredContent;
    const waiting = post(http, token, toCall(2, 'forge_wait', { id: task.id, timeout_seconds: 600 }));
    // Connections are served in their order: when this is answered, the wait is under way.
    expect(await post(http, token, toCall(3, 'forge_show', { id: task.id }))).toMatchObject({ status: 200 });
    await revokeToken(http.home, id, http.clock.now());
    expect(await waiting).toMatchObject({
      status: 401,
      json: { jsonrpc: '2.0', error: { message: 'The token was revoked while this waited' }, id: null },
    });
    expect(await post(http, token, toCall(4, 'forge_show', { id: task.id }))).toMatchObject({ status: 401 });
  });

  it('answers whatever is sent, and lives', async () => {
    await using http = await startProjectHttp();
    const session = await openSession(http, http.admin);
    const method = fc.constantFrom(
      'initialize',
      'tools/list',
      'tools/call',
      'resources/read',
      'prompts/get',
      'ping',
      'x',
    );
    const name = fc.constantFrom(
      'forge_show',
      'forge_list',
      'forge_update',
      'create_task',
      'start_task_attempt',
      '',
    );
    const message = fc.record(
      {
        jsonrpc: fc.constantFrom('2.0', '1.0', 2),
        id: fc.oneof(fc.integer(), fc.string(), fc.constant(null)),
        method: fc.oneof(method, fc.string()),
        params: fc.oneof(
          fc.jsonValue(),
          fc.record({
            name,
            arguments: fc.oneof(fc.jsonValue(), fc.dictionary(fc.string(), fc.jsonValue())),
          }),
          fc.record({ name, arguments: fc.record({ id: fc.jsonValue(), title: fc.jsonValue() }) }),
        ),
      },
      { requiredKeys: [] },
    );
    const headers = fc.constantFrom<Record<string, string>>(
      {},
      { 'mcp-session-id': session },
      { 'mcp-protocol-version': '2026-07-28' },
      { 'mcp-protocol-version': 'nonsense' },
    );
    await fc.assert(
      fc.asyncProperty(
        fc.oneof(message, fc.array(message, { maxLength: 3 }), fc.jsonValue()),
        headers,
        async (body, more) => {
          const answer = await post(http, http.admin, JSON.stringify(body), more);
          expect({ body, status: answer.status }).not.toMatchObject({ status: 500 });
          expect(answer.text).not.toContain('"internal"');
        },
      ),
      { numRuns: 200 },
    );
    expect(http.failures).toEqual([]);
    const list = { jsonrpc: '2.0', id: 1, method: 'tools/list' };
    expect(await post(http, http.admin, list, { 'mcp-session-id': session })).toMatchObject({ status: 200 });
  });

  it('[A14-3] refuses a list that is too large, and cuts the one that is a resource', async () => {
    await using http = await startProjectHttp();
    await using client = await connectMcp(http, http.admin, 'legacy');
    for (let at = 0; at < 6; at += 1)
      await callTool<Task>(client, 'create_task', { title: 'large', description: 'x'.repeat(1_000_000) });
    const refused = await client.callTool({ name: 'forge_list', arguments: {} });
    expect(refused).toMatchObject({ isError: true, structuredContent: { error: { code: 'too_large' } } });
    const two = await client.callTool({ name: 'forge_list', arguments: { limit: 2 } });
    expect(JSON.parse((two.content[0] as { text: string }).text)).toMatchObject([
      { title: 'large' },
      { title: 'large' },
    ]);
    const { contents } = await client.readResource({ uri: 'forge://tasks' });
    expect(JSON.parse((contents[0] as { text: string }).text)).toHaveLength(4);
  });

  it('[B2] refuses a batch in either generation, with and without a session', async () => {
    await using http = await startProjectHttp();
    const { token: reader } = await http.token('read');
    const session = await openSession(http, reader);
    const many = Array.from({ length: 40 }, (_, at) => toCall(at + 1, 'forge_list', { limit: 6 }));
    for (const batch of [many, [toCall(1, 'forge_list', {})], []])
      for (const headers of [{}, { 'mcp-session-id': session }, { 'mcp-protocol-version': '2025-03-26' }]) {
        const { status, json } = await post(http, reader, batch, headers);
        expect([status, json]).toEqual([
          400,
          {
            jsonrpc: '2.0',
            error: { code: -32_600, message: expect.stringMatching(/batch/) as string },
            id: null,
          },
        ]);
      }
    expect(await post(http, reader, toCall(1, 'forge_list', {}))).toMatchObject({ status: 200 });
  });

  it('[B8] bounds the waits of a token, over both doors together', async () => {
    await using http = await startProjectHttp();
    const { token: reader } = await http.token('read');
    const made = await post(http, http.admin, toCall(1, 'create_task', { title: 'wait for me' }));
    const { id } = (made.json as { result: { structuredContent: Task } }).result.structuredContent;
    const wait = { id, timeout_seconds: 3_600 };
    const waiting = Array.from({ length: LIMITS.waits_a_token }, async (_, at) =>
      at % 2 === 0
        ? http.ask({ path: `/api/v1/tasks/${id}/wait?timeout_seconds=3600`, token: reader })
        : post(http, reader, toCall(at, 'forge_wait', wait)),
    );
    const ends = Promise.allSettled(waiting);
    // They are counted before the project is looked for, so that one more is refused from some moment on.
    const ask = () => http.ask({ path: `/api/v1/tasks/${id}/wait?timeout_seconds=0`, token: reader });
    let refused = await ask();
    while (refused.status !== 429) refused = await ask();
    expect(refused).toMatchObject({
      json: {
        code: 'too_many_requests',
        details: { limit: LIMITS.waits_a_token },
        hint: expect.any(String) as string,
      },
    });
    expect((await post(http, reader, toCall(1, 'forge_wait', wait))).json).toMatchObject({
      result: { isError: true, structuredContent: { error: { code: 'too_many_requests' } } },
    });
    const other = await http.ask({ path: `/api/v1/tasks/${id}/wait?timeout_seconds=0`, token: http.admin });
    expect(other.json).toMatchObject({ code: 'wait_timeout' });
    expect(await http.ask({ path: '/api/v1/tasks', token: reader })).toMatchObject({ status: 200 });
    http.server.closeAllConnections();
    await ends;
  });

  it('[B5] refuses a token that reads nothing of its answers', async () => {
    const answers = new AnswerBudget({ ...HTTP_LIMITS, unread_bytes_a_token: 2 * LIMITS.answer_bytes });
    await using http = await startProjectHttp({ deps: { answers } });
    const { token: reader } = await http.token('read');
    for (let at = 0; at < 4; at += 1)
      await http.ask({
        method: 'POST',
        path: '/api/v1/tasks',
        token: http.admin,
        body: { title: 'large', description: 'x'.repeat(1_000_000) },
      });
    const call = JSON.stringify(toCall(1, 'forge_list', {}));
    const clients = Array.from({ length: 12 }, () => {
      const client = rawSocket(http.port);
      client.pause();
      client.write(
        `POST /mcp HTTP/1.1\r\nHost: ${http.host}\r\nAuthorization: Bearer ${reader}\r\nContent-Type: application/json\r\nContent-Length: ${call.length}\r\n\r\n${call}`,
      );
      return client;
    });
    while (answers.bytes.unread < LIMITS.answer_bytes || answers.bytes.reserved > 0)
      await new Promise(setImmediate);
    const refused = await post(http, reader, toCall(2, 'forge_list', {}));
    expect(refused.json).toMatchObject({
      result: { isError: true, structuredContent: { error: { code: 'too_many_requests' } } },
    });
    expect(answers.bytes.unread).toBeLessThanOrEqual(2 * LIMITS.answer_bytes);
    expect((await post(http, http.admin, toCall(2, 'forge_list', {}))).json).not.toHaveProperty(
      'result.isError',
    );
    for (const client of clients) client.destroy();
  });

  it('[B2] has a large result once: as text, and not as structured content too', async () => {
    await using http = await startProjectHttp();
    await using client = await connectMcp(http, http.admin, 'legacy');
    const description = 'x'.repeat(LIMITS.mcp_structured_length);
    const { id } = await callTool<Task>(client, 'create_task', { title: 'a' });
    const small = await post(http, http.admin, toCall(1, 'forge_show', { id }));
    expect(small.json).toMatchObject({ result: { structuredContent: { id } } });
    await client.callTool({ name: 'forge_update', arguments: { id, description } });
    for (const [tool, args] of [
      ['forge_show', { id }],
      ['forge_list', {}],
    ] as const) {
      const large = await post(http, http.admin, toCall(1, tool, args));
      expect(large.text.split(description)).toHaveLength(2);
      expect(large.json).not.toHaveProperty('result.structuredContent');
    }
  });

  it('has the tasks as resources and the loop as a prompt', async () => {
    await using http = await startProjectHttp();
    await using client = await connectMcp(http, http.admin, 'legacy');
    const { id } = await callTool<Task>(client, 'create_task', { title: 'read me' });
    const { resources } = await client.listResources();
    expect(resources.map(({ uri }) => uri)).toEqual(['forge://tasks', `forge://tasks/${id}`]);
    const read = await client.readResource({ uri: `forge://tasks/${id}` });
    const [content] = read.contents;
    expect(content).toMatchObject({ mimeType: 'application/json' });
    expect(JSON.parse((content as { text: string }).text)).toMatchObject({ id, title: 'read me' });
    await expect(client.readResource({ uri: 'forge://tasks/fg-none' })).rejects.toThrow(/fg-none/);
    const { prompts } = await client.listPrompts();
    expect(prompts.map(({ name }) => name)).toEqual(['work-the-queue']);
    const prompt = await client.getPrompt({ name: 'work-the-queue' });
    expect(JSON.stringify(prompt.messages)).toContain('forge_claim');
  });
});

function post(
  http: ProjectHttp,
  token: string | undefined,
  body: unknown,
  headers: Record<string, string> = {},
) {
  return http.ask({ method: 'POST', path: '/mcp', token, body, headers: { accept: '*/*', ...headers } });
}

function toCall(id: number, name: string, args: object): object {
  return { jsonrpc: '2.0', id, method: 'tools/call', params: { name, arguments: args } };
}

function initialize(http: ProjectHttp, token: string) {
  return post(http, token, {
    jsonrpc: '2.0',
    id: 1,
    method: 'initialize',
    params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'test', version: '1' } },
  });
}

async function createTask(http: ProjectHttp): Promise<Task> {
  const made = await post(http, http.admin, toCall(1, 'create_task', { title: 'wait for me' }));
  return (made.json as { result: { structuredContent: Task } }).result.structuredContent;
}

/** A session with a task that nobody closes. */
async function openWaiting(http: ProjectHttp) {
  const { id: task } = await createTask(http);
  const session = await openSession(http, http.admin);
  return {
    task,
    session,
    post: (body: unknown) => post(http, http.admin, body, { 'mcp-session-id': session }),
  };
}

async function openSession(http: ProjectHttp, token: string): Promise<string> {
  const { status, headers } = await initialize(http, token);
  expect(status).toBe(200);
  return String(headers['mcp-session-id']);
}

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { forgeProject, type ForgeProject } from '../support/forge-cli.ts';
import { startForgeServer, type ForgeServer } from '../support/forge-server.ts';
import { noteLongestBlock } from '../support/loop-blocks.ts';

let own: ForgeProject;
let other: ForgeProject;
let server: ForgeServer;
let mine: { readonly id: string };
let theirs: { readonly id: string };

beforeAll(async () => {
  own = await forgeProject();
  other = await forgeProject({ prefix: 'ot', name: 'other' });
  mine = await own.create('Mine');
  theirs = await other.create('Theirs');
  await own.json('project', 'add', 'other', other.path);
  server = await startForgeServer(own);
});

afterAll(async () => {
  await server[Symbol.asyncDispose]();
  await other[Symbol.asyncDispose]();
  await own[Symbol.asyncDispose]();
});

const api = (path: string, token: string, body?: unknown) =>
  server.ask(`/api/v1${path}`, { token, ...(body !== undefined && { body }) });

const tell = (token: string, method: string, params: object = {}) =>
  server.ask('/mcp', {
    token,
    headers: { accept: 'application/json, text/event-stream' },
    body: { jsonrpc: '2.0', id: 1, method, params },
  });

async function createToken(...flags: string[]): Promise<string> {
  const made = await own.json<{ token: string }>('token', 'create', '--scope', 'task', ...flags);
  return made.token;
}

describe('[L8] a token for one project of a server', () => {
  test('reads and writes there, and the other project is not there for it', async () => {
    const token = await createToken('--for-project', 'fg', '--agent', 'w1');
    expect(await api('/tasks', token)).toMatchObject({ status: 200, body: [{ id: mine.id }] });
    expect(await api('/projects', token)).toMatchObject({ body: [{ prefix: 'fg' }] });
    const hidden = [
      `/tasks/${theirs.id}`,
      `/tasks/${theirs.id}/history`,
      '/tasks?project=ot',
      '/projects/ot',
      '/projects/ot/tasks',
      '/events?project=ot',
    ];
    for (const path of hidden) expect([path, (await api(path, token)).status]).toEqual([path, 404]);
    expect(await api(`/tasks/${theirs.id}/comments`, token, { body: 'x' })).toMatchObject({ status: 404 });
    // A list that was made for another caller is not given to this one.
    expect(await api('/tasks?project=ot', server.token)).toMatchObject({ body: [{ id: theirs.id }] });
    expect((await api('/tasks?project=ot', token)).status).toBe(404);
  });

  test('[A14-1] learns nothing of the other one through edges, theirs or its own', async () => {
    const token = await createToken('--for-project', 'fg');
    const linked = await own.create('Linked');
    await own.json('dep', 'add', linked.id, theirs.id);
    for (const to_id of [theirs.id, 'ot-', theirs.id.slice(0, -1), 'zz-aaaa']) {
      const { status, body } = await api(`/tasks/${mine.id}/dependencies`, token, { to_id, type: 'related' });
      const told = JSON.stringify(body)
        .replaceAll(to_id, 'ID')
        .replaceAll(/(ot|zz)-/g, 'PREFIX-');
      expect([status, told]).toEqual([404, expect.stringContaining('no registered project has ids')]);
      expect(told).not.toContain(other.path);
    }
    const asked = [`/tasks/${linked.id}`, `/tasks/${linked.id}/dependencies`, '/tasks/blocked'];
    for (const path of [...asked, `/tasks/${linked.id}/tree`])
      expect(JSON.stringify((await api(path, token)).body)).not.toContain('Theirs');
    expect(JSON.stringify((await api(`/tasks/${linked.id}`, server.token)).body)).toContain('Theirs');
  });

  test('learns nothing of the machine', async () => {
    const token = await createToken('--for-project', 'fg');
    for (const path of ['/agents', '/daemons', '/runtimes'])
      expect([path, (await api(path, token)).status]).toEqual([path, 403]);
  });

  test('sees no event of the other one', async () => {
    const token = await createToken('--for-project', 'fg');
    const stop = new AbortController();
    const stream = await fetch(`${server.url}/api/v1/events?after=0`, {
      headers: { authorization: `Bearer ${token}` },
      signal: stop.signal,
    });
    await own.create('Seen');
    let text = '';
    const decoder = new TextDecoder();
    for await (const chunk of stream.body ?? []) {
      text += decoder.decode(chunk, { stream: true });
      if (text.includes('Seen')) break;
    }
    stop.abort();
    expect(text).toContain('Mine');
    expect(text).not.toContain('Theirs');
  });

  test('an agent’s token ends by itself; a person’s when it is told to', async () => {
    const list = async () => {
      const all = await own.json<{ agent: string | null; expires_at: string | null }[]>('token', 'list');
      return all.map(({ agent, expires_at }) => [agent, expires_at !== null]);
    };
    const before = (await list()).length;
    await createToken('--agent', 'w2');
    await createToken('--expires', '12h');
    await createToken();
    expect((await list()).slice(before)).toEqual([
      ['w2', true],
      [null, true],
      [null, false],
    ]);
  });
});

test('[L3] a key of a request is remembered by the project in which it works', async () => {
  const create = (project: string, title: string) =>
    server.ask(`/api/v1/tasks?project=${project}`, {
      headers: { 'idempotency-key': 'one' },
      body: { title },
    });
  const first = await create('fg', 'Once');
  expect(await create('fg', 'Once')).toMatchObject({ status: 201, body: first.body });
  expect(await create('fg', 'Another')).toMatchObject({ status: 409 });
  expect(await create('ot', 'Once')).toMatchObject({ status: 201 });
});

test('[L10] forge://tasks names the tasks of all projects, and no change of a list is promised', async () => {
  const read = await tell(server.token, 'resources/read', { uri: 'forge://tasks' });
  expect(JSON.stringify(read.body)).toContain(mine.id);
  expect(JSON.stringify(read.body)).toContain(theirs.id);
  const limited = await createToken('--for-project', 'ot');
  const own = await tell(limited, 'resources/read', { uri: 'forge://tasks' });
  expect(JSON.stringify(own.body)).toContain(theirs.id);
  expect(JSON.stringify(own.body)).not.toContain(mine.id);
  const begun = await tell(server.token, 'initialize', {
    protocolVersion: '2025-06-18',
    capabilities: {},
    clientInfo: { name: 'test', version: '1' },
  });
  expect(JSON.stringify(begun.body)).toContain('"listChanged\\":false'.replace('\\', ''));
  expect(JSON.stringify(begun.body)).not.toContain('listChanged":true');
});

test('an address of a resource that is too long, or of no task, is a wrong parameter and no fault of the server', async () => {
  for (const uri of [
    `forge://tasks/${'a'.repeat(1_100_000)}`,
    `forge://tasks/${'a'.repeat(900)}`,
    'forge://tasks/%00',
    'forge://x',
    'x',
  ]) {
    const answer = await tell(server.token, 'resources/read', { uri });
    expect(answer).toMatchObject({ status: 200, body: { id: 1, error: { code: -32_602 } } });
  }
  const listed = JSON.stringify((await tell(server.token, 'resources/list')).body);
  for (const uri of ['forge://tasks', `forge://tasks/${mine.id}`, `forge://tasks/${theirs.id}`])
    expect(listed).toContain(`"uri":"${uri}"`);
  const templates = await tell(server.token, 'resources/templates/list');
  expect(templates.body).toMatchObject({
    result: { resourceTemplates: [{ name: 'task', uriTemplate: 'forge://tasks/{id}' }] },
  });
  const one = await tell(server.token, 'resources/read', { uri: `forge://tasks/${mine.id}` });
  expect(JSON.stringify(one.body)).toContain('Mine');
});

test('[L11] daemons name every project that a server serves', async () => {
  const { body } = await api('/daemons', server.token);
  expect(body).toMatchObject([{ kind: 'server', projects: [own.path, other.path] }]);
});

test('[L15] an agent does not get the name of the person who adds it', async () => {
  const added = await own.run('agent', 'add', 'ann', '--actor', 'user:ann', '--json');
  expect(added.exit).toBe(2);
  expect(added.stdout + added.stderr).toContain('invalid_input');
});

noteLongestBlock(import.meta.filename);

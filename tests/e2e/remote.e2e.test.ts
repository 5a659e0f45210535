import { once } from 'node:events';
import { createServer, type IncomingMessage, request as httpRequest } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer, text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it, vi } from 'vitest';
import type { Task } from '#contract/task.ts';
import { type ForgeCli, forgeFolder } from '../support/forge-cli.ts';
import { forgeFolderHere } from '../support/forge-here.ts';
import { serveForAll, type Served } from '../support/serve-for-all.ts';
import { startForgeServer, type ForgeServer } from '../support/forge-server.ts';
import { noteLongestBlock } from '../support/loop-blocks.ts';

let project: Served['project'];
let server: Served['server'];
serveForAll((served) => ({ project, server } = served));

const list = async (title: string): Promise<Task[]> =>
  (await project.json<Task[]>('task', 'list')).filter((task) => task.title === title);

describe('forge --server', () => {
  it('prints what the local command prints, as text and as JSON, errors and exit codes too', async () => {
    const { id } = await project.create('Shared', '--priority', '1', '--label', 'x');
    await project.text('task', 'comment', id, 'A comment');
    const commands: readonly (readonly string[])[] = [
      ['ready'],
      ['ready', '--explain'],
      ['task', 'show', id],
      ['task', 'show', id.slice(3, 6)],
      ['task', 'list', '--all'],
      ['search', '--query', 'shar'],
      ['task', 'history', id],
      ['task', 'result', id],
      ['stats'],
      ['blocked'],
      ['dep', 'tree', id],
      ['graph'],
      ['task', 'show', 'fg-none'],
      ['task', 'wait', id, '--timeout', '0'],
      ['task', 'reopen', id],
      ['dep', 'add', id, id],
    ];
    for (const command of commands) {
      for (const flags of [[], ['--json'], ['--json', '--fields', 'id']]) {
        const here = await project.run(...command, ...flags);
        const there = await project.run(...command, ...flags, '--server', server.url);
        expect({ command, flags, ...there }).toEqual({ command, flags, ...here });
      }
    }
    for (const command of [
      ['task', 'show', id],
      ['task', 'show', 'fg-none', '--json'],
    ]) {
      const here = await project.program.run(...command);
      expect(await project.program.run(...command, '--server', server.url)).toEqual(here);
    }
  });

  it('does on the server what it would do here, under the name of the token', async () => {
    const remote = project.with({ env: { FORGE_SERVER: server.url } });
    const made = await remote.json<Task>('task', 'create', 'By server', '--description', 'x');
    expect(await project.show(made.id)).toMatchObject({ title: 'By server', created_by: 'Test User' });
    const { token } = await project.json<{ token: string }>(
      'token',
      'create',
      '--scope',
      'task',
      '--agent',
      'worker-1',
    );
    const agent = remote.with({ env: { FORGE_TOKEN: token } });
    expect(await agent.json('claim', made.id)).toMatchObject({ assignee: 'worker-1' });
    expect(await remote.fails('claim', made.id)).toMatchObject({
      exit: 4,
      error: { code: 'claim_conflict' },
    });
    expect(await agent.fails('task', 'delete', made.id)).toMatchObject({ exit: 6 });
    expect(await agent.text('task', 'close', made.id, '--reason', 'done')).toContain(made.id);
    expect(await remote.fails('ready', '--actor', 'somebody')).toMatchObject({ error: { code: 'usage' } });
  });

  it('[S154] works from anywhere, and by the name of forge-ctl', async () => {
    await project.create('Seen from afar');
    await using elsewhere = await forgeFolder();
    const env = { FORGE_SERVER: server.url, FORGE_HOME: project.env['FORGE_HOME'] };
    const { stdout, exit } = await elsewhere.bash('forge-ctl ready', { env });
    expect({ exit, seen: stdout.includes('Seen from afar') }).toEqual({ exit: 0, seen: true });
    expect(await elsewhere.with({ env }).run('ready')).toMatchObject({ exit: 0 });
  });

  it('keeps commands about the checkout here, and refuses them where a server was named', async () => {
    const env = { FORGE_SERVER: 'http://127.0.0.1:1' };
    expect(await project.program.with({ env }).run('hooks', 'status')).toMatchObject({ exit: 0 });
    expect(await project.program.fails('hooks', 'status', '--server', 'http://127.0.0.1:1')).toMatchObject({
      exit: 7,
      error: { code: 'not_available', hint: 'forge hooks status without --server' },
    });
    expect((await project.bash('forge-ctl completion bash | head -1', { env })).stdout).toMatch(/^#/);
  });

  it.each([
    ['http://127.0.0.1:1', 'server_unreachable', /nothing listens there/],
    ['http://no.such.host.invalid', 'server_unreachable', /No answer from http:\/\/no\.such\.host\.invalid/],
    ['ftp://x', 'invalid_input', /must begin with http/],
    ['nonsense', 'invalid_input', /must begin with http/],
    ['http://user:pass@127.0.0.1:1', 'invalid_input', /FORGE_TOKEN, not into the address/],
    ['http://127.0.0.1:1/?token=x', 'invalid_input', /more than a host/],
  ])('%s is %s', async (url, code, message) => {
    const { error } = await project.fails('ready', '--server', url);
    expect(error).toMatchObject({ code, message: expect.stringMatching(message) as string });
    expect(error.message).not.toContain('pass@');
    expect(error.hint).toBeDefined();
  });
});

describe('a connection that breaks before the answer', () => {
  it('is made again, and what was done is not done again', async () => {
    await using proxy = await breakAnswers(server.url, [1]);
    const remote = toRemote(project.program, server, proxy);
    const made = await remote.json<Task>('task', 'create', 'Only once');
    expect((await list('Only once')).map(({ id }) => id)).toEqual([made.id]);
    const [first, second, ...more] = proxy.seen;
    expect(more).toEqual([]);
    expect(first?.key).toMatch(/^[0-9a-f-]{36}$/);
    expect(second).toEqual(first);
    // The next command is another request.
    await remote.json<Task>('task', 'create', 'Only once');
    expect(await list('Only once')).toHaveLength(2);
    expect(proxy.seen[2]?.key).not.toBe(first?.key);
  });

  it('is made again for half an answer too, and for what only reads without a key', async () => {
    await using proxy = await breakAnswers(server.url, [1, 3], { after: 20 });
    const remote = toRemote(project, server, proxy);
    const made = await remote.json<Task>('task', 'create', 'By halves');
    expect(await remote.json<Task[]>('search', '--query', 'By halves')).toMatchObject([{ id: made.id }]);
    expect(proxy.seen.map(({ key }) => key !== undefined)).toEqual([true, true, false, false]);
  });

  it('is told with the doubt when it breaks again, and when nobody is there any more', async () => {
    await using proxy = await breakAnswers(server.url, [1, 2, 3, 4]);
    const { error } = await toRemote(project, server, proxy).fails('task', 'create', 'Once a command');
    expect(error).toMatchObject({
      code: 'server_unreachable',
      message: expect.stringContaining('may have been done') as string,
    });
    // Two commands, each of them tried twice: each did it once.
    expect(proxy.seen).toHaveLength(4);
    expect(await list('Once a command')).toHaveLength(2);
    await using last = await breakAnswers(server.url, [1], { thenClose: true });
    const told = await toRemote(project, server, last).run('task', 'create', 'Into the void');
    expect([told.exit, told.stderr]).toEqual([
      1,
      expect.stringContaining('it hung up; what was asked for may have been done'),
    ]);
  });

  it('waits for the end of what is still at work', async () => {
    await using proxy = await breakAnswers(server.url, [1], { pending: [2, 3] });
    const { id } = await toRemote(project, server, proxy).json<Task>('task', 'create', 'Waited for');
    expect(await list('Waited for')).toMatchObject([{ id }]);
    expect(new Set(proxy.seen.map(({ key }) => key)).size).toBe(1);
    expect(proxy.seen).toHaveLength(4);
  });

  it('a secret is not shown by the second answer', async () => {
    const before = await project.json<unknown[]>('token', 'list');
    await using proxy = await breakAnswers(server.url, [1]);
    const remote = toRemote(project, server, proxy);
    const told = await remote.run('token', 'create', '--scope', 'read', '--json');
    expect(JSON.parse(told.stdout)).toMatchObject({
      error: { code: 'idempotency_conflict', hint: 'forge token list; forge token rotate <id>' },
    });
    // It was made all the same, and once.
    expect(await project.json<unknown[]>('token', 'list')).toHaveLength(before.length + 1);
  });

  it('works where the server has no project that could remember it', async () => {
    await using folder = await forgeFolderHere();
    await using server = await startForgeServer(folder);
    await using proxy = await breakAnswers(server.url, [1]);
    const remote = toRemote(folder, server, proxy);
    expect(await remote.run('agent', 'add', 'worker-1', '--json')).toMatchObject({ exit: 0 });
    expect(proxy.seen).toHaveLength(2);
    expect(await folder.json<unknown[]>('agent', 'list')).toHaveLength(1);
  });
});

describe('the token', () => {
  it('of this machine goes to no other program that listens on the port, and FORGE_TOKEN not beyond it', async () => {
    // There is a server and a token, and something else at another port.
    expect(server.token).toMatch(/^fgt_/);
    await using target = await listen(() => ({ status: 200, headers: {}, body: '[]' }));
    await using thief = await listen(() => ({
      status: 307,
      headers: { location: `${target.url}/steal` },
      body: '',
    }));
    expect(await project.run('ready', '--server', thief.url)).toMatchObject({ exit: 1 });
    expect(thief.seen.map(({ headers }) => headers.authorization)).toEqual([undefined]);
    const named = project.with({ env: { FORGE_TOKEN: 'fgt_mine' } });
    const told = await named.run('ready', '--server', thief.url);
    expect(told.stderr).toContain('it answers with a redirect (307), which is not followed');
    // The one that was named got it, as it was told to; where it pointed to nobody went.
    expect(thief.seen.map(({ headers }) => headers.authorization)).toEqual([undefined, 'Bearer fgt_mine']);
    expect(target.seen).toEqual([]);
  });

  it('of this machine goes to the server that proves itself, and to no listener at another address of its port', async () => {
    const { port } = new URL(server.url);
    // Also where the challenge is handed on to the server itself.
    const handOn = async ({ url = '/' }: IncomingMessage): Promise<Reply> => {
      const body = JSON.stringify((await server.ask(url)).body);
      return { status: 200, headers: { 'content-length': String(body.length) }, body };
    };
    await using relay = await listen(handOn, { port: Number(port), host: '127.0.0.2' });
    expect(await project.fails('ready', '--server', `http://127.0.0.2:${port}`)).toMatchObject({
      error: { code: 'server_unreachable', message: expect.stringContaining('does not prove') as string },
    });
    expect(relay.seen.length).toBeGreaterThan(0);
    for (const { url, headers } of relay.seen) {
      expect(url).toMatch(/^\/api\/status\?challenge=[0-9a-f]{64}$/);
      expect(headers.authorization).toBeUndefined();
    }
    const asked = relay.seen.length;
    expect(await project.run('ready', '--server', server.url)).toMatchObject({ exit: 0 });
    expect(await project.run('ready', '--server', `http://localhost:${port}`)).toMatchObject({ exit: 0 });
    const elsewhere = `${server.url}//127.0.0.2:${port}`;
    expect(await project.run('ready', '--server', elsewhere)).toMatchObject({ exit: 1 });
    expect(relay.seen).toHaveLength(asked);
  });

  it('of this machine is proved also after it was rotated under the running server', async () => {
    await using folder = await forgeFolder();
    await using server = await startForgeServer(folder);
    const [own] = await folder.json<{ id: string }[]>('token', 'list');
    await folder.text('token', 'rotate', own?.id ?? '');
    expect(await folder.run('token', 'list', '--server', server.url)).toMatchObject({ exit: 0 });
  });

  it('of this machine does not go to a listener that takes the port while the server still ends its work', async () => {
    await using stopping = await startForgeServer(project);
    const { port } = new URL(stopping.url);
    const { id } = await project.create('Waited for');
    const waits = stopping.ask(`/api/v1/tasks/${id}/wait?timeout_seconds=5`).catch(() => undefined);
    await sleep(300);
    stopping.kill('SIGTERM');
    await vi.waitUntil(async () => {
      const said = await fetch(`${stopping.url}/api/status`).catch(() => undefined);
      return said === undefined;
    });
    await using thief = await listen(() => ({ status: 500, headers: {}, body: '{}' }), {
      port: Number(port),
    });
    expect(await project.run('ready', '--server', stopping.url)).toMatchObject({ exit: 1 });
    expect(thief.seen.map(({ headers }) => headers.authorization)).not.toContain(`Bearer ${stopping.token}`);
    stopping.kill('SIGKILL');
    await waits;
  });

  it.each([
    ['html', '<html>', /another way/],
    ['another shape', '{"tasks": []}', /another way/],
    ['nothing', '', /another way/],
  ])('an answer of %s is no answer', async (_name, body, message) => {
    await using odd = await listen(() => ({ status: 200, headers: {}, body }));
    const { error } = await project.fails('ready', '--server', odd.url);
    expect(error).toMatchObject({
      code: 'server_unreachable',
      message: expect.stringMatching(message) as string,
    });
  });

  it('a wrong one is told with the next step, and an error of another program is told as one', async () => {
    const wrong = project.with({ env: { FORGE_TOKEN: 'fgt_wrong' } });
    expect(await wrong.fails('ready', '--server', server.url)).toMatchObject({
      exit: 6,
      error: { code: 'unauthorized', hint: expect.stringContaining('FORGE_TOKEN') as string },
    });
    const broken = project.with({ env: { FORGE_TOKEN: 'two words' } });
    expect(await broken.fails('ready', '--server', server.url)).toMatchObject({
      error: { code: 'invalid_input' },
    });
    await using other = await listen(() => ({ status: 502, headers: {}, body: 'Bad gateway' }));
    const { error } = await project.fails('ready', '--server', other.url);
    expect(error.message).toMatch(/answers 502 and is no Forge server/);
  });
});

/** The server behind a proxy; the token of the home goes to servers of this machine only by name. */
function toRemote(forge: ForgeCli, { token }: ForgeServer, { url }: { readonly url: string }): ForgeCli {
  return forge.with({ env: { FORGE_SERVER: url, FORGE_TOKEN: token } });
}

interface Passed {
  readonly body: string;
  readonly key: string | undefined;
}

interface BreakOptions {
  /** So many bytes of the answer come. */
  readonly after?: number;
  /** Nobody listens afterwards. */
  readonly thenClose?: boolean;
  /** Requests with these numbers are told what a server says that is still at work on the same. */
  readonly pending?: readonly number[];
}

/** Passes requests on, and hangs up in the place of the answers with these numbers, or in the middle of them. */
async function breakAnswers(
  target: string,
  broken: readonly number[],
  { after = 0, thenClose = false, pending = [] }: BreakOptions = {},
): Promise<AsyncDisposable & { readonly url: string; readonly seen: Passed[] }> {
  const seen: Passed[] = [];
  const { host } = new URL(target);
  const proxy = createServer((request, response) => {
    const pass = async (): Promise<void> => {
      const body = await text(request);
      const number = seen.push({ body, key: request.headers['idempotency-key'] as string | undefined });
      if (pending.includes(number)) {
        const details = { began_at: '2026-01-01T00:00:00.000Z' };
        const said = { code: 'idempotency_conflict', message: 'at work', details, request_id: 'x' };
        response.writeHead(409, { 'content-type': 'application/json' }).end(JSON.stringify(said));
        return;
      }
      const { connection: _own, ...headers } = request.headers;
      const sent = httpRequest(`${target}${request.url ?? ''}`, {
        method: request.method ?? 'POST',
        headers: { ...headers, host },
        agent: false,
      });
      sent.end(body);
      const [answer] = (await once(sent, 'response')) as [IncomingMessage];
      const whole = await buffer(answer);
      if (!broken.includes(number)) {
        response.writeHead(answer.statusCode ?? 0, answer.headers).end(whole);
        return;
      }
      if (thenClose) proxy.close();
      if (after === 0) request.socket.destroy();
      else
        response
          .writeHead(answer.statusCode ?? 0, answer.headers)
          .write(whole.subarray(0, after), () => request.socket.destroy());
    };
    pass().catch(() => request.socket.destroy());
  });
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
  const { port } = proxy.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    seen,
    async [Symbol.asyncDispose]() {
      proxy.closeAllConnections();
      if (proxy.listening) await new Promise((resolve) => proxy.close(resolve));
    },
  };
}

interface Reply {
  readonly status: number;
  readonly headers: Record<string, string>;
  readonly body: string;
}

async function listen(
  reply: (request: IncomingMessage) => Reply | Promise<Reply>,
  { port: wanted = 0, host = '127.0.0.1' }: { readonly port?: number; readonly host?: string } = {},
): Promise<AsyncDisposable & { url: string; seen: IncomingMessage[] }> {
  const seen: IncomingMessage[] = [];
  const server = createServer((request, response) => {
    seen.push(request);
    const answer = async (): Promise<void> => {
      const { status, headers, body } = await reply(request);
      response.writeHead(status, headers).end(body);
    };
    answer().catch(() => request.socket.destroy());
  });
  await new Promise<void>((resolve) => server.listen(wanted, host, resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://${host}:${port}`,
    seen,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

noteLongestBlock(import.meta.filename);

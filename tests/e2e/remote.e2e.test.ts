import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createInterface } from 'node:readline';
import { describe, expect, it } from 'vitest';
import type { Task } from '#contract/task.ts';
import {
  FORGE,
  type ForgePlace,
  type ForgeProject,
  forgeFolder,
  forgeProject,
} from '../support/forge-cli.ts';

interface Served extends AsyncDisposable {
  readonly url: string;
  readonly token_file: string;
}

describe('forge --server', () => {
  it('prints what the local command prints, as text and as JSON, errors and exit codes too', async () => {
    await using project = await forgeProject();
    await using server = await serve(project);
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
  });

  it('does on the server what it would do here, under the name of the token', async () => {
    await using project = await forgeProject();
    await using server = await serve(project);
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

  it('works from anywhere, and by the name of forge-ctl', async () => {
    await using project = await forgeProject();
    await using server = await serve(project);
    await project.create('Seen from afar');
    await using elsewhere = await forgeFolder();
    const env = { FORGE_SERVER: server.url, FORGE_HOME: project.env['FORGE_HOME'] };
    const { stdout, exit } = await elsewhere.bash('forge-ctl ready', { env });
    expect({ exit, seen: stdout.includes('Seen from afar') }).toEqual({ exit: 0, seen: true });
    expect(await elsewhere.with({ env }).run('ready')).toMatchObject({ exit: 0 });
  });

  it('keeps commands about the checkout here, and refuses them where a server was named', async () => {
    await using project = await forgeProject();
    const env = { FORGE_SERVER: 'http://127.0.0.1:1' };
    expect(await project.with({ env }).run('hooks', 'status')).toMatchObject({ exit: 0 });
    expect(await project.fails('hooks', 'status', '--server', 'http://127.0.0.1:1')).toMatchObject({
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
    await using project = await forgeProject();
    const { error } = await project.fails('ready', '--server', url);
    expect(error).toMatchObject({ code, message: expect.stringMatching(message) as string });
    expect(error.message).not.toContain('pass@');
    expect(error.hint).toBeDefined();
  });
});

describe('the token', () => {
  it('of this machine goes to no other program that listens on the port, and FORGE_TOKEN not beyond it', async () => {
    await using project = await forgeProject();
    // There is a server and a token, and something else at another port.
    await using server = await serve(project);
    expect((await readFile(server.token_file, 'utf8')).trim()).toMatch(/^fgt_/);
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

  it.each([
    ['html', '<html>', /another way/],
    ['another shape', '{"tasks": []}', /another way/],
    ['nothing', '', /another way/],
  ])('an answer of %s is no answer', async (_name, body, message) => {
    await using project = await forgeProject();
    await using odd = await listen(() => ({ status: 200, headers: {}, body }));
    const { error } = await project.fails('ready', '--server', odd.url);
    expect(error).toMatchObject({
      code: 'server_unreachable',
      message: expect.stringMatching(message) as string,
    });
  });

  it('a wrong one is told with the next step, and an error of another program is told as one', async () => {
    await using project = await forgeProject();
    await using server = await serve(project);
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

async function serve(project: ForgeProject & ForgePlace): Promise<Served> {
  const child = spawn(process.execPath, [FORGE, 'serve', '--port', '0', '--json'], {
    cwd: project.path,
    env: project.env,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [line] = (await once(createInterface({ input: child.stdout }), 'line')) as [string];
  const { url, token_file } = JSON.parse(line) as { url: string; token_file: string };
  return {
    url,
    token_file,
    async [Symbol.asyncDispose]() {
      const ended = once(child, 'exit');
      child.kill('SIGTERM');
      await ended;
    },
  };
}

interface Reply {
  readonly status: number;
  readonly headers: Record<string, string>;
  readonly body: string;
}

async function listen(
  reply: (request: IncomingMessage) => Reply,
): Promise<AsyncDisposable & { url: string; seen: IncomingMessage[] }> {
  const seen: IncomingMessage[] = [];
  const server = createServer((request, response) => {
    seen.push(request);
    const { status, headers, body } = reply(request);
    response.writeHead(status, headers).end(body);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    seen,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

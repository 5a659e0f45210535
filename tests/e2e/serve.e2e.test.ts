import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdirSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import type { Task } from '#contract/task.ts';
import { followEvents } from '../support/event-client.ts';
import { forgeFolderHere, forgeProjectHere } from '../support/forge-here.ts';
import { serveForAll, type Served } from '../support/serve-for-all.ts';
import { startForgeServer } from '../support/forge-server.ts';
import { noteLongestBlock } from '../support/loop-blocks.ts';
import { rawSocket } from '../support/raw-socket.ts';

describe('forge serve', () => {
  test('[S238] says where it is, wants a token, and ends with 0 when it is told to', async () => {
    await using project = await forgeProjectHere();
    await using server = await startForgeServer(project);
    expect(server.url).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
    expect(statSync(server.token_file).mode & 0o777).toBe(0o600);
    expect(server.token_file.startsWith(project.path)).toBe(false);
    expect(await (await fetch(`${server.url}/api/status`)).json()).toEqual({ status: 'ok' });
    expect((await fetch(`${server.url}/api/v1/tasks`)).status).toBe(401);
    expect((await server.ask('/api/v1/tasks')).body).toEqual([]);
    server.kill('SIGTERM');
    expect(await server.ended).toEqual({ code: 0, signal: null });
    expect(server.told()).toBe('');
    await expect(fetch(`${server.url}/api/status`)).rejects.toThrow('fetch failed');
    expect(isThere(server.pid)).toBe(false);
    // The next start has the same token, and nothing of the last one is left on the list.
    await using again = await startForgeServer(project);
    expect(again.token).toBe(server.token);
    expect(again.told()).toBe('');
  });

  test('[S161] goes on after Last-Event-ID, also over a crash and a restart', async () => {
    await using project = await forgeProjectHere();
    await using server = await startForgeServer(project);
    using events = await followEvents(`${server.url}/api/v1/events?after=0`, { token: server.token });
    await project.create('one');
    await project.create('two');
    const [, second] = await events.until(2);
    server.kill('SIGKILL');
    await events.ended;
    expect((await server.ended).signal).toBe('SIGKILL');
    await project.create('while it was dead');
    await using again = await startForgeServer(project);
    expect(again.told()).toBe('');
    using more = await followEvents(`${again.url}/api/v1/events`, {
      token: again.token,
      lastId: second?.id ?? '',
    });
    await project.create('after the restart');
    expect((await more.until(2)).map(({ data }) => data['seq'])).toEqual([3, 4]);
  });

  test.skipIf(process.platform === 'win32')(
    '[L7] says at its start what of its home and of a store others can reach, and what to type',
    async () => {
      await using project = await forgeProjectHere();
      const store = join(project.path, '.git', 'forge');
      const startAndEnd = async () => {
        await using server = await startForgeServer(project);
        server.kill('SIGTERM');
        // All that it wrote has come by then.
        await server.ended;
        return { token: server.token_file, told: server.told().split('\n') };
      };
      const { token, told } = await startAndEnd();
      expect(told).toEqual(['']);
      const home = dirname(token);
      chmodSync(home, 0o777);
      chmodSync(token, 0o644);
      chmodSync(join(store, 'forge.db'), 0o644);
      expect((await startAndEnd()).told).toEqual([
        `forge: Others on this machine can change files in ${home}: chmod go-w ${home}`,
        expect.stringContaining(`forge: Others on this machine can read ${token}: chmod 600 ${token}`),
        `forge: Others on this machine can read tasks in ${store}: forge doctor --fix`,
        '',
      ]);
    },
  );

  test('takes the next free port and says so', async () => {
    await using project = await forgeProjectHere();
    const taken = createServer().listen(0, '127.0.0.1');
    await once(taken, 'listening');
    const { port } = taken.address() as AddressInfo;
    await using server = await startForgeServer(project, ['--port', String(port)]);
    expect(Number(new URL(server.url).port)).toBeGreaterThan(port);
    expect(server.told()).toBe(`forge: Port ${port} is taken; this server is at ${server.url}\n`);
    taken.close();
  });

  test('[S237] flags before the environment before the file before what is usual', async () => {
    await using project = await forgeProjectHere();
    const [flag, environment, file] = await freePorts(3);
    mkdirSync(join(project.home, '.forge'), { recursive: true });
    const settings = { version: 1, projects: [], server: { port: file } };
    writeFileSync(join(project.home, '.forge', 'config.json'), JSON.stringify(settings));
    const env = { FORGE_PORT: String(environment) };
    const portOf = async (flags: string[], more: { env?: Record<string, string> }): Promise<number> => {
      await using server = await startForgeServer(project, flags, more);
      return Number(new URL(server.url).port);
    };
    expect(await portOf(['--port', String(flag)], { env })).toBe(flag);
    expect(await portOf([], { env })).toBe(environment);
    expect(await portOf([], {})).toBe(file);
  });

  test.each([
    ['0.0.0.0', []],
    ['::', []],
    ['192.168.1.1', []],
    ['forge.example', []],
    ['127.0.0.1.evil', []],
  ])('refuses %s without TLS or an explicit word', async (host, flags) => {
    await using project = await forgeProjectHere();
    const forge = host === '0.0.0.0' ? project.program : project;
    const { error, exit } = await forge.fails('serve', '--port', '0', '--host', host, ...flags);
    expect([error.code, exit]).toEqual(['permission_denied', 6]);
    expect(error.hint).toContain('--tls-cert');
  });

  test('an address from the environment or the file is looked at the same way', async () => {
    await using project = await forgeProjectHere();
    const open = project.with({ env: { FORGE_HOST: '0.0.0.0' } });
    expect((await open.fails('serve', '--port', '0')).error.code).toBe('permission_denied');
  });

  test.each([
    [['--port', '0', '--tls-cert', 'x.pem'], {}, 'invalid_input'],
    [['--port', '0', '--project', 'nowhere'], {}, 'invalid_input'],
    [['--port', '0', '--project', '/'], {}, 'not_a_project'],
    [['--port', '70000'], {}, 'invalid_input'],
    [[], { FORGE_PORT: 'many' }, 'invalid_input'],
    [['--port', '0'], { FORGE_HOST: 'a b' }, 'invalid_input'],
    [['--port', '0', '--host', '127.0.0.9.9'], {}, 'permission_denied'],
  ])('refuses %j %j with %s', async (flags, env, code) => {
    await using project = await forgeProjectHere();
    expect((await project.with({ env }).fails('serve', ...flags)).error.code).toBe(code);
  });

  test('serves what is registered, finds the project by the id, and follows the register', async () => {
    await using here = await forgeProjectHere();
    await using there = await forgeProjectHere({ prefix: 'pb', name: 'backend' });
    await using third = await forgeProjectHere({ prefix: 'xx', name: 'later' });
    await here.json('project', 'add', 'backend', there.path);
    await using server = await startForgeServer(here);
    const far = await there.create('there');
    const near = await here.create('here');
    const titleOf = async (id: string) => (await server.ask(`/api/v1/tasks/${id}`)).body;
    expect(await titleOf(far.id)).toMatchObject({ title: 'there' });
    expect(await titleOf(near.id)).toMatchObject({ title: 'here' });
    const unclear = await server.ask('/api/v1/tasks');
    expect(unclear.body).toMatchObject({ code: 'invalid_input', details: { projects: ['fg', 'pb'] } });
    expect((await server.ask('/api/v1/tasks?project=backend')).body).toMatchObject([{ id: far.id }]);
    expect((await server.ask('/api/v1/tasks?project=pb')).body).toMatchObject([{ id: far.id }]);
    expect((await server.ask('/api/v1/tasks?project=zz')).status).toBe(404);
    await here.json('project', 'add', 'later', third.path);
    await third.create('of a project that came later');
    const later = await eventually(
      () => server.ask('/api/v1/tasks?project=xx'),
      ({ status }) => status === 200,
    );
    expect(later.body).toMatchObject([{ title: 'of a project that came later' }]);
  });

  test('serves only the projects that were named', async () => {
    await using here = await forgeProjectHere();
    await using there = await forgeProjectHere({ prefix: 'pb', name: 'backend' });
    await here.json('project', 'add', 'backend', there.path);
    await using server = await startForgeServer(here, ['--port', '0', '--project', there.path]);
    expect((await server.ask('/api/v1/tasks')).status).toBe(200);
    expect((await server.ask('/api/v1/tasks?project=fg')).status).toBe(404);
  });

  test('refuses two projects whose ids cannot be told apart', async () => {
    await using here = await forgeProjectHere();
    await using there = await forgeProjectHere();
    const flags = ['--port', '0', '--project', here.path, '--project', there.path];
    expect((await here.fails('serve', ...flags)).error.code).toBe('already_exists');
  });

  test('starts outside of every project', async () => {
    await using folder = await forgeFolderHere();
    await using server = await startForgeServer(folder);
    expect((await server.ask('/api/v1/tasks')).body).toMatchObject({ code: 'not_found' });
  });
});

describe('a server that runs', () => {
  let project: Served['project'];
  let server: Served['server'];
  serveForAll((served) => ({ project, server } = served));

  test.runIf(process.platform === 'linux')(
    '[H4] opens no debugger when it is asked to by a signal',
    async () => {
      const plain = spawn(process.execPath, ['-e', 'console.log(1); setInterval(() => {}, 1000)']);
      await once(plain.stdout, 'data');
      plain.kill('SIGUSR1');
      const [words] = (await once(plain.stderr, 'data')) as [Buffer];
      expect(words.toString()).toContain('Debugger listening');
      plain.kill('SIGKILL');
      server.kill('SIGUSR1');
      expect((await server.ask('/api/v1/tasks')).status).toBe(200);
      expect(server.told()).not.toContain('Debugger');
    },
  );

  test('[S161] the command line beside it and its clients see each other at once', async () => {
    using events = await followEvents(`${server.url}/api/v1/events`, { token: server.token });
    expect(events.status).toBe(200);
    const made = await server.ask('/api/v1/projects/fg/tasks', { body: { title: 'over HTTP' } });
    expect(made.status).toBe(201);
    const { id } = made.body as Task;
    expect((await project.show(id)).title).toBe('over HTTP');
    const byCli = await project.create('by the command line');
    const claimed = await server.ask(`/api/v1/tasks/${byCli.id}/claim`, { body: {} });
    expect([claimed.status, (claimed.body as Task).status]).toEqual([200, 'in_progress']);
    const refused = await project.with({ env: { FORGE_ACTOR: 'worker-9' } }).fails('claim', byCli.id);
    expect(refused.error.code).toBe('claim_conflict');
    const seen = await events.until(3);
    expect(seen.slice(0, 3).map(({ event, data }) => [event, data['task_id']])).toEqual([
      ['task.created', id],
      ['task.created', byCli.id],
      ['task.claimed', byCli.id],
    ]);
    expect(seen[2]?.data).toMatchObject({ data: { task: { id: byCli.id, status: 'in_progress' } } });
  });

  test('what needs the caller’s own checkout is refused with a sentence', async () => {
    for (const name of ['project.init', 'hooks.install', 'sync.import', 'server.run']) {
      const { status, body } = await server.ask(`/api/v1/operations/${name}`, { body: {} });
      expect([name, status]).toEqual([name, 501]);
      expect(body).toMatchObject({ code: 'not_available' });
    }
  });

  test("an agent's token reaches its own task, and a revoked one nothing", async () => {
    const [own, other] = [await project.create('own'), await project.create('of somebody else')];
    const { token, id } = await project.json<{ token: string; id: string }>(
      'token',
      'create',
      '--scope',
      'task',
      '--agent',
      'worker-1',
    );
    const ask = (path: string, body: unknown) => server.ask(path, { body, token });
    expect((await ask(`/api/v1/tasks/${own.id}/claim`, {})).body).toMatchObject({ assignee: 'worker-1' });
    expect((await ask(`/api/v1/tasks/${own.id}/comments`, { body: 'begun' })).status).toBe(201);
    const refused = await ask(`/api/v1/tasks/${other.id}/comments`, { body: 'not mine' });
    expect([refused.status, refused.body]).toMatchObject([403, { code: 'permission_denied' }]);
    expect((await server.ask(`/api/v1/tasks/${own.id}`, { method: 'DELETE', token, body: {} })).status).toBe(
      403,
    );
    using events = await followEvents(`${server.url}/api/v1/events`, { token });
    await project.json('token', 'revoke', id);
    await events.ended;
    expect((await ask(`/api/v1/tasks/${own.id}/comments`, { body: 'x' })).status).toBe(401);
  });

  test('tells where the same projects are served already, and Ctrl-C ends it', async () => {
    await using second = await startForgeServer(project);
    expect(second.told()).toContain(`are served at ${server.url} already (process ${server.pid})`);
    expect((await second.ask('/api/v1/tasks')).status).toBe(200);
    // Ctrl-C ends it too.
    second.kill('SIGINT');
    expect(await second.ended).toEqual({ code: 0, signal: null });
  });

  test('joins in what a pull or an editor left in the task file', async () => {
    const { id } = await project.create('to be seen');
    await project.run('export');
    const file = join(project.path, '.forge', 'tasks.jsonl');
    const text = readFileSync(file, 'utf8').replace('to be seen', 'changed by hand');
    writeFileSync(`${file}.new`, text);
    renameSync(`${file}.new`, file);
    const answer = await eventually(
      () => server.ask(`/api/v1/tasks/${id}`),
      ({ body }) => (body as Task).title === 'changed by hand',
    );
    expect(answer.status).toBe(200);
  });

  test('follows a database that was made anew beside it', async () => {
    const { id } = await project.create('survives');
    expect((await server.ask(`/api/v1/tasks/${id}`)).status).toBe(200);
    for (const end of ['', '-wal', '-shm'])
      renameSync(
        join(project.path, '.git', 'forge', `forge.db${end}`),
        join(project.path, '.git', 'forge', `away.db${end}`),
      );
    await project.run('ready');
    const made = await eventually(
      () => server.ask('/api/v1/projects/fg/tasks', { body: { title: 'into the new one' } }),
      ({ status }) => status === 201,
    );
    expect((await project.show((made.body as Task).id)).title).toBe('into the new one');
  });

  test('a large task file is joined in too', async () => {
    const lines = Array.from({ length: 3_000 }, (_, at) => {
      const id = `fg-${(at + 46_656).toString(36)}`;
      const created_at = new Date(Date.UTC(2026, 0, 1) + at).toISOString();
      return JSON.stringify({
        id,
        title: `task ${at}`,
        description: 'x'.repeat(200),
        status: 'open',
        priority: 2,
        type: 'task',
        created_at,
        created_by: 'somebody',
        updated_at: created_at,
      });
    });
    writeFileSync(join(project.path, '.forge', 'tasks.jsonl'), `${lines.join('\n')}\n`);
    const last = `/api/v1/tasks/fg-${(2_999 + 46_656).toString(36)}`;
    const answer = await eventually(
      () => server.ask(last),
      ({ status }) => status === 200,
    );
    expect(answer.body).toMatchObject({ title: 'task 2999', created_by: 'somebody' });
  });

  test('stops while somebody streams and somebody has half a request', async () => {
    using events = await followEvents(`${server.url}/api/v1/events`, { token: server.token });
    const idle = rawSocket(new URL(server.url).port);
    await once(idle, 'connect');
    server.kill('SIGTERM');
    expect(await server.ended).toEqual({ code: 0, signal: null });
    await events.ended;
    idle.destroy();
  });
});

function isThere(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

async function freePorts(count: number): Promise<number[]> {
  const servers = Array.from({ length: count }, () => createServer().listen(0, '127.0.0.1'));
  await Promise.all(servers.map((server) => once(server, 'listening')));
  const ports = servers.map((server) => (server.address() as AddressInfo).port);
  await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))));
  return ports;
}

/** For what the server notices by itself, within about a second. */
async function eventually<T>(look: () => Promise<T>, is: (found: T) => boolean): Promise<T> {
  for (;;) {
    const found = await look();
    if (is(found)) return found;
    await sleep(50);
  }
}

noteLongestBlock(import.meta.filename);

import { EventEmitter } from 'node:events';
import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import { describe, expect, it } from 'vitest';
import { startHttp, type TestHttp } from '../../../tests/support/http-server.ts';
import { FreeSockets } from './free-sockets.ts';
import { rawSocket } from '../../../tests/support/raw-socket.ts';

/** A request whose body does not come; with all that was answered. */
interface Open {
  readonly socket: Socket;
  answer: string;
  closed: boolean;
}

function openBody(http: TestHttp, token: string): Promise<Open> {
  const head = [
    'POST /api/v1/operations/task.create HTTP/1.1',
    `Host: ${http.host}`,
    `Authorization: Bearer ${token}`,
    'Content-Type: application/json',
    'Content-Length: 1000',
  ];
  return new Promise((resolve) => {
    const socket = rawSocket(http.port, () => {
      socket.write(`${head.join('\r\n')}\r\n\r\n{`);
      resolve(open);
    });
    const open: Open = { socket, answer: '', closed: false };
    socket.on('error', () => resolve(open));
    socket.on('close', () => (open.closed = true));
    socket.on('data', (part) => (open.answer += part.toString()));
  });
}

describe('a server whose connections are all taken by one token', () => {
  it('closes the oldest of that token for others, and none of theirs', async () => {
    await using http = await startHttp({ limits: { sockets: 200, spare_sockets: 20 } });
    const [many, few] = [await http.token('task'), await http.token('task')];
    const theirs = await Promise.all([1, 2, 3].map(() => openBody(http, few.token)));
    const all: Open[] = [];
    for (let at = 0; at < 600; at += 1) all.push(await openBody(http, many.token));
    for (let at = 0; at < 10; at += 1)
      expect((await http.ask({ path: '/api/v1/tasks', token: few.token })).status).toBe(200);
    expect(theirs.map(({ closed }) => closed)).toEqual([false, false, false]);
    const closed = all.map((one) => one.closed);
    expect(closed.filter(Boolean).length).toBeGreaterThanOrEqual(600 - 220);
    // The oldest go first.
    expect(closed.slice(0, 300)).not.toContain(false);
    for (const { socket } of [...theirs, ...all]) socket.destroy();
  });
});

describe('a connection of TLS', () => {
  it('is not taken for a silent one while something is asked on it', () => {
    const server = new EventEmitter();
    new FreeSockets(server as Server, 2);
    const [busy, silent] = [plainSocket(1), plainSocket(2)];
    const secured = plainSocket(1);
    server.emit('connection', busy);
    server.emit('secureConnection', secured);
    server.emit('request', { socket: secured }, new EventEmitter());
    server.emit('connection', silent);
    server.emit('connection', plainSocket(3));
    expect([busy.destroyed, secured.destroyed, silent.destroyed]).toEqual([false, false, true]);
  });
});

function plainSocket(remotePort: number): EventEmitter & { destroyed: boolean } {
  const socket = { remoteAddress: '::1', remotePort, destroyed: false };
  const destroy = (): void => void (all.destroyed = true);
  const all = Object.assign(new EventEmitter(), socket, { destroy });
  return all;
}

describe('requests whose bodies do not end', () => {
  it('are counted for their token, and free their place with their end', async () => {
    await using http = await startHttp({ limits: { open_bodies_a_token: 5 } });
    const [many, other] = [await http.token('task'), await http.token('task')];
    const all: Open[] = [];
    for (let at = 0; at < 5; at += 1) all.push(await openBody(http, many.token));
    const body = { title: 'x' };
    const create = (token: string): Promise<{ status: number; json: unknown }> =>
      http.ask({ method: 'POST', path: '/api/v1/operations/task.create', token, body });
    await expect.poll(async () => (await create(many.token)).status).toBe(429);
    expect((await create(many.token)).json).toMatchObject({
      code: 'too_many_requests',
      details: { limit: 5 },
    });
    // What has no body, and another token, do not wait for them.
    expect((await http.ask({ path: '/api/v1/tasks', token: many.token })).status).toBe(200);
    expect((await create(other.token)).status).toBe(201);
    all[0]?.socket.destroy();
    await expect.poll(async () => (await create(many.token)).status).toBe(201);
    all[1]?.socket.write(`"title":"${'x'.repeat(988)}"}`);
    await expect.poll(() => all[1]?.answer).toContain('HTTP/1.1 201');
    for (let at = 0; at < 20; at += 1) expect((await create(many.token)).status).toBe(201);
    for (const { socket } of all) socket.destroy();
  });
});

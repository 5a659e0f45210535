import { once } from 'node:events';
import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import { describe, expect, it } from 'vitest';
import { startHttp, type TestHttp } from '../../../tests/support/http-server.ts';
import { BodyBudget } from './body-budget.ts';
import { rawSocket } from '../../../tests/support/raw-socket.ts';

const LIMITS = { body_bytes_a_token: 300_000, body_bytes_all: 500_000 };
const PATH = '/api/v1/operations/task.create';

describe('bodies of requests that are not answered yet', () => {
  it('are bounded in their bytes for each token and for all, before they are read', async () => {
    await using http = await startHttp({ limits: LIMITS });
    const [many, other, third] = [
      await http.token('task'),
      await http.token('task'),
      await http.token('task'),
    ];
    const create = (token: string, size = 10) =>
      http.ask({ method: 'POST', path: PATH, token, body: { title: 'x'.repeat(size) } });
    const open = await openBody(http, many.token, 'Content-Length: 290000');
    await expect.poll(async () => (await create(many.token, 20_000)).status).toBe(429);
    const refused = await create(many.token, 20_000);
    expect(refused.json).toMatchObject({ code: 'too_many_requests', details: { limit: 300_000 } });
    expect(refused.headers['retry-after']).toBe('1');
    // A small one still fits, and so does a large one of another token.
    expect((await create(many.token)).status).toBe(201);
    expect((await create(other.token, 20_000)).status).toBe(201);
    const second = await openBody(http, other.token, 'Content-Length: 200000');
    await expect.poll(async () => (await create(third.token, 20_000)).status).toBe(503);
    expect((await create(third.token, 20_000)).json).toMatchObject({ code: 'server_busy' });
    open.socket.destroy();
    await expect.poll(async () => (await create(many.token, 20_000)).status).toBe(201);
    second.socket.destroy();
  });

  it('count what has come where no length was announced', async () => {
    await using http = await startHttp({ limits: LIMITS });
    const { token } = await http.token('task');
    const open = await openBody(http, token, 'Transfer-Encoding: chunked');
    const chunk = `${(50_000).toString(16)}\r\n${' '.repeat(50_000)}\r\n`;
    for (let at = 0; at < 5; at += 1) open.socket.write(chunk);
    await expect
      .poll(
        async () =>
          (await http.ask({ method: 'POST', path: PATH, token, body: { t: 'x'.repeat(60_000) } })).status,
      )
      .toBe(429);
    for (let at = 0; at < 5; at += 1) open.socket.write(chunk);
    await expect.poll(() => open.answer).toMatch(/^HTTP\/1\.1 429 [^]*"too_many_requests"/);
    await expect
      .poll(async () => (await http.ask({ method: 'POST', path: PATH, token, body: { title: 'x' } })).status)
      .toBe(201);
    expect(http.failures).toEqual([]);
    open.socket.destroy();
  });

  it('count what is read ahead where no length was announced, however little has come', async () => {
    await using http = await startHttp({ limits: { ...LIMITS, body_bytes_a_token: 100_000 } });
    const { token } = await http.token('task');
    const open = await openBody(http, token, 'Transfer-Encoding: chunked', '1\r\n \r\n');
    const body = { title: 'x', description: 'y'.repeat(50_000) };
    const ask = async () => (await http.ask({ method: 'POST', path: PATH, token, body })).status;
    await expect.poll(ask).toBe(429);
    open.socket.destroy();
    await expect.poll(ask).toBe(201);
  });
});

it('a body that grows beyond the bound is refused once, and what comes after that is not kept', () => {
  const budget = new BodyBudget({ ...LIMITS, body_bytes_a_token: 100_000 });
  const request = new IncomingMessage(new Socket());
  request.headers['transfer-encoding'] = 'chunked';
  const response = new ServerResponse(request);
  const refused: string[] = [];
  budget.hold(request, response, { who: 'a', refuse: ({ code }) => refused.push(code) });
  for (let at = 0; at < 4; at += 1) request.push(Buffer.alloc(40_000));
  expect(refused).toEqual(['too_many_requests']);
  expect(request.readableLength).toBe(80_000);
  const next = new IncomingMessage(new Socket());
  next.headers['content-length'] = '100000';
  const hold = (): void => budget.hold(next, new ServerResponse(next), { who: 'a', refuse: () => undefined });
  expect(hold).toThrow(expect.objectContaining({ code: 'too_many_requests' }));
  response.emit('close');
  expect(hold).not.toThrow();
});

it('bodies of requests that need no token keep no place from those that have one', async () => {
  await using http = await startHttp({ limits: LIMITS });
  const { token } = await http.token('task');
  const status = `GET /api/status HTTP/1.1\r\nHost: ${http.host}\r\n`;
  const sockets = Array.from({ length: 5 }, () => rawSocket(http.port));
  // The first answer is there; the second request has not come to its end.
  const answers = sockets.map(async (socket) => {
    socket.write(`${status}\r\n${status}Content-Length: 250000\r\n\r\n`);
    const [bytes] = (await once(socket, 'data')) as [Buffer];
    return String(bytes).split('\r\n')[0];
  });
  expect(new Set(await Promise.all(answers))).toEqual(new Set(['HTTP/1.1 200 OK']));
  const body = { title: 'x', description: 'y'.repeat(200_000) };
  expect((await http.ask({ method: 'POST', path: PATH, token, body })).status).toBe(201);
  for (const socket of sockets) socket.destroy();
});

describe('a body that goes on after its answer', () => {
  it.each([
    ['nested too deep', '['.repeat(50_000), 5],
    ['too large', ' '.repeat(50_000), 60],
  ])('because it is %s counts no more', async (_name, piece, pieces) => {
    await using http = await startHttp({
      limits: { body_bytes_a_token: 4_000_000, body_bytes_all: 4_000_000 },
    });
    const { token } = await http.token('task');
    const chunk = `${piece.length.toString(16)}\r\n${piece}\r\n`;
    const opened = await Promise.all(
      Array.from({ length: 20 }, () => openBody(http, token, 'Transfer-Encoding: chunked')),
    );
    for (const open of opened) {
      for (let at = 0; at < pieces; at += 1) open.socket.write(chunk);
      await expect.poll(() => open.answer).toMatch(/^HTTP\/1\.1 4/);
      // What comes after the answer.
      for (let at = 0; at < 5; at += 1) open.socket.write(chunk);
    }
    for (const { socket } of opened) socket.destroy();
    // Too large to be read, and admitted only where nothing else is counted.
    const whole = async () => {
      const probe = await openBody(http, token, 'Content-Length: 4000000');
      await new Promise((resolve) => setTimeout(resolve, 50));
      probe.socket.destroy();
      return probe.answer.split('\r\n')[0];
    };
    await expect.poll(whole).toMatch(/ 413 /);
  });
});

interface Open {
  readonly socket: Socket;
  answer: string;
}

async function openBody(http: TestHttp, token: string, length: string, begin = ''): Promise<Open> {
  const socket = rawSocket(http.port);
  const open: Open = { socket, answer: '' };
  socket.on('error', () => undefined).on('data', (bytes) => (open.answer += String(bytes)));
  socket.write(
    [
      `POST ${PATH} HTTP/1.1`,
      `Host: ${http.host}`,
      `Authorization: Bearer ${token}`,
      'Content-Type: application/json',
      length,
      '',
      begin,
    ].join('\r\n'),
  );
  return open;
}

import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { LIMITS } from '#kernel/limits.ts';
import { startHttp, type TestHttp } from '../../../tests/support/http-server.ts';
import { LONGEST_BLOCK_MS } from '../../../tests/support/loop-blocks.ts';
import { AnswerBudget } from './answer-budget.ts';
import { HTTP_LIMITS, toServerOptions } from './limits.ts';
import { rawSocket } from '../../../tests/support/raw-socket.ts';

let http: TestHttp;
let token: string;
beforeAll(async () => {
  http = await startHttp();
  ({ token } = await http.token('admin'));
});
afterAll(async () => http[Symbol.asyncDispose]());

const PATH = '/api/v1/operations/task.create';

function head(lines: readonly string[], target = `POST ${PATH}`): string {
  const own = [
    `${target} HTTP/1.1`,
    `Host: ${http.host}`,
    `Authorization: Bearer ${token}`,
    'Content-Type: application/json',
  ];
  return `${[...own, ...lines].join('\r\n')}\r\n\r\n`;
}

function toKeys(count: number): object {
  return Object.fromEntries(Array.from({ length: count }, (_, at) => [`k${at}`, 1]));
}

/** Status and body of what came back. */
function read(text: string): { status: number; code: unknown } {
  const [top = '', body = ''] = text.split('\r\n\r\n');
  const json = JSON.parse(body === '' ? '{}' : body) as { code?: unknown; request_id?: unknown };
  expect(top).toMatch(/\r\nForge-Request-Id: [0-9a-f-]{36}/);
  // An error says it in its body as well.
  expect('code' in json ? json.request_id : undefined).toBe(
    'code' in json ? /Forge-Request-Id: ([0-9a-f-]{36})/.exec(top)?.[1] : undefined,
  );
  return { status: Number(/^HTTP\/1\.1 (\d{3})/.exec(top)?.[1]), code: json.code };
}

describe('the limits of a request', () => {
  it('end a body that is announced too large before it is sent', async () => {
    const text = await http.raw(head([`Content-Length: ${HTTP_LIMITS.body_bytes + 1}`]), /\}$/);
    expect(read(text)).toEqual({ status: 413, code: 'too_large' });
    expect(text).toContain('Connection: close');
  });

  it('end a body that grows too large, whatever was announced', async () => {
    const chunk = `10000\r\n${' '.repeat(65_536)}\r\n`;
    const text = await http.raw(head(['Transfer-Encoding: chunked']) + chunk.repeat(33), /\}$/);
    expect(read(text)).toEqual({ status: 413, code: 'too_large' });
  });

  it('let a body through that is just small enough', async () => {
    const body = { description: 'x'.repeat(HTTP_LIMITS.body_bytes - 18) };
    expect(Buffer.byteLength(JSON.stringify(body))).toBe(HTTP_LIMITS.body_bytes);
    const answer = await http.ask({ method: 'POST', path: PATH, token, body });
    expect(answer.status).toBe(201);
  });

  it('are not read on for a hundred MB that no operation wants', async () => {
    const chunk = Buffer.from(`100000\r\n${' '.repeat(1_048_576)}\r\n`);
    const socket = rawSocket(http.port);
    const ended = new Promise<number>((resolve) => {
      let sent = 0;
      const pump = (): void => {
        while (sent < 100 && socket.writable) {
          sent += 1;
          if (!socket.write(chunk)) return;
        }
      };
      socket.on('drain', pump);
      socket.on('error', () => undefined);
      socket.on('close', () => resolve(sent));
      socket.resume();
      socket.write(head(['Transfer-Encoding: chunked']));
      pump();
    });
    // What was sent besides lies in the buffers of the two sockets.
    expect(await ended).toBeLessThan(50);
  });

  it('end headers that are too large, and too many', async () => {
    const large = await http.raw(head([`X-Filler: ${'x'.repeat(HTTP_LIMITS.header_bytes)}`]), /\}$/);
    expect(read(large)).toEqual({ status: 431, code: 'headers_too_large' });
    const lines = (count: number): string[] => Array.from({ length: count }, (_, at) => `X-${at}: 1`);
    const most = HTTP_LIMITS.header_count - 4; // with the three of every request and the length
    expect(read(await http.raw(head([...lines(most), 'Content-Length: 2']) + '{}', /\}$/))).toMatchObject({
      status: 201,
    });
    expect(read(await http.raw(head([...lines(most + 1), 'Content-Length: 2']) + '{}', /\}$/))).toEqual({
      status: 431,
      code: 'headers_too_large',
    });
    // A second Host line far behind the others is not lost with what Node cuts off.
    const hidden = await http.raw(head([...lines(1_000), 'Host: evil.example']), /\}$/);
    expect(read(hidden).status).toBe(431);
  });

  it('answer an expectation: 100-continue is met, every other one is refused with JSON', async () => {
    const expecting = (what: string): string => head([`Expect: ${what}`, 'Content-Length: 2']);
    const met = await http.raw(`${expecting('100-continue')}{}`, /201[^]*\}$/);
    expect(met).toMatch(/^HTTP\/1\.1 100 Continue\r\n\r\nHTTP\/1\.1 201 /);
    for (const what of ['200-ok', 'x'.repeat(1_000), '100-continued']) {
      // The body never comes, and nobody waits for it.
      const refused = await http.raw(expecting(what), /\}$/);
      expect(read(refused)).toEqual({ status: 417, code: 'expectation_failed' });
      expect(refused).toContain('Connection: close');
    }
    expect((await http.ask({ path: '/api/status' })).status).toBe(200);
  });

  it('answer an expectation behind other requests of a connection, and end it then', async () => {
    const status = head([], 'GET /api/status');
    const answers = await http.raw(`${status}${head(['Expect: x'], 'GET /api/status')}${status}`);
    expect(answers.match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 200', 'HTTP/1.1 417']);
  });

  it('end an address that is too long', async () => {
    const target = (length: number): string => `GET /${'x'.repeat(length - 1)}`;
    expect(read(await http.raw(head([], target(HTTP_LIMITS.url_bytes)), /\}$/)).status).toBe(404);
    expect(read(await http.raw(head([], target(HTTP_LIMITS.url_bytes + 1)), /\}$/))).toEqual({
      status: 414,
      code: 'url_too_long',
    });
  });

  it('[H6] end JSON of too many values, at once', async () => {
    const send = (value: unknown) =>
      http.ask({ method: 'POST', path: PATH, token, body: { metadata_set: value } });
    const most = LIMITS.body_values - 3;
    expect((await send({ a: Array.from({ length: most }, () => 1) })).status).toBe(201);
    for (const value of [
      { a: Array.from({ length: most + 5 }, () => 1) },
      { a: Array.from({ length: most + 5 }, () => []) },
      toKeys(LIMITS.body_keys),
      toKeys(130_000),
    ]) {
      const { status, json } = await send(value);
      expect([status, json]).toMatchObject([413, { code: 'too_large' }]);
    }
    expect((await send(toKeys(LIMITS.body_keys - 1))).status).toBe(201);
    // What stands in a text is no value.
    expect((await send({ a: ',[{"'.repeat(50_000) })).status).toBe(201);
  });

  it('[H6] are asked after the scope: a body that its caller may not send is not read', async () => {
    const { token: reader } = await http.token('read');
    const text = await http.raw(
      head([`Content-Length: ${HTTP_LIMITS.body_bytes}`]).replace(token, reader),
      /\}$/,
    );
    expect(read(text)).toEqual({ status: 403, code: 'permission_denied' });
  });

  it('end JSON that is too deep, at once', async () => {
    const nested = (levels: number): string =>
      `{"metadata_set":${'['.repeat(levels - 1)}${']'.repeat(levels - 1)}}`;
    const send = (body: string) => http.ask({ method: 'POST', path: PATH, token, body });
    expect((await send(nested(HTTP_LIMITS.json_depth))).status).toBe(201);
    for (const levels of [HTTP_LIMITS.json_depth + 1, 10_000, 1_000_000]) {
      const { status, json } = await send(nested(levels));
      expect([status, json]).toMatchObject([400, { code: 'invalid_input' }]);
    }
    // What stands in a text is no nesting.
    expect((await send(JSON.stringify({ title: `"\\${'['.repeat(1_000)}` }))).status).toBe(201);
  });

  it('end a key that is too long', async () => {
    const send = (key: string) =>
      http.ask({ method: 'POST', path: PATH, token, body: {}, headers: { 'idempotency-key': key } });
    expect((await send('k'.repeat(HTTP_LIMITS.idempotency_key_length))).status).toBe(201);
    expect((await send('k'.repeat(HTTP_LIMITS.idempotency_key_length + 1))).status).toBe(400);
    expect((await send('two words')).status).toBe(400);
  });

  it('end a page that is too large', async () => {
    const ask = (limit: string) => http.ask({ path: `/api/v1/tasks?limit=${limit}`, token });
    expect((await ask(String(HTTP_LIMITS.page_rows_max))).status).toBe(200);
    expect(await ask(String(HTTP_LIMITS.page_rows_max + 1))).toMatchObject({
      status: 400,
      json: { code: 'invalid_input', details: { field: 'limit' } },
    });
  });
});

describe('the limits of a connection', () => {
  it('end headers and bodies that take too long', async () => {
    const limits = { headers_timeout_ms: 100, request_timeout_ms: 100, timeout_check_ms: 20 };
    await using slow = await startHttp({ limits });
    const made = await slow.token('admin');
    const line = `POST ${PATH} HTTP/1.1\r\nHost: ${slow.host}\r\n`;
    expect(read(await slow.raw(line))).toEqual({ status: 408, code: 'request_timeout' });
    const whole = `${line}Authorization: Bearer ${made.token}\r\nContent-Type: application/json\r\nContent-Length: 9\r\n\r\n{`;
    expect(read(await slow.raw(whole))).toEqual({ status: 408, code: 'request_timeout' });
    expect(slow.failures).toEqual([]);
    // Others were not held up by it.
    expect((await slow.ask({ path: '/api/status' })).status).toBe(200);
  });

  it('[A16] end many that send next to nothing, and meanwhile others are served', async () => {
    const limits = { headers_timeout_ms: 400, request_timeout_ms: 400, timeout_check_ms: 50 };
    await using slow = await startHttp({ limits });
    const { token: good } = await slow.token('read');
    const dribble = Array.from({ length: 200 }, (_, at) =>
      slow.raw(at % 2 === 0 ? 'G' : `POST ${PATH} HTTP/1.1\r\nHost: ${slow.host}\r\nContent-Le`),
    );
    for (let at = 0; at < 20; at += 1)
      expect((await slow.ask({ path: '/api/v1/tasks', token: good })).status).toBe(200);
    const ended = await Promise.all(dribble);
    expect(ended.every((text) => text.startsWith('HTTP/1.1 408 '))).toBe(true);
  });

  it('end connections that are too many, and those that say nothing', async () => {
    await using few = await startHttp({ limits: { sockets: 3 } });
    const sockets = Array.from({ length: 6 }, () => rawSocket(few.port));
    const closed = sockets.map(
      (socket) =>
        new Promise<void>((resolve) => {
          socket.on('error', () => undefined);
          socket.on('close', () => resolve());
        }),
    );
    await Promise.race(closed);
    await new Promise<void>((resolve) => {
      const look = (): void => {
        if (sockets.filter(({ destroyed }) => destroyed).length >= 3) resolve();
        else setImmediate(look);
      };
      look();
    });
    const left = sockets.filter(({ destroyed }) => !destroyed);
    expect(left).toHaveLength(3);
    for (const socket of left) socket.destroy();
    await Promise.all(closed);
  });

  it('[L16] end the connection that was silent longest, so that a crowd of them keeps no client out', async () => {
    await using few = await startHttp({ limits: { sockets: 20, spare_sockets: 5 } });
    const { token: good } = await few.token('read');
    const silent: Socket[] = [];
    const statuses: number[] = [];
    for (let round = 0; round < 12; round += 1) {
      for (let at = 0; at < 5; at += 1) {
        const socket = rawSocket(few.port);
        socket.on('error', () => undefined);
        silent.push(socket);
      }
      statuses.push((await few.ask({ path: '/api/v1/tasks', token: good })).status);
    }
    for (const socket of silent) socket.destroy();
    expect(statuses).toEqual(Array.from({ length: 12 }, () => 200));
  });

  it('are those of Node itself for what Node does', () => {
    expect(http.server).toMatchObject({
      headersTimeout: HTTP_LIMITS.headers_timeout_ms,
      requestTimeout: HTTP_LIMITS.request_timeout_ms,
      keepAliveTimeout: HTTP_LIMITS.keep_alive_timeout_ms,
      maxConnections: HTTP_LIMITS.sockets + HTTP_LIMITS.spare_sockets,
    });
  });

  it('answer what is no HTTP, and offer no other protocol', async () => {
    expect(read(await http.raw('\u0016\u0003\u0001 hello\r\n\r\n')).status).toBe(400);
    expect(read(await http.raw('GET / HTTP/9.9\r\n\r\n')).status).toBe(400);
    const both = head(['Content-Length: 2', 'Transfer-Encoding: chunked']);
    expect(read(await http.raw(`${both}{}`)).status).toBe(400);
    const upgrade = `GET /api/v1/events HTTP/1.1\r\nHost: ${http.host}\r\nConnection: upgrade\r\nUpgrade: websocket\r\n\r\n`;
    // No listener means that Node reads on as if nothing had been offered.
    expect(read(await http.raw(upgrade, /\}$/))).toEqual({ status: 401, code: 'unauthorized' });
  });
});

describe('the limits of an answer', () => {
  const large = Array.from({ length: 40 }, (_, at) => ({ at, text: 'x'.repeat(1_000_000) }));
  const caller = { call: async () => large };

  it.each(['event.list', 'task.history', 'task.list'])(
    '[A14-3] refuse one that is too large: %s',
    async (name) => {
      await using own = await startHttp({ caller });
      const { token: reader } = await own.token('admin');
      const path = `/api/v1/operations/${name}`;
      const body = name === 'task.history' ? { id: 'fg-1' } : {};
      const { status, json } = await own.ask({ method: 'POST', path, token: reader, body });
      expect([status, json]).toMatchObject([413, { code: 'too_large', hint: expect.any(String) as string }]);
      expect(own.failures).toEqual([]);
    },
  );

  it('[A14-3] never refuse what has happened', async () => {
    await using own = await startHttp({ caller: { call: async () => large.slice(0, 17) } });
    const { token: writer } = await own.token('admin');
    const answer = await own.ask({ method: 'POST', path: PATH, token: writer, body: { title: 'a' } });
    expect([answer.status, answer.text.length > LIMITS.answer_bytes]).toEqual([201, true]);
  });

  it('[A14-3c] cut a client that takes nothing of it', async () => {
    await using own = await startHttp({
      caller: { call: async () => large.slice(0, 12) },
      limits: { answer_stall_ms: 100 },
    });
    const { token: reader } = await own.token('admin');
    const asked = new Promise<ServerResponse>((resolve) =>
      own.server.once('request', (_request, response: ServerResponse) => resolve(response)),
    );
    const client = rawSocket(own.port);
    client.pause();
    const body = '{}';
    client.write(
      `POST /api/v1/operations/event.list HTTP/1.1\r\nHost: ${own.host}\r\nAuthorization: Bearer ${reader}\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
    );
    const response = await asked;
    await new Promise((resolve) => response.once('close', resolve));
    expect([response.statusCode, response.writableEnded, response.writableFinished]).toEqual([
      200,
      true,
      false,
    ]);
    client.destroy();
  });

  it('[B5] refuse a token that reads nothing of its answers, and serve others', async () => {
    const limits = { ...HTTP_LIMITS, unread_bytes_a_token: 3 * LIMITS.answer_bytes };
    const answers = new AnswerBudget(limits);
    await using own = await startHttp({
      caller: { call: async () => large.slice(0, 12) },
      deps: { answers },
    });
    const [{ token: greedy }, { token: other }] = [await own.token('read'), await own.token('read')];
    const ask = (token: string) =>
      own.ask({ method: 'POST', path: '/api/v1/operations/event.list', token, body: {} });
    const question = `POST /api/v1/operations/event.list HTTP/1.1\r\nHost: ${own.host}\r\nAuthorization: Bearer ${greedy}\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}`;
    // Ten on each connection: those behind the first wait for their turn on it, and are counted as well.
    const clients = Array.from({ length: 3 }, () => {
      const client = rawSocket(own.port);
      client.pause();
      client.write(question.repeat(10));
      return client;
    });
    const most = 2 * LIMITS.answer_bytes;
    await until(() => answers.bytes.unread > most && answers.bytes.reserved === 0);
    expect(answers.bytes.unread).toBeLessThanOrEqual(limits.unread_bytes_a_token);
    const refused = await ask(greedy);
    expect([refused.status, refused.json]).toMatchObject([429, { code: 'too_many_requests' }]);
    expect(refused.headers['retry-after']).toBe('1');
    expect((await ask(other)).status).toBe(200);
    for (const client of clients) client.destroy();
    await until(() => answers.bytes.unread === 0);
    expect((await ask(greedy)).status).toBe(200);
    expect(own.failures).toEqual([]);
  });

  it('[A14-3c] leave the time between two requests as it is', async () => {
    await using own = await startHttp({ limits: { answer_stall_ms: 100, keep_alive_timeout_ms: 4_000 } });
    const { token: reader } = await own.token('admin');
    const served = new Promise<Socket>((resolve) => own.server.once('connection', resolve));
    const one = `GET /api/status HTTP/1.1\r\nHost: ${own.host}\r\nAuthorization: Bearer ${reader}\r\n\r\n`;
    const client = rawSocket(own.port);
    client.write(one + one);
    const socket = await served;
    let text = '';
    for await (const chunk of client) {
      text += String(chunk);
      if (text.split('"ok"').length === 3) break;
    }
    expect(socket.timeout).not.toBe(100);
    client.destroy();
  });
});

async function until(isSo: () => boolean): Promise<void> {
  while (!isSo()) await new Promise(setImmediate);
}

it('connections whose time is over are looked for often enough to find few at a time', () => {
  // So many come in while the loop does nothing else, and each takes about as long to be cut off as to come in.
  expect(toServerOptions().connectionsCheckingInterval).toBeLessThanOrEqual(LONGEST_BLOCK_MS / 2);
});

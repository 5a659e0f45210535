import type { Socket } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startHttp, type TestHttp } from '../../../tests/support/http-server.ts';
import { HTTP_LIMITS } from './limits.ts';
import { rawSocket } from '../../../tests/support/raw-socket.ts';

/** Calls in the order in which they began and ended. */
const seen: string[] = [];
let http: TestHttp;
let token: string;
let other: string;
/** How long a call takes, without letting others have a turn. */
const WORK_MS = 4;

beforeAll(async () => {
  http = await startHttp({
    caller: {
      call: async ({ caller }) => {
        seen.push(caller.token === other ? 'other' : 'one');
        const end = performance.now() + WORK_MS;
        while (performance.now() < end);
        return [];
      },
    },
  });
  ({ token } = await http.token('read'));
});
afterAll(async () => http[Symbol.asyncDispose]());

const toRequest = (path: string, by = token): string =>
  `GET ${path} HTTP/1.1\r\nHost: ${http.host}\r\nAuthorization: Bearer ${by}\r\n\r\n`;

describe('requests that one client sends without waiting', () => {
  it('give other clients a turn in between, and are all answered', async () => {
    const second = await http.token('read');
    other = second.id;
    const many = 100;
    const paths = Array.from({ length: many }, (_, at) => `/api/v1/tasks?limit=${at + 1}`);
    const socket = rawSocket(http.port);
    let text = '';
    const all = new Promise<void>((resolve) => {
      socket.on('data', (part) => {
        text += part.toString();
        if (text.split('HTTP/1.1 200 OK').length > many) resolve();
      });
    });
    socket.write(paths.map((path) => toRequest(path)).join(''));
    await expect.poll(() => seen.length).toBeGreaterThan(0);
    const asked = await http.ask({ path: '/api/v1/tasks', token: second.token });
    expect(asked.status).toBe(200);
    // By this time the others would all have been made, had they not waited for their turns.
    expect(seen.indexOf('other')).toBeLessThan(many / 2);
    await all;
    socket.destroy();
    expect(seen.filter((one) => one === 'one')).toHaveLength(many);
  });

  it('are ended with their connection where there are too many, and where the client goes', async () => {
    const socket = rawSocket(http.port);
    socket.on('error', () => undefined);
    socket.resume();
    const closed = new Promise<void>((resolve) => socket.once('close', () => resolve()));
    socket.write(toRequest('/api/v1/tasks').repeat(HTTP_LIMITS.waiting_requests_a_socket + 50));
    await closed;
    seen.length = 0;
    const gone = rawSocket(http.port, () => gone.write(toRequest('/api/v1/tasks').repeat(50)));
    await expect.poll(() => seen.length).toBeGreaterThan(0);
    gone.destroy();
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect(seen.length).toBeLessThan(50);
    expect((await http.ask({ path: '/api/v1/tasks', token })).status).toBe(200);
  });

  it('on many connections give other tokens a turn in between, and are all answered', async () => {
    seen.length = 0;
    const second = await http.token('read');
    other = second.id;
    const many = 100;
    const sockets = await Promise.all(Array.from({ length: many + 1 }, () => open()));
    // Connections are taken one by one; once each was answered, all that they send next comes at once.
    for (const socket of sockets) socket.write(toRequest('/api/status'));
    await Promise.all(sockets.map((socket) => readStatus(socket)));
    const answers = sockets.map((socket) => readStatus(socket));
    // The other token comes last of all.
    for (const [at, socket] of sockets.entries())
      socket.write(toRequest(`/api/v1/tasks?limit=${at + 1}`, at < many ? token : second.token));
    expect(new Set(await Promise.all(answers))).toEqual(new Set(['HTTP/1.1 200 OK']));
    expect(seen).toHaveLength(many + 1);
    expect(seen.indexOf('other')).toBeLessThan(many / 2);
    for (const socket of sockets) socket.destroy();
  });
});

function readStatus(socket: Socket): Promise<string> {
  return new Promise((resolve) =>
    socket.once('data', (part) => resolve(part.toString().split('\r\n', 1)[0] ?? '')),
  );
}

function open(): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = rawSocket(http.port, () => resolve(socket));
    socket.once('error', reject);
  });
}

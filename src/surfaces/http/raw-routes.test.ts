import { describe, expect, it } from 'vitest';
import { startHttp } from '../../../tests/support/http-server.ts';
import { ForgeError } from '#kernel/errors.ts';
import type { RawHandler } from './http-ports.ts';

const tell: RawHandler = (request, response, { actor, scope }) => {
  response.setHeader('Content-Type', 'text/plain');
  response.end(`${request.method} by ${actor.kind}:${actor.name} (${scope})`);
};

describe('handlers that have the response to themselves', () => {
  it('[S236] get a request after the guards, with who asks', async () => {
    await using http = await startHttp({ deps: { events: tell, mcp: tell } });
    const { token } = await http.token('task', 'worker-1');
    const events = await http.ask({ path: '/api/v1/events?after=0', token });
    expect([events.status, events.text]).toEqual([200, 'GET by agent:worker-1 (task)']);
    expect(events.headers).toMatchObject({
      'forge-request-id': expect.any(String),
      'x-content-type-options': 'nosniff',
      'cache-control': 'no-store',
    });
    for (const method of ['GET', 'POST', 'DELETE'])
      expect((await http.ask({ method, path: '/mcp', token })).text).toBe(
        `${method} by agent:worker-1 (task)`,
      );
    // The protocol ends a session by a request without a body.
    const bare = { method: 'DELETE', path: '/mcp', token, headers: { 'content-type': '' } };
    expect((await http.ask(bare)).status).toBe(200);
    for (const path of ['/mcp', '/api/v1/events']) {
      expect((await http.ask({ path })).status).toBe(401);
      expect((await http.ask({ path: `${path}?token=${token}` })).status).toBe(401);
      expect((await http.ask({ path, token, headers: { origin: 'http://evil.example' } })).status).toBe(403);
      expect((await http.ask({ path, token, headers: { host: 'evil.example' } })).status).toBe(421);
    }
    const form = { method: 'POST', path: '/mcp', token, headers: { 'content-type': 'text/plain' } };
    expect((await http.ask(form)).status).toBe(415);
  });

  it('are not looked at by HEAD, and are absent where nobody gave one', async () => {
    await using http = await startHttp({ deps: { events: tell } });
    const { token } = await http.token('read');
    const look = await http.ask({ method: 'HEAD', path: '/api/v1/events', token });
    expect([look.status, look.headers.allow]).toEqual([405, 'GET']);
    expect((await http.ask({ path: '/mcp', token })).status).toBe(404);
  });

  it('may fail: before the first byte with an error, after it by an end', async () => {
    await using http = await startHttp({
      deps: {
        events: () => {
          throw new ForgeError('invalid_input', 'no such filter');
        },
        mcp: async (_request, response) => {
          response.writeHead(200);
          response.write('half');
          throw new TypeError('a bug');
        },
      },
    });
    const { token } = await http.token('read');
    expect(await http.ask({ path: '/api/v1/events', token })).toMatchObject({
      status: 400,
      json: { code: 'invalid_input', message: 'no such filter' },
    });
    await expect(http.ask({ path: '/mcp', token })).rejects.toThrow('aborted');
    expect(http.failures).toMatchObject([{ error: { message: 'a bug' } }]);
  });
});

describe('what goes wrong inside', () => {
  it('stays inside, and is told to the log with the id that the client has', async () => {
    await using http = await startHttp({
      caller: {
        call: async () => {
          throw new TypeError('secret path /home/ann');
        },
      },
    });
    const { token } = await http.token('read');
    const { status, json, text } = await http.ask({ path: '/api/v1/tasks', token });
    expect([status, json]).toMatchObject([500, { code: 'internal', details: {} }]);
    expect(text).not.toContain('secret');
    expect(http.failures).toEqual([
      { request_id: (json as { request_id: string }).request_id, error: expect.any(TypeError) },
    ]);
  });

  it('does not reach the others: a client that goes away is nobody’s failure', async () => {
    const calls: Promise<unknown>[] = [];
    await using http = await startHttp({
      caller: {
        call: ({ signal }) => {
          const aborted = new Promise((resolve) => signal?.addEventListener('abort', resolve));
          calls.push(aborted);
          return aborted;
        },
      },
    });
    const { token } = await http.token('read');
    const gone = new AbortController();
    const asked = fetch(`http://${http.host}/api/v1/tasks`, {
      headers: { authorization: `Bearer ${token}` },
      signal: gone.signal,
    }).catch(() => undefined);
    await expect.poll(() => calls.length).toBe(1);
    gone.abort();
    await asked;
    expect(await calls[0]).toMatchObject({ type: 'abort' });
    expect(http.failures).toEqual([]);
    expect((await http.ask({ path: '/api/status' })).status).toBe(200);
  });
});

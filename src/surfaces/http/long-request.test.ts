import { request as httpRequest } from 'node:http';
import { describe, expect, it } from 'vitest';
import { ForgeError } from '#kernel/errors.ts';
import { startHttp } from '../../../tests/support/http-server.ts';
import type { Exchange } from './answer.ts';
import { answerLong, type LateOutcome } from './long-request.ts';

const PATH = '/api/v1/tasks/fg-a3f8/transition';
const BODY = { status: 'in_progress' };

describe('a move that may take long', () => {
  it('is answered as begun where the caller prefers that, and the feed tells its end', async () => {
    const told: LateOutcome[] = [];
    let end: (() => void) | undefined;
    const called = new Promise<void>((resolve) => (end = resolve));
    await using http = await startHttp({
      caller: {
        async call({ signal }) {
          // The caller's leaving must not end it.
          expect(signal).toBeUndefined();
          await called;
          return { done: true };
        },
      },
      deps: { tellLate: async (_place, outcome) => void told.push(outcome) },
    });
    const { token } = await http.token('task');
    const answer = await http.ask({
      method: 'POST',
      path: PATH,
      token,
      body: BODY,
      headers: { prefer: 'wait=5, respond-async' },
    });
    expect(answer).toMatchObject({
      status: 202,
      headers: { 'preference-applied': 'respond-async' },
      json: { operation: 'task.transition', request_id: answer.headers['forge-request-id'] },
    });
    expect(told).toEqual([]);
    end?.();
    await expect.poll(() => told).toHaveLength(1);
    expect(told[0]).toMatchObject({ operation: 'task.transition', status: 200 });
  });

  it('tells of a failure too, with its code', async () => {
    const told: LateOutcome[] = [];
    await using http = await startHttp({
      caller: { call: async () => Promise.reject(new ForgeError('guard_rejected', 'Not yet')) },
      deps: { tellLate: async (_place, outcome) => void told.push(outcome) },
    });
    const { token } = await http.token('task');
    const ask = { method: 'POST', path: PATH, token, body: BODY };
    expect(await http.ask({ ...ask, headers: { prefer: 'respond-async' } })).toMatchObject({ status: 202 });
    await expect.poll(() => told).toMatchObject([{ status: 412, error: { code: 'guard_rejected' } }]);
    // Whoever waits has the answer itself.
    expect(await http.ask(ask)).toMatchObject({ status: 412, json: { code: 'guard_rejected' } });
    expect(told).toHaveLength(1);
  });

  it('other requests take their time whatever is preferred', async () => {
    await using http = await startHttp();
    const { token } = await http.token('task');
    const headers = { prefer: 'respond-async' };
    const path = '/api/v1/tasks/fg-a3f8/close';
    expect(await http.ask({ method: 'POST', path, token, body: { reason: 'done' }, headers })).toMatchObject({
      status: 200,
    });
  });

  it('is answered as begun when it takes longer than anybody waits', async () => {
    const told: LateOutcome[] = [];
    const exchange = {
      request: { rawHeaders: [] },
      response: { headersSent: false, writable: true, writeProcessing: () => undefined },
      request_id: 'r-1',
    } as unknown as Exchange; // only what is looked at
    let end: ((answer: { status: number; body: string }) => void) | undefined;
    const work = new Promise<{ status: number; body: string }>((resolve) => (end = resolve));
    const place = { name: 'task.transition', input: {}, project: undefined, within: undefined };
    const tell = async (_place: unknown, outcome: LateOutcome): Promise<void> => void told.push(outcome);
    expect(await answerLong(exchange, place, { work, tell, wait_ms: 5 })).toMatchObject({ status: 202 });
    end?.({ status: 200, body: '{}' });
    await expect.poll(() => told).toEqual([{ request_id: 'r-1', operation: 'task.transition', status: 200 }]);
  });
});

describe('whoever waits', () => {
  it('gets the answer on the same connection', async () => {
    await using http = await startHttp({ caller: { call: async () => ({ state: 'done' }) } });
    const { token } = await http.token('task');
    const status = await new Promise<number | undefined>((resolve, reject) => {
      const sent = httpRequest(
        {
          port: http.port,
          path: PATH,
          method: 'POST',
          headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json', host: http.host },
        },
        (response) => {
          response.resume();
          resolve(response.statusCode);
        },
      );
      sent.on('error', reject);
      sent.end(JSON.stringify(BODY));
    });
    expect(status).toBe(200);
  });
});

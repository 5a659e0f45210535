import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type HttpAnswer, type ProjectHttp, startProjectHttp } from '../../../tests/support/http-server.ts';
import { ForgeError } from '#kernel/errors.ts';
import type { OperationCaller } from '#operations/call-operation.ts';

let http: ProjectHttp;
beforeAll(async () => {
  http = await startProjectHttp();
});
afterAll(async () => http[Symbol.asyncDispose]());

function create(key: string, title: string, { token = http.admin, on = http } = {}): Promise<HttpAnswer> {
  return on.ask({
    method: 'POST',
    path: '/api/v1/tasks',
    token,
    body: { title },
    headers: { 'idempotency-key': key },
  });
}

async function countOf(query: string): Promise<number> {
  const { json } = await http.ask({ path: `/api/v1/tasks/search?query=${query}`, token: http.admin });
  return (json as unknown[]).length;
}

describe('an Idempotency-Key', () => {
  it('does a thing once however often it is sent', async () => {
    const first = await create('k1', 'once');
    const again = await create('k1', 'once');
    expect([first.status, first.headers['idempotent-replay']]).toEqual([201, undefined]);
    expect([again.status, again.headers['idempotent-replay']]).toEqual([201, 'true']);
    expect(again.text).toBe(first.text);
    expect(again.headers['forge-request-id']).not.toBe(first.headers['forge-request-id']);
    expect(await countOf('once')).toBe(1);
  });

  it('of many at once lets one through', async () => {
    const answers = await Promise.all(Array.from({ length: 20 }, () => create('k2', 'at-once')));
    const statuses = answers.map(({ status }) => status);
    expect(statuses.every((status) => status === 201 || status === 409)).toBe(true);
    expect(statuses).toContain(201);
    expect(await countOf('at-once')).toBe(1);
  });

  it('stands for one request of one token', async () => {
    await create('k3', 'mine');
    const other = await create('k3', 'another');
    expect(other).toMatchObject({ status: 409, json: { code: 'idempotency_conflict' } });
    const elsewhere = await http.ask({
      method: 'POST',
      path: '/api/v1/tasks?project=fg',
      token: http.admin,
      body: { title: 'mine' },
      headers: { 'idempotency-key': 'k3' },
    });
    expect(elsewhere.status).toBe(409);
    const { token } = await http.token('task');
    expect((await create('k3', 'of somebody else', { token })).status).toBe(201);
  });

  it('keeps a refusal, and is forgotten after a day', async () => {
    const refused = await create('k4', ' ');
    expect(refused.status).toBe(400);
    expect(await create('k4', ' ')).toMatchObject({ status: 400, headers: { 'idempotent-replay': 'true' } });
    await create('k5', 'daily');
    http.clock.advance(24 * 3_600_000 - 1);
    expect((await create('k5', 'daily')).headers['idempotent-replay']).toBe('true');
    http.clock.advance(1);
    expect((await create('k5', 'daily')).headers['idempotent-replay']).toBeUndefined();
    expect(await countOf('daily')).toBe(2);
  });

  it('never keeps a token', async () => {
    const make = () =>
      http.ask({
        method: 'POST',
        path: '/api/v1/tokens',
        token: http.admin,
        body: { scope: 'read', name: 'secret' },
        headers: { 'idempotency-key': 'k8' },
      });
    const first = await make();
    expect(first.status).toBe(201);
    const { token } = first.json as { token: string };
    expect(await make()).toMatchObject({
      status: 409,
      headers: { 'idempotent-replay': 'true' },
      json: { code: 'idempotency_conflict', message: expect.stringContaining('secret') },
    });
    const { json } = await http.ask({ path: '/api/v1/tokens', token: http.admin });
    expect((json as { name: string }[]).filter(({ name }) => name === 'secret')).toHaveLength(1);
    const [project] = http.projects.list();
    const { store_dir } = project?.found.paths ?? { store_dir: '' };
    const files = readdirSync(store_dir).filter((name) => statSync(join(store_dir, name)).isFile());
    expect(files).toContain('forge.db');
    expect(files.filter((name) => readFileSync(join(store_dir, name), 'latin1').includes(token))).toEqual([]);
  });

  it('means nothing to a read', async () => {
    const answer = await http.ask({
      path: '/api/v1/tasks',
      token: http.admin,
      headers: { 'idempotency-key': 'k6' },
    });
    expect(answer.status).toBe(200);
    const posted = await http.ask({
      method: 'POST',
      path: '/api/v1/operations/task.list',
      token: http.admin,
      body: {},
      headers: { 'idempotency-key': 'k6' },
    });
    expect(posted.status).toBe(200);
    expect((await create('k6', 'a write of that key')).status).toBe(201);
  });

  it('says so when nobody knows how it ended, and forgets what failed here', async () => {
    const [project] = http.projects.list();
    let fail: ((code: 'store_busy' | 'wait_timeout') => void) | undefined;
    const calls: string[] = [];
    const caller: OperationCaller = {
      call: ({ name }) => {
        calls.push(name);
        return new Promise((_resolve, reject) => {
          fail = (code) => reject(new ForgeError(code, 'not now'));
        });
      },
    };
    await using slow = await startProjectHttp({
      deps: {
        caller,
        idempotency: {
          begin: async (_place, key) =>
            project?.use(({ store }) => store.beginRequest(key)) ?? { outcome: 'new' },
          finish: async (_place, key, answer) =>
            project?.use(({ store }) => store.finishRequest(key, answer)),
          drop: async (_place, key) => project?.use(({ store }) => store.dropRequest(key)),
        },
      },
    });
    const first = create('k7', 'cut off', { token: slow.admin, on: slow });
    await expect.poll(() => calls.length).toBe(1);
    // The server was stopped here: the database has the key and no answer.
    const second = await create('k7', 'cut off', { token: slow.admin, on: slow });
    expect(second).toMatchObject({
      status: 409,
      json: { code: 'idempotency_conflict', message: expect.stringContaining('outcome is not known') },
    });
    fail?.('store_busy');
    expect(await first).toMatchObject({ status: 503, json: { code: 'store_busy' } });
    // What failed on this side may be tried again under its key.
    const third = create('k7', 'cut off', { token: slow.admin, on: slow });
    await expect.poll(() => calls.length).toBe(2);
    fail?.('wait_timeout');
    expect((await third).status).toBe(409);
    const fourth = create('k7', 'cut off', { token: slow.admin, on: slow });
    await expect.poll(() => calls.length).toBe(3);
    fail?.('store_busy');
    expect((await fourth).status).toBe(503);
  });
});

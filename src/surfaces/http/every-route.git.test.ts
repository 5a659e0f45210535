import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ProjectHttp, startProjectHttp } from '../../../tests/support/http-server.ts';
import { OPERATIONS } from '#contract/operations.ts';
import { createBrowserSessions } from './browser-sessions.ts';
import { listRoutes, type Route } from './create-http-handler.ts';
import { listPlaces } from './route-table.ts';

let http: ProjectHttp;
let revoked: string;
let reader: string;
let agent: string;
beforeAll(async () => {
  http = await startProjectHttp({ deps: { events: endAtOnce, mcp: endAtOnce } });
  const ended = await http.token('admin');
  await http.revoke(ended.id);
  revoked = ended.token;
  ({ token: reader } = await http.token('read'));
  ({ token: agent } = await http.token('task', 'worker-1'));
});
afterAll(async () => http[Symbol.asyncDispose]());

function endAtOnce(_request: unknown, response: { end: (text: string) => void }): void {
  response.end('{}');
}

/** Every route that there is, from the same list as the server's own. */
const ROUTES: Route[] = listRoutes(
  {
    caller: { call: async () => undefined },
    access: { findCaller: () => undefined, isAlive: () => false },
    origin: { scheme: 'http', host: '127.0.0.1', port: 1 },
    clock: { now: () => 0 },
    version: '0',
    declarations: OPERATIONS,
    projects: () => [],
    idempotency: {
      begin: async () => ({ outcome: 'new' }),
      finish: async () => undefined,
      drop: async () => undefined,
    },
    tellLate: async () => undefined,
    events: () => undefined,
    mcp: () => undefined,
  },
  createBrowserSessions({ clock: { now: () => 0 }, port: 1, scheme: 'http' }),
);
const CLOSED = ROUTES.filter(({ own }) => own?.open !== true);

function toPath(path: string, project = 'fg'): string {
  return path.replaceAll(/\{([^}]+)\}/g, (_found, name: string) =>
    name === 'project'
      ? project
      : name === 'name' && path.includes('/operations/')
        ? 'task.create'
        : 'fg-none',
  );
}

const named = (routes: readonly Route[]): [string, Route][] =>
  routes.map((route) => [`${route.method} ${route.path}`, route]);

describe('every route', () => {
  it('is one that somebody wanted', () => {
    expect(ROUTES.length).toBeGreaterThan(60);
    expect(ROUTES.filter(({ own }) => own?.open === true).map(({ path }) => path)).toEqual([
      '/api/status',
      '/login',
    ]);
  });

  it.each(named(CLOSED))('[A1] %s needs a token that is good', async (_name, { method, path }) => {
    const ask = { method, path: toPath(path) };
    const other = `fgt_${'A'.repeat(43)}`;
    const tokens = [undefined, other, revoked, '', 'x', agent.slice(0, -1)];
    for (const token of tokens) {
      const { status, json } = await http.ask({ ...ask, token });
      expect([token, status, json]).toMatchObject([token, 401, { code: 'unauthorized' }]);
    }
    // Whatever is sent along.
    const sent = await http.ask({
      ...ask,
      headers: { cookie: `forge_session_${http.port}=x`, 'forge-csrf': 'x', 'x-forwarded-for': '127.0.0.1' },
    });
    expect(sent.status).toBe(401);
  });

  const byAccess = (...kinds: string[]): [string, Route][] =>
    named(CLOSED.filter(({ operation }) => kinds.includes(operation?.declaration.access ?? '')));
  const toAsk = ({ method, path }: Route) => ({
    method,
    path: toPath(path),
    ...(method !== 'GET' && { body: {} }),
  });

  it.each(byAccess('read'))('%s is for readers', async (_name, route) => {
    const { status } = await http.ask({ ...toAsk(route), token: reader });
    expect([401, 403, 500]).not.toContain(status);
  });

  it.each(byAccess('task', 'exec', 'admin'))('%s is not for readers', async (_name, route) => {
    const answer = await http.ask({ ...toAsk(route), token: reader });
    expect(answer).toMatchObject({ status: 403, json: { code: 'permission_denied' } });
  });

  it.each(byAccess('exec', 'admin'))('%s is not for agents', async (_name, route) => {
    const answer = await http.ask({ ...toAsk(route), token: agent });
    expect(answer).toMatchObject({ status: 403, json: { code: 'permission_denied' } });
  });

  it.each(named(CLOSED.filter(({ path }) => listPlaces(path).includes('project'))))(
    '%s knows no project of somebody else',
    async (_name, { method, path }) => {
      for (const project of ['zz', '..%2F..', '%00', 'FG']) {
        const answer = await http.ask({
          method,
          path: toPath(path, project),
          token: http.admin,
          ...(method === 'GET' ? {} : { body: {} }),
        });
        // A body that lacks something may be refused before the project is looked for.
        expect([project, [400, 404].includes(answer.status)]).toEqual([project, true]);
      }
    },
  );

  it.each(named(CLOSED.filter(({ method }) => method === 'GET')))(
    '%s changes nothing by being read',
    async (_name, { path }) => {
      const state = async () =>
        (await http.ask({ path: '/api/v1/tasks?all=true', token: http.admin })).text +
        (await http.ask({ path: '/api/v1/tokens', token: http.admin })).text.replaceAll(
          /"last_used_at":[^,]+,/g,
          '',
        );
      const before = await state();
      await http.ask({ path: toPath(path), token: http.admin });
      expect(await state()).toBe(before);
    },
  );
});

import { describe, expect, it } from 'vitest';
import { startHttp, type TestHttp } from '../../../tests/support/http-server.ts';
import { HTTP_LIMITS } from './limits.ts';

const SESSIONS = '/api/v1/sessions';

async function askLink(http: TestHttp, token: string): Promise<string> {
  const { status, json } = await http.ask({ method: 'POST', path: SESSIONS, token });
  expect(status).toBe(201);
  const { url } = json as { url: string };
  expect(url).toMatch(new RegExp(`^http://${http.host}/login\\?code=[\\w-]{43}$`));
  return new URL(url).pathname + new URL(url).search;
}

async function login(http: TestHttp, token: string): Promise<string> {
  const { status, headers } = await http.ask({ path: await askLink(http, token) });
  expect([status, headers.location]).toEqual([303, '/']);
  const [cookie = ''] = headers['set-cookie'] ?? [];
  return cookie.split(';')[0] ?? '';
}

describe('a browser session', () => {
  it('comes from a link that is good once, as a cookie that no script can read', async () => {
    await using http = await startHttp();
    const { token } = await http.token('admin');
    const link = await askLink(http, token);
    // Looking at a link does not use it up.
    expect((await http.ask({ method: 'HEAD', path: link })).status).toBe(200);
    const first = await http.ask({ path: link });
    expect(first.headers['set-cookie']).toEqual([
      expect.stringMatching(
        new RegExp(`^forge_session_${http.port}=[\\w-]{43}; Path=/; HttpOnly; SameSite=Strict$`),
      ),
    ]);
    expect(first.headers['set-cookie']?.[0]).not.toContain(token);
    const second = await http.ask({ path: link });
    expect(second).toMatchObject({ status: 401, json: { code: 'unauthorized' } });
    expect(second.headers['set-cookie']).toBeUndefined();
  });

  it('is over after a minute if nobody came, and after twelve hours if somebody did', async () => {
    await using http = await startHttp();
    const { token } = await http.token('admin');
    const late = await askLink(http, token);
    http.clock.advance(HTTP_LIMITS.login_code_ms);
    expect((await http.ask({ path: late })).status).toBe(401);
    const cookie = await login(http, token);
    const ask = () => http.ask({ path: '/api/v1/tasks', headers: { cookie } });
    expect((await ask()).status).toBe(200);
    http.clock.advance(HTTP_LIMITS.session_ms - 1);
    expect((await ask()).status).toBe(200);
    http.clock.advance(1);
    expect((await ask()).status).toBe(401);
  });

  it('reads by its cookie, and changes something only with its own second header', async () => {
    await using http = await startHttp();
    const { token } = await http.token('admin');
    const cookie = await login(http, token);
    const other = await login(http, token);
    const csrfOf = async (own: string) =>
      ((await http.ask({ path: '/api/v1/session', headers: { cookie: own } })).json as { csrf: string }).csrf;
    const csrf = await csrfOf(cookie);
    const change = (headers: Record<string, string | readonly string[]>) =>
      http.ask({ method: 'POST', path: '/api/v1/operations/task.create', body: { title: 'x' }, headers });
    expect((await change({ cookie })).status).toBe(401);
    expect((await change({ cookie, 'forge-csrf': '' })).status).toBe(401);
    expect((await change({ cookie, 'forge-csrf': await csrfOf(other) })).status).toBe(401);
    expect((await change({ cookie, 'forge-csrf': [csrf, csrf] })).status).toBe(401);
    expect((await change({ 'forge-csrf': csrf })).status).toBe(401);
    expect((await change({ cookie: `${cookie}; ${other}`, 'forge-csrf': csrf })).status).toBe(401);
    expect((await change({ cookie, 'forge-csrf': csrf })).status).toBe(201);
    // A form of another page has neither the header nor the type.
    expect((await change({ cookie, 'forge-csrf': csrf, origin: 'http://evil.example' })).status).toBe(403);
    expect((await change({ cookie, 'forge-csrf': csrf, 'content-type': 'text/plain' })).status).toBe(415);
    // A token that is sent decides, also when it is wrong.
    expect((await change({ cookie, 'forge-csrf': csrf, authorization: 'Bearer x' })).status).toBe(401);
  });

  it('ends with its token, and when it is told to', async () => {
    await using http = await startHttp();
    const { token, id } = await http.token('admin');
    const cookie = await login(http, token);
    const other = await login(http, token);
    const ask = (own: string) => http.ask({ path: '/api/v1/tasks', headers: { cookie: own } });
    const { json } = await http.ask({ path: '/api/v1/session', headers: { cookie } });
    expect(json).toMatchObject({ actor: 'user:ann', scope: 'admin' });
    const { csrf } = json as { csrf: string };
    const end = { method: 'DELETE', path: '/api/v1/session' };
    expect((await http.ask({ ...end, token })).status).toBe(400);
    expect((await http.ask({ ...end, headers: { cookie, 'forge-csrf': csrf } })).json).toEqual({
      ended: true,
    });
    expect([(await ask(cookie)).status, (await ask(other)).status]).toEqual([401, 200]);
    await http.revoke(id);
    expect((await ask(other)).status).toBe(401);
  });

  it('is for people only', async () => {
    await using http = await startHttp();
    const { token } = await http.token('task', 'worker-1');
    const answer = await http.ask({ method: 'POST', path: SESSIONS, token });
    expect(answer).toMatchObject({ status: 403, json: { code: 'permission_denied' } });
    expect((await http.ask({ path: '/api/v1/session', token })).json).toEqual({
      actor: 'agent:worker-1',
      scope: 'task',
    });
  });

  it('lets nobody try for long, and no page of another site at all', async () => {
    await using http = await startHttp();
    const { token } = await http.token('admin');
    const try_ = (headers: Record<string, string> = {}) => http.ask({ path: '/login?code=x', headers });
    for (let at = 0; at < 2 * HTTP_LIMITS.login_tries; at += 1)
      expect((await try_({ 'sec-fetch-site': 'cross-site' })).status).toBe(403);
    for (let at = 0; at < HTTP_LIMITS.login_tries; at += 1) expect((await try_()).status).toBe(401);
    const answer = await try_();
    expect([answer.status, answer.headers['retry-after']]).toEqual([429, '60']);
    http.clock.advance(HTTP_LIMITS.login_window_ms);
    expect((await try_()).status).toBe(401);
    expect((await http.ask({ path: await askLink(http, token) })).status).toBe(303);
  });

  it('[L6] opens by a good link, after all that others have tried', async () => {
    await using http = await startHttp();
    const { token } = await http.token('admin');
    const link = await askLink(http, token);
    for (let at = 0; at < 3 * HTTP_LIMITS.login_tries; at += 1) await http.ask({ path: '/login?code=x' });
    expect((await http.ask({ path: '/login?code=x' })).status).toBe(429);
    expect((await http.ask({ path: link })).status).toBe(303);
    expect((await http.ask({ path: link })).status).toBe(429);
  });

  it('[L6] keeps the links and sessions of one token, however many another asks for', async () => {
    await using http = await startHttp();
    const { token } = await http.token('admin');
    const { token: greedy } = await http.token('task');
    const link = await askLink(http, token);
    for (let at = 0; at < 2 * HTTP_LIMITS.login_codes; at += 1) await askLink(http, greedy);
    const { status, headers } = await http.ask({ path: link });
    expect(status).toBe(303);
    const cookie = headers['set-cookie']?.[0]?.split(';')[0] ?? '';
    for (let at = 0; at < HTTP_LIMITS.sessions + 10; at += 1) await login(http, greedy);
    expect((await http.ask({ path: '/api/v1/session', headers: { cookie } })).status).toBe(200);
  });

  it('keeps no more links and sessions than it may', async () => {
    await using http = await startHttp();
    const { token } = await http.token('admin');
    const first = await askLink(http, token);
    for (let at = 0; at < HTTP_LIMITS.login_codes; at += 1) await askLink(http, token);
    expect((await http.ask({ path: first })).status).toBe(401);
    const oldest = await login(http, token);
    for (let at = 0; at < HTTP_LIMITS.sessions; at += 1) await login(http, token);
    expect((await http.ask({ path: '/api/v1/tasks', headers: { cookie: oldest } })).status).toBe(401);
  });
});

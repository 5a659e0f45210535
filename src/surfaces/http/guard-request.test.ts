import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startHttp, type TestHttp } from '../../../tests/support/http-server.ts';

let http: TestHttp;
let token: string;
beforeAll(async () => {
  http = await startHttp();
  ({ token } = await http.token('admin'));
});
afterAll(async () => http[Symbol.asyncDispose]());

/** Status of a request written by hand: nothing between the test and the server corrects it. */
async function statusOf(lines: readonly string[], body = ''): Promise<number> {
  const text = await http.raw(`${lines.join('\r\n')}\r\n\r\n${body}`, /\r\n\r\n/);
  return Number(/^HTTP\/1\.1 (\d{3})/.exec(text)?.[1] ?? 0);
}

const asking = (method: string, more: readonly string[], path = '/api/v1/tasks?project=fg'): string[] => [
  `${method} ${path} HTTP/1.1`,
  'Connection: close',
  `Authorization: Bearer ${token}`,
  ...more,
];

/** Everything in here is somebody else's name, or none. `PORT` is the server's. */
const FOREIGN_HOSTS = [
  'evil.example',
  'evil.example:PORT',
  'localhost',
  '127.0.0.1',
  'localhost:1',
  '127.0.0.1:1',
  'LOCALHOST:PORT',
  'Localhost:PORT',
  'localhost.:PORT',
  'localhost.evil.example:PORT',
  '127.0.0.1.evil.example:PORT',
  '127.0.0.1.nip.io:PORT',
  'evil.example#localhost:PORT',
  'evil@localhost:PORT',
  'localhost:PORT@evil.example',
  '2130706433:PORT',
  '0x7f000001:PORT',
  '0177.0.0.1:PORT',
  '127.1:PORT',
  '127.0.0.2:PORT',
  '0.0.0.0:PORT',
  '[::]:PORT',
  '[::ffff:127.0.0.1]:PORT',
  '[0:0:0:0:0:0:0:1]:PORT',
  '::1:PORT',
  '[::1]',
  'localhost:PORT:PORT',
  'localhost:0PORT',
  'localhost: PORT',
  'localhost:PORT/',
  'localhost:PORT,evil.example',
  '',
];

describe('the Host line', () => {
  it.each(['127.0.0.1:PORT', 'localhost:PORT', '[::1]:PORT'])('takes its own name %s', async (host) => {
    const own = host.replace('PORT', String(http.port));
    expect(await statusOf(asking('GET', [`Host: ${own}`]))).toBe(200);
    const open = [`GET /api/status HTTP/1.1`, 'Connection: close', `Host: ${own}`];
    expect(await statusOf(open)).toBe(200);
  });

  it.each(FOREIGN_HOSTS.map((host) => [host]))('refuses %j, also where no token is needed', async (host) => {
    const line = `Host: ${host.replaceAll('PORT', String(http.port))}`;
    expect([400, 421]).toContain(await statusOf(asking('GET', [line])));
    expect([400, 421]).toContain(await statusOf(['GET /api/status HTTP/1.1', 'Connection: close', line]));
  });

  it('is one line, in any spelling of its name', async () => {
    const own = `127.0.0.1:${http.port}`;
    expect(await statusOf(asking('GET', [`Host: ${own}`, `Host: ${own}`]))).toBe(400);
    expect(await statusOf(asking('GET', [`Host: ${own}`, 'hOST: evil.example']))).toBe(400);
    expect(await statusOf(asking('GET', ['Host: evil.example', `Host: ${own}`]))).toBe(400);
    expect(await statusOf(asking('GET', []))).toBe(421);
    expect(await statusOf(['GET /api/status HTTP/1.0'])).toBe(421);
  });

  it('is not replaced by an address of its own', async () => {
    const own = `127.0.0.1:${http.port}`;
    for (const target of [
      `http://${own}/api/status`,
      'http://evil.example/api/status',
      '*',
      '//evil.example/api/status',
      '/api/status#x',
    ]) {
      expect([target, await statusOf(asking('GET', [`Host: ${own}`], target))]).toEqual([target, 400]);
    }
  });

  it('goes by a name that was configured', async () => {
    await using named = await startHttp({
      deps: { origin: { scheme: 'http', host: '0.0.0.0', port: 8080, names: ['forge.example', 'fe80::1'] } },
    });
    const ask = (host: string) => named.ask({ path: '/api/status', headers: { host } });
    expect((await ask('forge.example:8080')).status).toBe(200);
    expect((await ask('[fe80::1]:8080')).status).toBe(200);
    expect((await ask('localhost:8080')).status).toBe(200);
    expect((await ask('0.0.0.0:8080')).status).toBe(421);
    expect((await ask('forge.example')).status).toBe(421);
    expect((await ask('forge.example:8081')).status).toBe(421);
  });
});

const FOREIGN_ORIGINS = [
  'http://evil.example',
  'https://127.0.0.1:PORT',
  'https://localhost:PORT',
  'http://127.0.0.1',
  'http://localhost:1',
  'http://127.0.0.1:1',
  'http://localhost:PORT',
  'http://[::1]:PORT',
  'HTTP://127.0.0.1:PORT',
  'http://127.0.0.1:PORT/',
  'http://127.0.0.1:PORT.evil.example',
  'http://127.0.0.1.evil.example:PORT',
  'http://localhost.evil.example',
  'http://localhost.:PORT',
  'http://evil.example/http://127.0.0.1:PORT',
  'http://user@127.0.0.1:PORT',
  'ws://127.0.0.1:PORT',
  'file://',
  'null',
  'undefined',
  '*',
  '',
  'http://127.0.0.1:PORT http://evil.example',
  'chrome-extension://abcdefgh',
  'vscode-webview://x',
];

describe('the Origin line', () => {
  const own = (): string => `127.0.0.1:${http.port}`;

  it('may be missing, or be the origin that is asked', async () => {
    expect(await statusOf(asking('GET', [`Host: ${own()}`]))).toBe(200);
    expect(await statusOf(asking('GET', [`Host: ${own()}`, `Origin: http://${own()}`]))).toBe(200);
    const named = `localhost:${http.port}`;
    expect(await statusOf(asking('GET', [`Host: ${named}`, `Origin: http://${named}`]))).toBe(200);
  });

  it.each(['GET', 'POST', 'OPTIONS'].flatMap((method) => FOREIGN_ORIGINS.map((origin) => [method, origin])))(
    '%s is refused for %j, and nothing is granted',
    async (method, origin) => {
      const line = `Origin: ${origin?.replaceAll('PORT', String(http.port))}`;
      const lines = [`Host: ${own()}`, line, 'Content-Type: application/json', 'Content-Length: 2'];
      const text = await http.raw(`${asking(method ?? '', lines).join('\r\n')}\r\n\r\n{}`, /\r\n\r\n/);
      expect(text).toMatch(/^HTTP\/1\.1 403 /);
      expect(text.toLowerCase()).not.toContain('access-control-');
    },
  );

  it('is one line', async () => {
    const line = `Origin: http://${own()}`;
    expect(await statusOf(asking('GET', [`Host: ${own()}`, line, line]))).toBe(403);
    expect(await statusOf(asking('GET', [`Host: ${own()}`, line, 'Origin: http://evil.example']))).toBe(403);
  });

  it('[S160] has no CORS: a preflight is a method that is not used', async () => {
    const asked = ['Access-Control-Request-Method: POST', 'Access-Control-Request-Headers: authorization'];
    const lines = ['OPTIONS /api/v1/tasks HTTP/1.1', 'Connection: close', `Host: ${own()}`, ...asked];
    const text = await http.raw(`${lines.join('\r\n')}\r\n\r\n`, /\r\n\r\n/);
    expect(text).toMatch(/^HTTP\/1\.1 405 /);
    expect(text).toMatch(/\r\nAllow: GET, /);
    expect(text.toLowerCase()).not.toContain('access-control-');
  });
});

const OTHER_TYPES = [
  'text/plain',
  'text/plain; charset=utf-8',
  'text/plain;application/json',
  'application/x-www-form-urlencoded',
  'multipart/form-data; boundary=x',
  'text/json',
  'application/jsonp',
  'application/json-patch+json',
  'application/json, text/plain',
  'application/json; charset=utf-16',
  'application/json; charset=latin1',
  'text/plain, application/json',
  'application/xml',
  'application/octet-stream',
  '',
];

describe('the type of a body', () => {
  const send = async (method: string, type: string | undefined, more: readonly string[] = []) => {
    const lines = [
      `Host: 127.0.0.1:${http.port}`,
      ...(type === undefined ? [] : [`Content-Type: ${type}`]),
      'Content-Length: 2',
      ...more,
    ];
    return statusOf(asking(method, lines, '/api/v1/operations/task.create'), '{}');
  };

  it.each([
    'application/json',
    'Application/JSON',
    'application/json; charset=utf-8',
    'application/json;charset="UTF-8"',
  ])('is %s', async (type) => {
    expect(await send('POST', type)).toBe(201);
  });

  it.each(['POST', 'PUT', 'PATCH', 'DELETE'].flatMap((method) => OTHER_TYPES.map((type) => [method, type])))(
    '%s as %j is refused',
    async (method = '', type = '') => {
      expect(await send(method, type)).toBe(415);
    },
  );

  it('is needed, said once and not packed', async () => {
    for (const method of ['POST', 'PUT', 'PATCH', 'DELETE']) expect(await send(method, undefined)).toBe(415);
    expect(await send('POST', 'application/json', ['Content-Type: text/plain'])).toBe(415);
    expect(await send('POST', 'application/json', ['Content-Encoding: gzip'])).toBe(415);
    expect(await send('POST', 'application/json', ['X-HTTP-Method-Override: GET'])).toBe(201);
  });
});

describe('the token', () => {
  const ask = async (lines: readonly string[], method = 'GET', path = '/api/v1/tasks') => {
    const head = [
      `${method} ${path} HTTP/1.1`,
      'Connection: close',
      `Host: 127.0.0.1:${http.port}`,
      ...lines,
    ];
    return statusOf([...head, 'Content-Type: application/json', 'Content-Length: 2'], '{}');
  };

  it('is the one of an Authorization line', async () => {
    expect(await ask([`Authorization: Bearer ${token}`])).toBe(200);
    expect(await ask([`authorization: bearer ${token}`])).toBe(200);
  });

  it.each([
    ['no line', () => []],
    ['an empty one', () => ['Authorization: ']],
    ['no token', () => ['Authorization: Bearer ']],
    ['another scheme', () => [`Authorization: Basic ${Buffer.from(`x:${token}`).toString('base64')}`]],
    ['the bare token', () => [`Authorization: ${token}`]],
    ['another token', () => [`Authorization: Bearer fgt_${'A'.repeat(43)}`]],
    ['one letter less', () => [`Authorization: Bearer ${token.slice(0, -1)}`]],
    ['one letter more', () => [`Authorization: Bearer ${token}A`]],
    ['another case', () => [`Authorization: Bearer ${token.toUpperCase()}`]],
    ['two tokens', () => [`Authorization: Bearer ${token} ${token}`]],
    ['two lines', () => [`Authorization: Bearer ${token}`, `Authorization: Bearer ${token}`]],
    ['a cookie of that name', () => [`Cookie: token=${token}; forge_session=${token}`]],
    ['a cookie of the session', () => [`Cookie: forge_session_${http.port}=${token}`]],
    ['another header', () => [`X-Forge-Token: ${token}`, `Forge-Token: ${token}`]],
    ['a proxy header', () => [`Proxy-Authorization: Bearer ${token}`]],
  ] as const)('is refused as %s', async (_name, lines) => {
    expect(await ask(lines())).toBe(401);
    expect(await ask(lines(), 'POST')).toBe(401);
  });

  it.each(['token', 'access_token', 'authorization', 'key', 'api_key'])(
    'is never taken from the address (%s)',
    async (name) => {
      expect(await ask([], 'GET', `/api/v1/tasks?${name}=${token}`)).toBe(401);
      expect(await ask([], 'POST', `/api/v1/tasks?${name}=${token}`)).toBe(401);
    },
  );

  it('is needed for what is not there as well', async () => {
    expect(await ask([], 'GET', '/api/v1/nothing')).toBe(401);
    expect(await ask([], 'GET', '/')).toBe(401);
    expect(await ask([], 'DELETE', '/api/v1/projects')).toBe(401);
    expect(await ask([`Authorization: Bearer ${token}`], 'GET', '/api/v1/nothing')).toBe(404);
    expect(await ask([`Authorization: Bearer ${token}`], 'PUT', '/api/v1/tasks')).toBe(405);
  });
});

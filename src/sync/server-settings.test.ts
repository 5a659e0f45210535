import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { isForgeError } from '#kernel/errors.ts';
import { isLoopback, readServerSettings, toBrowserHost, toUrlHost } from './server-settings.ts';

describe('where a server listens', () => {
  test('[S238] on this machine at 8080', () => {
    using home = tempHome();
    expect(home.settings({}, {})).toEqual({ host: '127.0.0.1', port: 8080, names: [] });
  });

  test('[S237] flags before the environment before the file, each value by itself', () => {
    using home = tempHome({ server: { host: 'localhost', port: 3, names: ['forge.example'] } });
    const env = { FORGE_PORT: '2' };
    expect(home.settings({ port: 1 }, env)).toMatchObject({ host: 'localhost', port: 1 });
    expect(home.settings({}, env)).toMatchObject({ host: 'localhost', port: 2 });
    expect(home.settings({}, {})).toEqual({ host: 'localhost', port: 3, names: ['forge.example'] });
    expect(home.settings({ host: '::1' }, { FORGE_HOST: '127.0.0.2' })).toMatchObject({ host: '::1' });
    expect(home.settings({}, { FORGE_HOST: '127.0.0.2', FORGE_PORT: '' })).toMatchObject({
      host: '127.0.0.2',
      port: 3,
    });
    expect(home.settings({ port: 0 }, env)).toMatchObject({ port: 0 });
  });

  test.each([
    [{ server: [] }, {}, '"server" in'],
    [{ server: { port: '80a' } }, {}, 'server.port in'],
    [{ server: { port: 65_536 } }, {}, 'server.port in'],
    [{ server: { port: 1.5 } }, {}, 'server.port in'],
    [{ server: { host: 'a b' } }, {}, 'server.host in'],
    [{ server: { host: 5 } }, {}, 'server.host in'],
    [{ server: { names: 'x' } }, {}, 'server.names in'],
    [{ server: { names: ['a/b'] } }, {}, 'server.names in'],
    [{}, { FORGE_PORT: '-1' }, 'FORGE_PORT'],
    [{}, { FORGE_PORT: '0x50' }, 'FORGE_PORT'],
    [{}, { FORGE_HOST: 'http://x' }, 'FORGE_HOST'],
  ])('%j and %j: says that %s is wrong', (file, env, where) => {
    using home = tempHome(file);
    const error = catchError(() => home.settings({}, env));
    expect(isForgeError(error) && [error.code, error.message.startsWith(where)]).toEqual([
      'invalid_input',
      true,
    ]);
  });

  test.each([
    ['127.0.0.1', true],
    ['127.1.2.3', true],
    ['localhost', true],
    ['LOCALHOST', true],
    ['::1', true],
    ['0.0.0.0', false],
    ['::', false],
    ['127.0.0.1.evil', false],
    ['127.evil', false],
    ['localhost.evil', false],
    ['192.168.0.1', false],
    ['::ffff:192.168.0.1', false],
    ['2130706433', false],
    ['', false],
  ])('%s is this machine alone: %s', (host, is) => {
    expect(isLoopback(host)).toBe(is);
  });

  test('an IPv6 address stands in brackets', () => {
    expect([toUrlHost('::1'), toUrlHost('127.0.0.1')]).toEqual(['[::1]', '127.0.0.1']);
  });

  test('a browser here asks for an address, where the server has all of them', () => {
    const hosts = ['0.0.0.0', '::', '::1', '192.0.2.1', 'localhost'];
    expect(hosts.map(toBrowserHost)).toEqual(['127.0.0.1', '[::1]', '[::1]', '192.0.2.1', 'localhost']);
  });
});

function tempHome(file?: object) {
  const home = mkdtempSync(join(tmpdir(), 'forge-home-'));
  if (file !== undefined) writeFileSync(join(home, 'config.json'), JSON.stringify(file));
  return {
    settings: (flags: { host?: string; port?: number }, env: Record<string, string>) =>
      readServerSettings(flags, { home, env, homeDir: home }),
    [Symbol.dispose]: () => rmSync(home, { recursive: true, force: true }),
  };
}

function catchError(work: () => unknown): unknown {
  try {
    return work();
  } catch (error) {
    return error;
  }
}

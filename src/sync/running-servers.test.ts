import { mkdtempSync, readFileSync, readlinkSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { readOwnIdentity } from '#process/process-identity.ts';
import {
  addRunning,
  findOlderServer,
  listRunning,
  listServers,
  markStopping,
  removeRunning,
} from './running-servers.ts';

const own = readOwnIdentity();
const facts = { version: '1.0.0', schema: 12, started_at: '2026-01-01T00:00:00.000Z' };
/** As it was written before it had machine, boot and namespace. */
const old = { pid: own.pid, url: 'http://127.0.0.1:1', projects: ['/a', '/b'], ...facts };
const here = { ...own, url: 'http://127.0.0.1:1', projects: ['/a', '/b'], ...facts };

test('a server of the same projects is told, one of others is not', async () => {
  using home = tempHome();
  expect(await addRunning(home.path, here)).toBeUndefined();
  const second = { ...here, url: 'http://127.0.0.1:2', projects: ['/b', '/a'] };
  expect(await addRunning(home.path, second)).toEqual(here);
  const third = { ...here, url: 'http://127.0.0.1:3', projects: ['/a'] };
  expect(await addRunning(home.path, third)).toBeUndefined();
  expect(statSync(join(home.path, 'servers.json')).mode & 0o777).toBe(0o600);
});

test.each([
  ['one that knows less and works here', { schema: 11 }, ['/b'], true],
  ['one that did not say what it knows', { schema: null }, ['/b'], true],
  ['one that knows as much', { schema: 12 }, ['/b'], false],
  ['one of other projects', { schema: 11 }, ['/c'], false],
  ['one that has ended', { schema: 11, start_time: 1 }, ['/b'], false],
])('a server that an upgrade would shut out: %s', async (_name, more, places, found) => {
  using home = tempHome();
  await addRunning(home.path, { ...here, ...more });
  expect(findOlderServer(home.path, { places, schema: 12 })?.pid).toBe(found ? here.pid : undefined);
});

test('what has ended is forgotten, by itself or with the next start', async () => {
  using home = tempHome();
  await addRunning(home.path, here);
  await removeRunning(home.path, here.pid, here.url);
  expect(await addRunning(home.path, { ...here, url: 'http://127.0.0.1:4' })).toBeUndefined();
  // Another process that got the same number, also after a start of the machine, and one that is no more; on another
  // machine nobody knows.
  const stale = [
    { ...here, start_time: own.start_time - 1 },
    { ...here, boot_id: 'the one before' },
    { ...here, pid: 2 ** 22 + 1 },
    { ...here, host: 'elsewhere' },
    { ...old, began: '1' },
    { ...old, pid: 2 ** 22 + 1, began: '' },
  ];
  writeFileSync(join(home.path, 'servers.json'), JSON.stringify({ servers: stale }));
  expect(await addRunning(home.path, here)).toBeUndefined();
  const { servers } = JSON.parse(readFileSync(join(home.path, 'servers.json'), 'utf8')) as {
    servers: unknown[];
  };
  expect(servers).toEqual([here]);
});

test('one that stops is on the list as such, and is not told to the next', async () => {
  using home = tempHome();
  await addRunning(home.path, here);
  await markStopping(home.path, here.pid, here.url);
  expect(listRunning(home.path)).toEqual([{ ...here, stopping: true }]);
  expect(await addRunning(home.path, { ...here, url: 'http://127.0.0.1:8' })).toBeUndefined();
});

test('one that an older Forge put on the list is understood', async () => {
  using home = tempHome();
  const servers = [{ ...old, began: String(own.start_time) }];
  writeFileSync(join(home.path, 'servers.json'), JSON.stringify({ servers }));
  expect(listRunning(home.path)).toEqual([here]);
  expect(await addRunning(home.path, { ...here, url: 'http://127.0.0.1:6' })).toEqual(here);
});

test('one in a container that cannot be looked into stays on the list, and counts as none that runs', async () => {
  using home = tempHome();
  const hidden = { ...here, pid_namespace: 'pid:[1]' };
  writeFileSync(join(home.path, 'servers.json'), JSON.stringify({ servers: [hidden] }));
  expect(listRunning(home.path)).toEqual([]);
  expect(await addRunning(home.path, { ...here, url: 'http://127.0.0.1:7' })).toBeUndefined();
  const isSeenFromHere = readlinkSync('/proc/self/ns/pid') === 'pid:[4026531836]';
  expect(listServers(home.path)).toHaveLength(isSeenFromHere ? 1 : 2);
});

test.each(['', 'nonsense', '{"servers":5}', '{"servers":[{"pid":"x"}]}'])(
  'a list that holds %j is begun anew',
  async (text) => {
    using home = tempHome();
    writeFileSync(join(home.path, 'servers.json'), text);
    expect(await addRunning(home.path, here)).toBeUndefined();
    expect(await addRunning(home.path, { ...here, url: 'http://127.0.0.1:5' })).toEqual(here);
  },
);

function tempHome() {
  const path = mkdtempSync(join(tmpdir(), 'forge-home-'));
  return { path, [Symbol.dispose]: () => rmSync(path, { recursive: true, force: true }) };
}

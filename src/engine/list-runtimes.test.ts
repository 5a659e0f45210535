import { chmodSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { Daemon, Runtime } from '#contract/daemon-operations.ts';
import { addAgent, pauseAgent } from '#sync/agent-identities.ts';
import { tempFolder, type TempFolder } from '../../tests/support/temp-repo.ts';
import { listRuntimes } from './list-runtimes.ts';

let home: TempFolder;
beforeEach(async () => {
  home = await tempFolder();
  await home.write('bin/codex', '#!/bin/sh\n');
  chmodSync(join(home.path, 'bin/codex'), 0o755);
  await home.write('settings.json', JSON.stringify({ scheduler: { per_agent: 2, per_machine: 3 } }));
});
afterEach(() => home[Symbol.asyncDispose]());

const add = (name: string, executor: string, more: { max?: number; command?: string[] } = {}) => {
  const { max, command } = more;
  const wish = { executor, permissions: 'all' as const, ...(command !== undefined && { command }) };
  return addAgent(home.path, { name, wish, now: 1, ...(max !== undefined && { max }) });
};

/** What a daemon can run with so many of these at work. */
function list(kind: Daemon['kind'], ...running: string[]): Pick<Runtime, 'executor' | 'free'>[] {
  const daemon: Daemon = {
    id: 'here-1',
    kind,
    host: 'here',
    pid: 1,
    version: null,
    url: null,
    projects: [],
    runs: running.length,
    started_at: null,
    last_seen_at: null,
    state: 'alive',
  };
  const runs = running.map((executor) => ({ agent: 'a', executor }));
  const env = { PATH: join(home.path, 'bin') };
  return listRuntimes([{ daemon, runs }], { home: home.path, env });
}

it('an agent that is paused, and one of another executor, give no places', async () => {
  await add('ada', 'shell', { max: 1, command: ['sh'] });
  await add('bob', 'shell', { command: ['sh'] });
  await pauseAgent(home.path, { name: 'bob', paused: true, now: 2 });
  await add('cleo', 'codex');
  expect(list('server')).toMatchObject([
    { executor: 'codex', agents: ['cleo'], places: 2, busy: 0, free: 2, available: true },
    { executor: 'shell', agents: ['ada'], places: 1, busy: 0, free: 1, available: true },
  ]);
});

it('what is full has no free place, and the machine sets a limit to all together', async () => {
  await add('ada', 'shell', { max: 1, command: ['sh'] });
  await add('cleo', 'codex');
  expect(list('server', 'shell', 'codex')).toMatchObject([
    { executor: 'codex', busy: 1, places: 2, free: 1 },
    { executor: 'shell', busy: 1, places: 1, free: 0 },
  ]);
  expect(list('server', 'shell', 'shell')).toMatchObject([
    { executor: 'codex', free: 1 },
    { executor: 'shell', busy: 2, places: 1, free: 0 },
  ]);
  expect(list('command', 'shell')).toMatchObject([{ executor: 'shell', busy: 1, places: 1, free: 0 }]);
});

it('a program that is not there has no free place, unless an agent names another', async () => {
  await add('cara', 'claude');
  expect(list('server')).toMatchObject([{ executor: 'claude', available: false, places: 2, free: 0 }]);
  await add('carl', 'claude', { command: ['codex'] });
  expect(list('server')).toMatchObject([{ executor: 'claude', available: true, places: 3, free: 3 }]);
});

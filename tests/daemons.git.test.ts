import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Daemon, Runtime } from '#contract/daemon-operations.ts';
import { readOwnIdentity } from '#process/process-identity.ts';
import { openProjectWork, type ProjectWork } from './support/project-work.ts';

let work: ProjectWork;
let task: string;
let go: string;
const OWN = `${hostname()}-${process.pid}`;

beforeAll(async () => {
  work = await openProjectWork();
  go = join(dirname(work.project.path), 'go');
  await work.addAgent('ada', `until [ -e ${go} ]; do sleep 0.05; done`);
  await work.addAgent('bob', 'true');
  task = (await work.project.create('Long')).id;
});

afterAll(async () => {
  writeFileSync(go, '');
  await work.workshop.settled();
  await work[Symbol.asyncDispose]();
});

const daemons = () => work.project.json<Daemon[]>('daemons');
const runtimes = () => work.project.json<Runtime[]>('runtimes');

describe('[S155] [S219] [S227] daemons and runtimes', () => {
  it('has a command that works on a task, with the agents it runs and no free place', async () => {
    await work.start(task, 'ada');
    expect(await daemons()).toMatchObject([
      { id: OWN, kind: 'command', pid: process.pid, state: 'alive', runs: 1, url: null },
    ]);
    expect(await runtimes()).toMatchObject([
      { id: `${OWN}/shell`, executor: 'shell', agents: ['ada', 'bob'], places: 1, busy: 1, free: 0 },
    ]);
    expect(await work.project.text('runtimes')).toMatch(/shell +yes +0\/1 +1 +ada, bob/);
  });

  it('has one on another host as gone when its word holds no more', async () => {
    const { store } = work.ctx.project;
    const { id: task_id } = await work.project.create('Elsewhere');
    const mark = { ...readOwnIdentity(), host: 'elsewhere', pid: 4_711, daemon_id: crypto.randomUUID() };
    await store.takeWatch({ task_id, watcher: mark }, Date.now());
    const find = async () => (await daemons()).find(({ host }) => host === 'elsewhere');
    await store.beatDaemon({ mark, ttl_ms: 600_000 }, Date.now());
    expect(await find()).toMatchObject({ state: 'unknown' });
    await store.beatDaemon({ mark, ttl_ms: 1 }, Date.now());
    await new Promise((resolve) => setTimeout(resolve, 20));
    // Of a command that has ended nothing is shown but its runs.
    expect(await find()).toBeUndefined();
    await store.noteUnwatched({ task_id, watcher: mark });
  });

  it('has one that was killed as gone, until somebody has settled what it left', async () => {
    const { store } = work.ctx.project;
    const { id: task_id } = await work.project.create('Left');
    const dead = { ...readOwnIdentity(), pid: 2 ** 22 + 1, start_time: 1 };
    const by = { actor: await work.ctx.actor(), now: Date.now() };
    await store.takeWatch({ task_id, watcher: dead }, by.now);
    // A command that has ended leaves no more than that.
    expect(await daemons()).toHaveLength(1);
    const place = { name: 'left', path: '/nowhere/left', target: 'main', port: null };
    const { id: attempt_id } = await store.startAttempt(
      { id: crypto.randomUUID(), task_id, agent: 'bob', ...place, base_commit: 'a'.repeat(40) },
      by,
    );
    const held = { fence: null, in_state: null };
    const how = { ...held, role: 'coder', executor: 'shell', state: 'scheduled', session_id: null } as const;
    const run = { id: crypto.randomUUID(), task_id, attempt_id, agent: 'bob', ...how, watcher: dead };
    await store.createRun(run, by);
    const gone = (await daemons()).find(({ pid }) => pid === dead.pid);
    expect(gone).toMatchObject({ kind: 'command', state: 'gone', runs: 1, projects: [work.project.path] });
    expect((await runtimes()).map(({ daemon_id }) => daemon_id)).toEqual([OWN]);
    await work.workshop.place.settleLost();
    expect(await daemons()).toHaveLength(1);
  });

  it('has the servers of the home, with free places for every agent that may be started', async () => {
    const { home } = work.ctx.place;
    mkdirSync(home, { recursive: true });
    const facts = { url: 'http://127.0.0.1:1', projects: [work.project.path], version: '1.2.3' };
    const here = { ...readOwnIdentity(), ...facts };
    const servers = [here, { ...here, start_time: here.start_time - 1 }];
    writeFileSync(join(home, 'servers.json'), JSON.stringify({ servers }));
    expect(await daemons()).toMatchObject([
      { id: OWN, kind: 'server', state: 'alive', runs: 1, version: '1.2.3', started_at: null },
      { kind: 'server', state: 'gone', runs: 0, last_seen_at: null },
    ]);
    const [only, ...more] = await runtimes();
    expect(more).toEqual([]);
    expect(only).toMatchObject({ daemon_id: OWN, agents: ['ada', 'bob'], busy: 1, available: true });
    expect(only?.free).toBe((only?.places ?? 0) - 1);
    await work.project.json('agent', 'pause', 'bob');
    expect((await runtimes())[0]).toMatchObject({ agents: ['ada'] });
    rmSync(join(home, 'servers.json'));
  });
});

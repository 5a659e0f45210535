import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';
import { LIMITS } from '#kernel/limits.ts';
import { fillStore } from './fill-store.ts';
import { FORGE, makeProject, median, raceProcesses, temporaryFolder, type Result } from './measure.ts';
import { startBare, startForge, startWorker, type MeasuredServer } from './server-process.ts';
import { writeTaskFile } from './task-lines.ts';

/** Smaller figures for a machine that has other things to do; the budgets are meant for 1. */
const SCALE = Number(process.env['FORGE_BENCH_SCALE'] ?? '1');
const CLIENTS = scaled(1_000);
const CLAIMS = scaled(10_000);
const TASKS = scaled(100_000);
const SUBSCRIBERS = scaled(10_000);
const DEAF = scaled(500);
// Fewer than a feed keeps, and of now: what is forgotten before a reader comes to it is told to it, and is no gap.
const EVENTS = scaled(90_000);
const PAGES = scaled(20_000);
const REPEATS = 3;
const ATTACKERS = 6;
const ATTACK_S = 5;
const MB = 1024 * 1024;

function scaled(count: number): number {
  return Math.max(10, Math.round(count * SCALE));
}

/** `forge serve`: claims against the bare loop, pauses, event streams, first pages, memory. */
export async function benchServer(): Promise<Result[]> {
  const parts = {
    claims: benchHttpClaims,
    stall: benchStall,
    bodies: benchBodies,
    events: benchEvents,
    pages: benchPages,
  };
  const only = process.env['FORGE_BENCH_SERVER'];
  const results: Result[] = [];
  for (const [name, part] of Object.entries(parts))
    if (only === undefined || only === name) results.push(...(await part()));
  return results;
}

interface Load {
  readonly ms: number;
  readonly statuses: Record<string, number>;
  readonly won: readonly number[];
  readonly p99_ms: number;
}

async function sendAll(
  { url, token }: MeasuredServer,
  lines: readonly string[],
  { folder, clients, connections }: { folder: string; clients: number; connections: number },
): Promise<Load> {
  const file = join(folder, 'requests');
  writeFileSync(file, lines.join('\n'));
  const script = join(import.meta.dirname, 'workers/http-clients.ts');
  const args = [script, url, token, file, String(clients), String(connections)];
  const { outputs } = await raceProcesses([args], folder);
  return JSON.parse(outputs[0] ?? '') as Load;
}

async function benchHttpClaims(): Promise<Result[]> {
  const bare: number[] = [];
  const ours: number[] = [];
  for (let i = 0; i < REPEATS; i += 1) {
    bare.push(await claimRate('bare'));
    ours.push(await claimRate('forge'));
  }
  return [
    {
      what: `HTTP claims by ${CLIENTS} clients over ${CLAIMS} tasks, each exactly once, no error`,
      baseline: 'bare `node:http` and conditional UPDATE, `synchronous=FULL`',
      ratio: median(ours) / median(bare),
      budget: 0.5,
      sense: 'at least',
      figures: `${median(ours).toFixed(0)} / s against ${median(bare).toFixed(0)} / s`,
    },
  ];
}

const claimId = (i: number): string => `fg-${i.toString(36).padStart(4, '0')}`;

/** Claims a second; throws unless every task was claimed exactly once, although one in ten was asked for twice. */
async function claimRate(kind: 'bare' | 'forge'): Promise<number> {
  using folder = temporaryFolder();
  const ids = Array.from({ length: CLAIMS }, (_, i) => claimId(i));
  const asked = [...ids, ...ids.filter((_, i) => i % 10 === 0)];
  const lines = asked.map(
    (id, i) =>
      `POST /api/v1/tasks/${id}/claim ${JSON.stringify({ assignee: i < CLAIMS ? `worker-${i % CLIENTS}` : `late-${i % CLIENTS}` })}`,
  );
  await using server = await (kind === 'bare' ? makeBare(folder.path, ids) : makeForge(folder.path, ids));
  const load = await sendAll(server, lines, { folder: folder.path, clients: CLIENTS, connections: 100 });
  const claimed = new Set(load.won.map((at) => asked[at]));
  const clean = Object.keys(load.statuses).every((status) => status === '200' || status === '409');
  if (!clean || claimed.size !== CLAIMS || load.won.length !== CLAIMS)
    throw new Error(`${kind}: ${JSON.stringify(load.statuses)}, ${claimed.size} of ${CLAIMS} tasks claimed`);
  return CLAIMS / (load.ms / 1000);
}

function makeBare(folder: string, ids: readonly string[]): Promise<MeasuredServer> {
  const path = join(folder, 'bare.db');
  const db = new DatabaseSync(path);
  db.exec(
    'PRAGMA journal_mode = WAL; CREATE TABLE tasks (id TEXT PRIMARY KEY, status TEXT NOT NULL, assignee TEXT, updated_at TEXT); BEGIN',
  );
  const insert = db.prepare("INSERT INTO tasks VALUES (?, 'open', NULL, '')");
  for (const id of ids) insert.run(id);
  db.exec('COMMIT');
  db.close();
  return startBare(path);
}

function makeForge(folder: string, ids: readonly string[]): Promise<MeasuredServer> {
  const { project, home, database } = makeServed(folder);
  const db = new DatabaseSync(database);
  db.exec('BEGIN');
  const insert = db.prepare(
    "INSERT INTO tasks (id, title, created_at, created_by, updated_at) VALUES (?, 'A task to claim', ?, 'bench', ?)",
  );
  for (const [i, id] of ids.entries()) {
    const at = new Date(1_700_000_000_000 + i).toISOString();
    insert.run(id, at, at);
  }
  db.exec('COMMIT');
  db.close();
  return startForge(project, home);
}

function makeServed(folder: string): { project: string; home: string; database: string } {
  const project = join(folder, 'project');
  const home = join(folder, 'home');
  mkdirSync(project);
  mkdirSync(home);
  return { project, home, database: makeProject(project) };
}

/** Another process imports; the server goes on answering, and its loop never stands still for long. */
async function benchStall(): Promise<Result[]> {
  using folder = temporaryFolder();
  const { project, home } = makeServed(folder.path);
  await using server = await startForge(project, home);
  const idle = await server.report();
  const file = join(folder.path, 'incoming.jsonl');
  writeTaskFile(file, TASKS);
  const child = spawn(process.execPath, [FORGE, 'import', file], { cwd: project, stdio: 'ignore' });
  const ended = once(child, 'close');
  let isOver = false;
  child.once('close', () => (isOver = true));
  const headers = { authorization: `Bearer ${server.token}`, 'content-type': 'application/json' };
  let asked = 0;
  const writes: Promise<Response>[] = [];
  const slow: number[] = [];
  while (!isOver) {
    const began = performance.now();
    const answer = await fetch(`${server.url}/api/v1/tasks?limit=20`, { headers });
    await answer.arrayBuffer();
    slow.push(performance.now() - began);
    if (!answer.ok) throw new Error(`GET /tasks during an import: ${answer.status}`);
    if (asked % 10 === 0) {
      // Not waited for here: it has to wait for the import.
      writes.push(
        fetch(`${server.url}/api/v1/projects/fg/tasks`, { method: 'POST', headers, body: '{"title":"x"}' }),
      );
    }
    asked += 1;
  }
  await ended;
  const refused = (await Promise.all(writes)).filter(({ status }) => status !== 201);
  if (refused.length > 0) throw new Error(`${refused.length} writes during an import were refused`);
  const { stall_ms } = await server.report();
  return [
    {
      what: `longest pause of the event loop while another process imports ${TASKS} tasks`,
      baseline: '50 ms',
      ratio: stall_ms / 50,
      budget: 1,
      sense: 'at most',
      figures: `${stall_ms.toFixed(0)} ms; ${asked} reads, the slowest ${Math.max(...slow).toFixed(0)} ms`,
    },
    {
      what: 'memory of an idle server',
      baseline: '90 MB',
      ratio: idle.rss / MB / 90,
      budget: 1,
      sense: 'at most',
      figures: `${(idle.rss / MB).toFixed(0)} MB`,
    },
  ];
}

/** Six clients send two megabytes of what is slow to read, without a pause; others must not notice. */
async function benchBodies(): Promise<Result[]> {
  using folder = temporaryFolder();
  const { project, home } = makeServed(folder.path);
  await using server = await startForge(project, home);
  const headers = { authorization: `Bearer ${server.token}` };
  const ask = async (): Promise<void> => {
    await (await fetch(`${server.url}/api/v1/tasks?limit=20`, { headers })).arrayBuffer();
  };
  await ask();
  const idle: number[] = [];
  const busy: number[] = [];
  let said = '';
  for (let i = 0; i < REPEATS; i += 1) {
    await server.report();
    await sleep(ATTACK_S * 1_000);
    idle.push((await server.report()).delay_p99_ms);
    const script = join(import.meta.dirname, 'workers/attackers.ts');
    const args = [script, server.port, server.token, String(ATTACKERS), String(ATTACK_S)];
    const { outputs } = await raceProcesses([args], folder.path);
    said = (outputs[0] ?? '').trim();
    busy.push((await server.report()).delay_p99_ms);
    await ask();
  }
  const [before, under] = [median(idle), median(busy)];
  return [
    {
      what: `delay of the event loop, p99, under ${ATTACKERS} clients that send bodies of 2 MB`,
      baseline: 'the same server idle',
      ratio: under / before,
      budget: 3,
      sense: 'at most',
      figures: `${under.toFixed(1)} ms, idle ${before.toFixed(1)} ms; answers by status ${said}`,
    },
  ];
}

async function benchEvents(): Promise<Result[]> {
  using folder = temporaryFolder();
  const { project, home, database } = makeServed(folder.path);
  await using server = await startForge(project, home);
  const idle = await server.report();
  using crowd = startWorker('event-readers.ts', [server.port, server.token, String(SUBSCRIBERS)]);
  await crowd.next<{ connected: number }>();
  const times: number[] = [];
  for (let seq = 1; seq <= 5; seq += 1) {
    const began = Date.now();
    crowd.say(String(seq));
    addEvents(database, 1);
    const { at } = await crowd.next<{ at: number }>();
    times.push(at - began);
  }
  const { rss } = await server.report();
  crowd.say('end');
  const { fault_count } = await crowd.next<{ fault_count: number }>();
  if (fault_count > 0) throw new Error(`${fault_count} faults at ${SUBSCRIBERS} readers`);
  return [
    {
      what: `${SUBSCRIBERS} event readers: an event's last byte at the last of them`,
      baseline: '1 s',
      ratio: Math.max(...times) / 1_000,
      budget: 1,
      sense: 'at most',
      figures: `${Math.max(...times)} ms, median ${median(times)} ms`,
    },
    {
      what: `memory for ${SUBSCRIBERS} event readers, above idle`,
      baseline: '300 MB',
      ratio: (rss - idle.rss) / MB / 300,
      budget: 1,
      sense: 'at most',
      figures: `${((rss - idle.rss) / MB).toFixed(0)} MB`,
    },
    await benchDeaf(server, database),
  ];
}

/** Those who never read are cut; those who read get everything in order. */
async function benchDeaf(server: MeasuredServer, database: string): Promise<Result> {
  const readers = 20;
  const first = countEvents(database);
  using hearing = startWorker('event-readers.ts', [server.port, server.token, String(readers), String(DEAF)]);
  await hearing.next<{ connected: number }>();
  hearing.say(String(first + EVENTS));
  const began = performance.now();
  for (let made = 0; made < EVENTS; made += 1_000) addEvents(database, Math.min(1_000, EVENTS - made));
  await hearing.next<{ at: number }>();
  const ms = performance.now() - began;
  const { rss } = await server.report();
  await sleep(LIMITS.event_stall_ms + 2_000);
  hearing.say('end');
  const seen = await hearing.next<{ fault_count: number; faults: string[]; cut: number }>();
  return {
    what: `${EVENTS} events at ${readers} readers beside ${DEAF} that never read: gaps, duplicates, broken streams, readers not cut`,
    baseline: 'none',
    ratio: seen.fault_count + DEAF - seen.cut,
    budget: 0,
    sense: 'at most',
    figures: `${(ms / 1000).toFixed(1)} s, ${(rss / MB).toFixed(0)} MB, ${seen.cut} cut ${seen.faults.join('; ')}`,
  };
}

function addEvents(database: string, count: number): void {
  const db = new DatabaseSync(database, { timeout: 60_000 });
  db.exec(`WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${count})
    INSERT INTO events (type, task_id, triggered_by, created_at, data)
    SELECT 'task.updated', 'fg-x', 'user:bench', strftime('%Y-%m-%dT%H:%M:%fZ', 'now'), '{"task":"' || hex(zeroblob(300)) || '"}' FROM n`);
  db.close();
}

function countEvents(database: string): number {
  const db = new DatabaseSync(database, { timeout: 60_000 });
  const row = db.prepare('SELECT coalesce(max(seq), 0) AS seq FROM events').get() as { seq: number };
  db.close();
  return row.seq;
}

/** Each asks again as soon as it is answered: 50 requests are on their way at any moment. */
async function benchPages(): Promise<Result[]> {
  using folder = temporaryFolder();
  const { project, home, database } = makeServed(folder.path);
  fillStore(database, TASKS);
  await using server = await startForge(project, home);
  await using bare = await makeBare(folder.path, []);
  const headers = { authorization: `Bearer ${server.token}` };
  const page = await (await fetch(`${server.url}/api/v1/tasks`, { headers })).arrayBuffer();
  const script = join(import.meta.dirname, 'workers/page-clients.ts');
  const load = async ({ port, token }: MeasuredServer, path: string): Promise<PageLoad> => {
    const args = [script, port, token, path, '50', String(PAGES)];
    const { outputs } = await raceProcesses([args], folder.path);
    return JSON.parse(outputs[0] ?? '') as PageLoad;
  };
  const loads: PageLoad[] = [];
  const bares: PageLoad[] = [];
  for (let i = 0; i < REPEATS; i += 1) {
    bares.push(await load(bare, `/?bytes=${page.byteLength}`));
    loads.push(await load(server, '/api/v1/tasks'));
  }
  const bare_ms = median(bares.map(({ p99_ms }) => p99_ms));
  const p99_ms = median(loads.map((one) => one.p99_ms));
  const median_ms = median(loads.map((one) => one.median_ms));
  const rate = median(loads.map((one) => one.rate));
  return [
    {
      what: `first page of ${TASKS} tasks by 50 clients at once, p99`,
      baseline: '20 ms',
      ratio: p99_ms / 20,
      budget: 1,
      sense: 'at most',
      figures: `${p99_ms.toFixed(1)} ms, median ${median_ms.toFixed(1)} ms; ${rate.toFixed(0)} / s; bare \`node:http\` with as many bytes ${bare_ms.toFixed(1)} ms`,
    },
  ];
}

interface PageLoad {
  readonly rate: number;
  readonly median_ms: number;
  readonly p99_ms: number;
}

import { readdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { makeAttemptProject, scaled, type AttemptProject } from './attempt-project.ts';
import { median, type Result } from './measure.ts';
import { startForge, type MeasuredServer } from './server-process.ts';

const RUNS = scaled(50, 5);
const FILES = 100;
const SECONDS = scaled(30, 8);
const WRITES_A_SECOND = 10;
const MEMORY_MB = 200;
const LAG_MS = 250;
const MB = 1024 * 1024;

/** A server whose agents all write a megabyte a second; meanwhile tasks are written, and somebody reads the events. */
export async function benchAttemptLive(): Promise<Result[]> {
  using project = makeAttemptProject(FILES);
  const flood = join(import.meta.dirname, 'workers/flood.sh');
  const go = join(project.folder.path, 'go');
  const command = ['bash', flood, go].flatMap((word) => ['--command', word]);
  const agent = ['--executor', 'shell', ...command, '--max', String(RUNS)];
  project.forge('agent', 'add', 'bench', ...agent);
  const home = project.env['FORGE_HOME'] ?? project.home;
  await using server = await startForge(project.path, home, project.env);
  await startRuns(server);
  writeFileSync(go, '');
  await sleep(2_000);
  using events = await followEvents(server);
  await server.report();
  const [before, began] = [countLogged(project), performance.now()];
  const lags = await writeTasks(server, events);
  const seconds = (performance.now() - began) / 1000;
  const rate = (countLogged(project) - before) / MB / seconds / RUNS;
  const { rss, stall_ms } = await server.report();
  const p99 = lags.toSorted((a, b) => a - b)[Math.ceil(lags.length * 0.99) - 1] ?? Number.NaN;
  await stopRuns(server);
  return [
    {
      what: `memory of a server with ${RUNS} runs that write 1 MB/s each`,
      baseline: `${MEMORY_MB} MB`,
      ratio: rss / MB / MEMORY_MB,
      budget: 1,
      sense: 'at most',
      figures: `${(rss / MB).toFixed(0)} MB; each log grew by ${rate.toFixed(2)} MB / s`,
    },
    {
      what: 'meanwhile, a task written over REST to its event at a reader, p99',
      baseline: `${LAG_MS} ms`,
      ratio: p99 / LAG_MS,
      budget: 1,
      sense: 'at most',
      figures: `${p99.toFixed(0)} ms, median ${median(lags).toFixed(0)} ms of ${lags.length}; longest pause ${stall_ms.toFixed(0)} ms`,
    },
  ];
}

async function startRuns(server: MeasuredServer): Promise<void> {
  for (let at = 0; at < RUNS; at += 1) {
    const task = await call<{ id: string }>(server, 'POST', '/projects/fg/tasks', { title: `Run ${at}` });
    await call(server, 'POST', `/tasks/${task.id}/claim`, { assignee: 'bench' });
  }
  for (;;) {
    if ((await listRunning(server)).length === RUNS) return;
    await sleep(200);
  }
}

async function listRunning(server: MeasuredServer): Promise<readonly { readonly id: string }[]> {
  const runs = await call<{ id: string; state: string }[]>(server, 'GET', '/executions?open=true&limit=1000');
  return runs.filter(({ state }) => state === 'running');
}

async function stopRuns(server: MeasuredServer): Promise<void> {
  await Promise.all(
    (await listRunning(server)).map(({ id }) => call(server, 'POST', `/executions/${id}/stop`, {})),
  );
}

/** From the moment that the request is sent, so that what the server takes to write it is in it. */
async function writeTasks(server: MeasuredServer, events: Events): Promise<readonly number[]> {
  const lags: Promise<number>[] = [];
  for (let at = 0; at < SECONDS * WRITES_A_SECOND; at += 1) {
    const title = `Written ${at}`;
    const began = performance.now();
    lags.push(events.seen(title).then(() => performance.now() - began));
    await Promise.all([
      call(server, 'POST', '/projects/fg/tasks', { title }),
      sleep(1_000 / WRITES_A_SECOND),
    ]);
  }
  return Promise.all(lags);
}

interface Events extends Disposable {
  /** Resolves when an event with these words has come. */
  seen(words: string): Promise<void>;
}

async function followEvents({ url, token }: MeasuredServer): Promise<Events> {
  const ending = new AbortController();
  const headers = { authorization: `Bearer ${token}` };
  const { body } = await fetch(`${url}/api/v1/events`, { headers, signal: ending.signal });
  if (body === null) throw new Error('no event stream');
  const waiting = new Map<string, () => void>();
  const read = async (): Promise<void> => {
    let rest = '';
    for await (const text of body.pipeThrough(new TextDecoderStream())) {
      const blocks = (rest + text).split('\n\n');
      rest = blocks.pop() ?? '';
      for (const block of blocks) waiting.get(/"title":"([^"]*)"/.exec(block)?.[1] ?? '')?.();
    }
  };
  read().catch(() => undefined);
  return {
    seen: (words) => new Promise((resolve) => waiting.set(words, resolve)),
    [Symbol.dispose]: () => ending.abort(),
  };
}

async function call<T>(
  { url, token }: MeasuredServer,
  method: 'GET' | 'POST',
  path: string,
  body?: object,
): Promise<T> {
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
  const init = { method, headers, ...(body !== undefined && { body: JSON.stringify(body) }) };
  const answer = await fetch(`${url}/api/v1${path}`, init);
  if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${await answer.text()}`);
  return (await answer.json()) as T; // the shape is that of the operation
}

/** Bytes of all logs, those that were dropped to make room not counted. */
function countLogged({ path }: AttemptProject): number {
  const folder = join(path, '.git/forge/attempts');
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' });
  return names
    .filter((name) => name.includes('.jsonl'))
    .reduce((sum, name) => sum + statSync(join(folder, name)).size, 0);
}

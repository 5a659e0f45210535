import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { resolveWorkflow } from '#domain/workflow.ts';
import type { Answer, Operation, Request } from './linear-history.ts';
import { checkClaims } from './linear-models.ts';
import { monotonicNow, plainWorkflow, readTask, type TaskIds } from './linear-perform.ts';
import { SETUPS } from './linear-requests.ts';
import { JUMPS_MS } from './linear-simulate.ts';
import { seededRandom, type Random } from './random.ts';
import { tempStore, type TempStore } from './temp-store.ts';

const CLIENTS = 8;
const SERVERS = ['worker-0', 'worker-1'];
/** A client that would take longer than this has hung. */
const DEADLINE_MS = 120_000;

export interface ClientOrders {
  /** Of the store. */
  readonly folder: string;
  readonly actor: string;
  readonly seed: number;
  readonly count: number;
  /** How much it does at the same time, over one store: more than one thing is what a server does. */
  readonly lanes: number;
  /** Where it writes down what it does. */
  readonly log: string;
  /** How far its clock is off, in ms; read before every operation. */
  readonly offset: string;
  readonly ids: TaskIds;
}

export interface RealRun {
  readonly operations: readonly Operation[];
  readonly kills: number;
  readonly stops: number;
  readonly jumps: number;
}

/**
 * Eight processes on one store, while some of them are stopped, killed and started again, and while their clocks are
 * changed. The seed decides what everybody wants; what becomes of it the machine decides.
 */
export async function runClients(seed: number, options: { count: number; kills: number }): Promise<RealRun> {
  const random = seededRandom(seed);
  await using temp = await tempStore();
  const ids = await createTasks(temp);
  await using crew = new Crew(temp, { ids, seed, count: options.count });
  await crew.start();
  const done = await disturb(crew, random, options.kills);
  if (crew.failures.length > 0) throw new Error(crew.failures.join('; '));
  const operations = [...settle(crew.collect()), ...(await readAll(temp, ids))];
  return { operations, ...done };
}

/** Nothing where an order explains it; else what is wrong, and where the whole history was written to. */
export function describeRun(seed: number, { operations }: RealRun, limit?: number): string {
  const { violation } = checkClaims(operations, SETUPS, limit);
  if (violation === undefined) return '';
  const path = join(tmpdir(), `forge-linear-${seed}.json`);
  writeFileSync(path, JSON.stringify(operations, undefined, 1));
  return `Seed ${seed}, all of it in ${path}\n${violation}`;
}

async function createTasks(temp: TempStore): Promise<TaskIds> {
  const workflow = resolveWorkflow(plainWorkflow());
  const by = { actor: { kind: 'user', name: 'ann', named: true }, now: temp.clock.now(), workflow } as const;
  const task = {
    id_prefix: 'fg',
    description: '',
    type: 'task',
    parent_id: null,
    assignee: null,
    labels: [],
    github_issue: null,
    metadata: new Map(),
  } as const;
  const make = async (more: {
    title: string;
    priority: number;
    state: string;
    depends_on: readonly string[];
    workflow_fields?: ReadonlyMap<string, { agent: string }>;
  }) => (await temp.store.createTask({ ...task, ...more }, by)).id;
  // Parked, so that nobody is ever given it.
  const gate = await make({ title: 'Stays open', priority: 4, state: 'backlog', depends_on: [] });
  const ids: Record<string, string> = {};
  for (const { id, rank, coder, waits } of SETUPS) {
    ids[id] = await make({
      title: id,
      priority: rank,
      state: 'todo',
      depends_on: waits ? [gate] : [],
      ...(coder !== undefined && { workflow_fields: new Map([['role:coder', { agent: coder }]]) }),
    });
  }
  return ids;
}

interface Client {
  readonly actor: string;
  readonly offset: string;
  child: ChildProcess;
  /** Its files, oldest first, and when the process that wrote each of them was seen to be dead. */
  readonly logs: { readonly path: string; died_at: number | undefined }[];
  running: boolean;
}

class Crew implements AsyncDisposable {
  readonly clients: Client[] = [];
  /** Ends that nobody wanted. */
  readonly failures: string[] = [];
  readonly #temp: TempStore;
  readonly #work: { readonly ids: TaskIds; readonly seed: number; readonly count: number };

  constructor(temp: TempStore, work: { ids: TaskIds; seed: number; count: number }) {
    this.#temp = temp;
    this.#work = work;
  }

  /** All have loaded before the first begins. */
  async start(): Promise<void> {
    for (let at = 0; at < CLIENTS; at += 1) {
      const actor = `worker-${at}`;
      const offset = join(this.#temp.folder, `${actor}.offset`);
      const logs = [{ path: join(this.#temp.folder, `${actor}.0.log`), died_at: undefined }];
      const child = this.#spawn(actor, { offset, log: logs[0]?.path ?? '', at: 0, count: this.#work.count });
      this.clients.push({ actor, offset, child, logs, running: true });
    }
    await Promise.all(this.clients.map(({ child }) => untilReady(child)));
    for (const client of this.clients) this.#send(client);
  }

  /** Kills a client and starts it again with what it had left to do. */
  async restart(client: Client): Promise<void> {
    const killed = client.child;
    const last = client.logs.at(-1);
    if (!client.running || last === undefined) return;
    client.running = false;
    killed.kill('SIGKILL');
    if (killed.exitCode === null && killed.signalCode === null) await once(killed, 'exit');
    last.died_at = monotonicNow();
    const done = client.logs.reduce((sum, { path }) => sum + readLines(path).length / 2, 0);
    const count = Math.max(1, this.#work.count - Math.floor(done));
    const at = client.logs.length;
    const log = join(this.#temp.folder, `${client.actor}.${at}.log`);
    client.child = this.#spawn(client.actor, { offset: client.offset, log, at, count });
    client.logs.push({ path: log, died_at: undefined });
    await untilReady(client.child);
    this.#send(client);
  }

  collect(): Operation[] {
    return this.clients.flatMap(({ actor, logs }) => logs.flatMap((log) => readLog(actor, log)));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(
      this.clients.map(async ({ child }) => {
        if (child.exitCode !== null || child.signalCode !== null) return;
        const exit = once(child, 'exit');
        child.kill('SIGKILL');
        await exit;
      }),
    );
  }

  #spawn(actor: string, part: { offset: string; log: string; at: number; count: number }): ChildProcess {
    const script = fileURLToPath(new URL('./linear-client.ts', import.meta.url));
    const { folder } = this.#temp;
    const { ids, seed } = this.#work;
    const own = seed * 1_000 + part.at * 100 + Number(actor.slice('worker-'.length));
    const { offset, log, count } = part;
    const lanes = SERVERS.includes(actor) ? 3 : 1;
    const orders: ClientOrders = { folder, actor, seed: own, count, lanes, log, offset, ids };
    const env = { ...process.env, NODE_COMPILE_CACHE: join(tmpdir(), 'forge-test-compile-cache') };
    const child = spawn(process.execPath, [script, JSON.stringify(orders)], {
      stdio: ['pipe', 'pipe', 'inherit'],
      env,
    });
    child.stdin?.on('error', () => undefined); // it was killed before it was told to begin
    return child;
  }

  #send(client: Client): void {
    const { child } = client;
    client.running = true;
    child.once('exit', (code, signal) => {
      if (client.child === child) client.running = false;
      if (code !== 0 && signal !== 'SIGKILL')
        this.failures.push(`${client.actor} ended with ${code ?? signal}`);
    });
    child.stdin?.end('go\n');
  }
}

async function untilReady(child: ChildProcess): Promise<void> {
  if (child.stdout === null) throw new Error('the client has no stdout');
  await Promise.race([
    once(child.stdout, 'data'),
    once(child, 'exit').then(() => {
      throw new Error('the client ended before it began');
    }),
  ]);
}

/** Until all clients are through. */
async function disturb(
  crew: Crew,
  random: Random,
  mayKill: number,
): Promise<{ kills: number; stops: number; jumps: number }> {
  const done = { kills: 0, stops: 0, jumps: 0 };
  let pending = 0;
  const follow = (work: Promise<void>): void => {
    pending += 1;
    const end = (): void => void (pending -= 1);
    work.then(end, (error: unknown) => {
      crew.failures.push(String(error));
      end();
    });
  };
  const deadline = performance.now() + DEADLINE_MS;
  for (;;) {
    await sleep(10 + random.below(50));
    const running = crew.clients.filter((client) => client.running);
    if (running.length === 0 && pending === 0) return done;
    if (performance.now() > deadline) throw new Error('the clients take too long');
    if (running.length === 0) continue;
    const client = random.pick(running);
    switch (random.below(6)) {
      case 0:
        if (done.kills >= mayKill) break;
        done.kills += 1;
        follow(crew.restart(client));
        break;
      case 1:
      case 2:
        done.stops += 1;
        follow(stopFor(client.child, random.below(random.oneIn(4) ? 900 : 150)));
        break;
      case 3:
        done.jumps += 1;
        writeFileSync(client.offset, String(random.pick(JUMPS_MS)));
        break;
      default:
    }
  }
}

async function stopFor(child: ChildProcess, ms: number): Promise<void> {
  child.kill('SIGSTOP');
  await sleep(ms);
  child.kill('SIGCONT');
}

function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

interface LogLine {
  readonly i: number;
  readonly at: number;
  readonly request?: Request;
  readonly answer?: Answer;
}

function readLines(path: string): LogLine[] {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch {
    return []; // killed before it had anything to write
  }
  // What stands behind the last line break was cut by a kill.
  return text
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line) as LogLine);
}

function readLog(actor: string, log: { path: string; died_at: number | undefined }): Operation[] {
  const lines = readLines(log.path);
  const answers = new Map(lines.flatMap((line) => (line.answer === undefined ? [] : [[line.i, line]])));
  return lines.flatMap(({ i, at, request }): Operation[] => {
    if (request === undefined) return [];
    const told = answers.get(i);
    if (told === undefined) return [{ client: actor, request, invoked_at: at, settled_at: log.died_at }];
    return [{ client: actor, request, invoked_at: at, completed_at: told.at, answer: told.answer }];
  });
}

/**
 * What the dead left in the local replica comes into the database with the next write, so only what begins after that
 * one has surely seen it.
 */
export function settle(operations: readonly Operation[]): Operation[] {
  const writes = operations.filter(({ request: { op }, answer }) => {
    if (op === 'read' || op === 'grace') return false;
    return answer?.code === 'ok' || (answer !== undefined && (op === 'claim' || op === 'next'));
  });
  return operations.map((operation) => {
    const { settled_at } = operation;
    if (settled_at === undefined) return operation;
    const seen = writes.filter(({ invoked_at }) => invoked_at > settled_at);
    return { ...operation, settled_at: Math.min(...seen.map(({ completed_at = Infinity }) => completed_at)) };
  });
}

/** What is there in the end: what was told and then lost is missed here at the latest. */
async function readAll(temp: TempStore, ids: TaskIds): Promise<Operation[]> {
  const reads: Operation[] = [];
  for (const { id } of SETUPS) {
    const request = { op: 'read', task: id, now: temp.clock.now() } as const;
    const invoked_at = monotonicNow();
    const answer = await readTask(temp.store, ids[id] ?? '');
    reads.push({ client: 'reader', request, invoked_at, completed_at: monotonicNow(), answer });
  }
  return reads;
}

// One client of linear-run.ts, a process of its own: `node linear-client.ts <orders as JSON>`.
// It says `ready`, waits for a line, and does what its seed says. What it asks is written down before, what it was told
// after, each by one write to a file: a process that is killed leaves all it knew.
import { NO_AGENTS } from '#domain/claimer.ts';
import { openSync, readFileSync, writeSync } from 'node:fs';
import { createInterface } from 'node:readline';
import type { Actor } from '#domain/actor.ts';
import type { SteadyTime } from '#domain/leases.ts';
import { resolveWorkflow } from '#domain/workflow.ts';
import { openStore } from '#store/open-store.ts';
import type { Request } from './linear-history.ts';
import { monotonicNow, performRequest, plainWorkflow } from './linear-perform.ts';
import { chooseRequest, remember, type Memory } from './linear-requests.ts';
import type { ClientOrders } from './linear-run.ts';
import { seededRandom } from './random.ts';

/** The longest pause between two operations, so that leases have the time to end. */
const PAUSE_MS = 24;
const agents = {
  isPaused: async () => false,
  isManaged: async () => false,
  readManaged: async () => new Set<string>(),
  readAll: async () => NO_AGENTS,
};
const orders = JSON.parse(process.argv[2] ?? '') as ClientOrders;

const random = seededRandom(orders.seed);
const clock = { now: () => Date.now() + readOffset() };
const { folder, actor } = orders;
const lock = orders.lanes > 1 ? 'await' : 'block';
/** When each was asked for: leases are judged by that, so that the model can do the same. */
const times = new WeakMap<Actor, number>();
await using store = await openStore(
  { folder },
  { clock, lock, steady: (by) => toSteady(by === undefined ? 0 : (times.get(by.actor) ?? 0)) },
);
const workflow = resolveWorkflow(plainWorkflow());
const log = openSync(orders.log, 'a');
const memory: Memory = new Map();
let begun = 0;
await waitForStart();
await Promise.all(Array.from({ length: orders.lanes }, work));

async function work(): Promise<void> {
  while (begun < orders.count) await doOne(begun++);
}

async function doOne(i: number): Promise<void> {
  const now = clock.now();
  const steady = Math.floor(monotonicNow() / 1_000);
  const chosen: Request = random.oneIn(120)
    ? { op: 'grace', now }
    : withoutParking(chooseRequest(random, { actor, now, memory }));
  const request: Request = { ...chosen, steady };
  const by = { actor: { kind: 'agent', name: actor, named: true }, now, workflow } as const;
  times.set(by.actor, steady);
  write({ i, request, at: monotonicNow() });
  const answer = await performRequest({ store, workflow, by, clock, agents, begin }, request, orders.ids);
  write({ i, answer, at: monotonicNow() });
  remember(memory, request, answer);
  await new Promise((resolve) => setTimeout(resolve, random.below(PAUSE_MS)));
}

async function begin(at: number): Promise<void> {
  const steady = () => toSteady(at);
  await using _begun = await openStore({ folder }, { clock, lock, steady, begins: true });
}

function toSteady(at: number): SteadyTime {
  return { clock: 0, at };
}

async function waitForStart(): Promise<void> {
  process.stdout.write('ready\n');
  const input = createInterface({ input: process.stdin });
  for await (const _line of input) break;
  input.close();
  process.stdin.destroy();
}

function write(line: object): void {
  writeSync(log, `${JSON.stringify(line)}\n`);
}

function readOffset(): number {
  try {
    return Number(readFileSync(orders.offset, 'utf8'));
  } catch {
    return 0; // nobody has touched the clock yet
  }
}

/** These clients are agents: what is parked they cannot take out again, which the table of claims shows. */
function withoutParking(request: Request): Request {
  return request.op === 'transition' && request.to === 'backlog' ? { ...request, to: 'todo' } : request;
}

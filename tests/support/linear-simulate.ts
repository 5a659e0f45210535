import type { Answer, Operation, Request } from './linear-history.ts';
import { MemoryStore, type Bug, type Run } from './linear-memory-store.ts';
import { chooseRequest, remember, SETUPS, type Memory } from './linear-requests.ts';
import { seededRandom, type Random } from './random.ts';

const CLIENTS = 8;
/** Most clocks are right; the others are off by less than a lease, by some, by hours. */
export const JUMPS_MS = [0, 0, 0, 0, 100, -100, 700, -700, 3_600_000, -7_200_000];
const BASE = Date.UTC(2026, 1, 10, 9);

interface Client {
  readonly name: string;
  memory: Memory;
  /** How far its clock is off. */
  offset: number;
  stopped_until: number;
  /** What it is waiting for. */
  call: { at: number; run: Run; answer: Answer | undefined } | undefined;
}

/**
 * Eight clients on one store in memory, in an order that the seed decides: operations begin, take effect and are told
 * at different times, clients are stopped and killed with an operation on its way, clocks jump.
 */
export function simulateHistory(seed: number, count: number, bug?: Bug): Operation[] {
  const random = seededRandom(seed);
  const store = new MemoryStore(SETUPS, { bug, random });
  const clients = Array.from({ length: CLIENTS }, (_, at) => newClient(`worker-${at}`));
  const operations: Operation[] = [];
  let elapsed = 0;
  const begin = (client: Client): void => {
    const now = BASE + elapsed + client.offset;
    const chosen: Request = random.oneIn(120)
      ? { op: 'grace', now }
      : chooseRequest(random, { actor: client.name, now, memory: client.memory });
    const request: Request = { ...chosen, steady: elapsed };
    operations.push({ client: client.name, request, invoked_at: elapsed });
    client.call = { at: operations.length - 1, run: store.run(request), answer: undefined };
  };
  while (operations.length < count || clients.some(({ call }) => call !== undefined)) {
    // Never twice the same time, so that it is the order too.
    elapsed += 1 + random.below(12);
    const client = random.pick(clients);
    disturb(random, client, elapsed);
    if (client.stopped_until > elapsed) continue;
    const { call } = client;
    if (call === undefined) {
      if (operations.length < count) begin(client);
      continue;
    }
    if (random.oneIn(60)) {
      // Its operation has happened or has not; nobody will ever be told.
      const operation = operations[call.at] as Operation; // it was begun
      operations[call.at] = { ...operation, settled_at: elapsed };
      store.recover(client.name, operation.request);
      Object.assign(client, newClient(client.name));
      continue;
    }
    if (call.answer === undefined) {
      const step = call.run.next();
      if (step.done === true) call.answer = step.value;
      continue;
    }
    const operation = operations[call.at] as Operation; // it was begun
    operations[call.at] = { ...operation, completed_at: elapsed, answer: call.answer };
    remember(client.memory, operation.request, call.answer);
    client.call = undefined;
  }
  return [...operations, ...readAll(store, elapsed)];
}

function newClient(name: string): Client {
  return { name, memory: new Map(), offset: 0, stopped_until: 0, call: undefined };
}

function disturb(random: Random, client: Client, elapsed: number): void {
  if (random.oneIn(150)) client.stopped_until = elapsed + random.below(800);
  if (random.oneIn(100)) client.offset = random.pick(JUMPS_MS);
}

/** What is there in the end: what was told and then lost is missed here at the latest. */
function readAll(store: MemoryStore, elapsed: number): Operation[] {
  return SETUPS.map(({ id }, at) => {
    const request = { op: 'read', task: id, now: BASE } as const;
    const { value } = store.run(request).next();
    const invoked_at = elapsed + 1 + 2 * at;
    return { client: 'reader', request, invoked_at, completed_at: invoked_at + 1, answer: value };
  });
}

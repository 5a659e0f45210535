import { setTimeout as sleep } from 'node:timers/promises';
import { forgeProject, type ForgeProject } from './forge-cli.ts';
import { startForgeServer, type ForgeServer, type ServerAnswer } from './forge-server.ts';
import type { Answer, Facts, Operation, Request, TaskSetup } from './linear-history.ts';
import { monotonicNow } from './linear-perform.ts';
import { chooseRequest, remember, SETUPS, type Memory } from './linear-requests.ts';
import { settle } from './linear-run.ts';
import { seededRandom, type Random } from './random.ts';

const CLIENTS = 8;
/** Without roles and dependencies: these clients are people, whom some of the rules leave alone. */
export const HTTP_SETUPS: readonly TaskSetup[] = SETUPS.slice(0, 2);

export interface HttpRun {
  readonly operations: readonly Operation[];
  readonly kills: number;
  readonly stops: number;
}

/**
 * Eight clients of one `forge serve`, which is stopped, and killed and started again. No leases: when they end the
 * server's clock decides, which the clients cannot read.
 */
export async function runOverHttp(seed: number, options: { count: number; kills: number }): Promise<HttpRun> {
  const random = seededRandom(seed);
  await using project = await forgeProject();
  const ids = new Map<string, string>();
  for (const { id, rank } of HTTP_SETUPS)
    ids.set(id, (await project.create(id, '--priority', String(rank))).id);
  const tokens = await createTokens(project);
  let server = await startForgeServer(project);
  const done = { kills: 0, stops: 0 };
  try {
    const clients = tokens.map((token, at) =>
      work(
        { actor: `worker-${at}`, token, ids, count: options.count, server: () => server },
        seed * 100 + at,
      ),
    );
    const all = Promise.all(clients);
    let isOver = false;
    const over = all.finally(() => (isOver = true));
    // Whoever waits for `all` is told; this one must not be told a second time.
    over.catch(() => undefined);
    while (!isOver) {
      await sleep(100 + random.below(200));
      if (done.kills === 0 || (random.oneIn(3) && done.kills < options.kills)) {
        done.kills += 1;
        server.kill('SIGKILL');
        await server.ended;
        server = await startForgeServer(project);
      } else {
        done.stops += 1;
        server.kill('SIGSTOP');
        await sleep(random.below(200));
        server.kill('SIGCONT');
      }
    }
    const operations = settle((await all).flat());
    const reads = await readAll(server, ids);
    return { operations: [...operations, ...reads], ...done };
  } finally {
    server.kill('SIGCONT');
    await server[Symbol.asyncDispose]();
  }
}

async function createTokens(project: ForgeProject): Promise<string[]> {
  const tokens: string[] = [];
  for (let at = 0; at < CLIENTS; at += 1) {
    const made = await project.run(
      'token',
      'create',
      '--scope',
      'admin',
      '--actor',
      `user:worker-${at}`,
      '--json',
    );
    tokens.push((JSON.parse(made.stdout) as { token: string }).token);
  }
  return tokens;
}

interface HttpClient {
  readonly actor: string;
  readonly token: string;
  readonly ids: ReadonlyMap<string, string>;
  readonly count: number;
  /** The one that runs now. */
  server(): ForgeServer;
}

async function work(client: HttpClient, seed: number): Promise<Operation[]> {
  const random = seededRandom(seed);
  const memory: Memory = new Map();
  const operations: Operation[] = [];
  while (operations.length < client.count) {
    const request = chooseWithoutLease(random, { actor: client.actor, memory });
    const server = client.server();
    const begun = { client: client.actor, request, invoked_at: monotonicNow() };
    const answer = await ask(server, request, client).catch(() => undefined);
    if (answer !== undefined) {
      operations.push({ ...begun, completed_at: monotonicNow(), answer });
      remember(memory, request, answer);
      await sleep(random.below(10));
      continue;
    }
    // Only the end of a server cuts a request short.
    await server.ended;
    operations.push({ ...begun, settled_at: monotonicNow() });
    while (client.server() === server) await sleep(20);
  }
  return operations;
}

function chooseWithoutLease(random: Random, { actor, memory }: { actor: string; memory: Memory }): Request {
  for (;;) {
    const request = chooseRequest(random, { actor, now: 0, memory });
    if (!('task' in request) || !HTTP_SETUPS.some(({ id }) => id === request.task)) continue;
    if (request.op === 'renew') continue;
    // This version has no handler for what these states need.
    if (request.op === 'transition' && ['review', 'merging'].includes(request.to)) continue;
    if (request.op === 'close' || request.op === 'transition') return { ...request, by_person: true };
    if (request.op !== 'claim') return request;
    const { lease_ms: _none, ...claim } = request;
    return claim;
  }
}

async function ask(
  server: ForgeServer,
  request: Request,
  { ids, token }: Pick<HttpClient, 'ids' | 'token'>,
): Promise<Answer> {
  const { op, now: _now, ...rest } = request;
  const {
    task = '',
    actor: _actor,
    by_person: _person,
    to,
    ...body
  } = rest as Record<string, string | number | boolean>;
  const path = `/api/v1/tasks/${ids.get(String(task)) ?? ''}`;
  if (op === 'read') return toAnswer(op, await server.ask(path, { token }));
  const more = op === 'transition' ? { state: to } : op === 'close' ? { reason: 'finished' } : {};
  return toAnswer(op, await server.ask(`${path}/${op}`, { token, body: { ...body, ...more } }));
}

function toAnswer(op: Request['op'], { status, body }: ServerAnswer): Answer {
  const told = body as Record<string, unknown> & { code: string; details?: Record<string, unknown> };
  if (status === 200) return { code: 'ok', facts: toFacts(told) };
  const facts = toFacts(told.details ?? {});
  if (op !== 'claim') return { code: told.code, facts };
  const refused = { claim_conflict: 'taken', state_invalid: facts.status === 'closed' ? 'closed' : 'parked' };
  return { code: told.code in refused ? refused[told.code as keyof typeof refused] : told.code, facts };
}

function toFacts(from: Readonly<Record<string, unknown>>): Facts {
  const { status, state, assignee, version, fence } = from;
  const known = Object.entries({ status, state, owner: assignee, version, fence });
  return Object.fromEntries(known.filter(([, value]) => value !== undefined)) as Facts; // by their names
}

async function readAll(server: ForgeServer, ids: ReadonlyMap<string, string>): Promise<Operation[]> {
  const reads: Operation[] = [];
  for (const { id } of HTTP_SETUPS) {
    const request = { op: 'read', task: id, now: 0 } as const;
    const invoked_at = monotonicNow();
    const answer = await ask(server, request, { ids, token: server.token });
    reads.push({ client: 'reader', request, invoked_at, completed_at: monotonicNow(), answer });
  }
  return reads;
}

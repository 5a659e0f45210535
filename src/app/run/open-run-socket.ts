import { randomBytes, timingSafeEqual } from 'node:crypto';
import { mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import type { Run } from '#contract/attempt.ts';
import { OPERATIONS } from '#contract/operations.ts';
import type { RunSocket } from '#engine/work.ts';
import { ForgeError } from '#kernel/errors.ts';
import { OneATurn } from '#kernel/one-a-turn.ts';
import { RUN_SOCKET, RUN_SOCKET_KEY } from '#process/find-own-run.ts';
import { readOpenFileLimit } from '#process/open-file-limit.ts';
import { isLeftBehind, toTemporaryPath } from '#process/temporary-path.ts';
import type { Caller } from '#access/caller.ts';
import { AnswerBudget } from '#surfaces/http/answer-budget.ts';
import { beginExchange, send, toErrorAnswer, type Exchange } from '#surfaces/http/answer.ts';
import { callRoute } from '#surfaces/http/call-route.ts';
import { openCallSignal } from '#surfaces/http/call-signal.ts';
import {
  applyServerLimits,
  fitToOpenFiles,
  HTTP_LIMITS,
  type HttpLimits,
  toServerOptions,
} from '#surfaces/http/limits.ts';
import { parseBody, readBody } from '#surfaces/http/read-body.ts';
import { reserveAnswer } from '#surfaces/http/reserve-answer.ts';
import { createRunCaller, type RunCaller, type RunCallerDeps } from './run-caller.ts';

/** The path of a socket of the system's may not be longer. */
const LONGEST_PATH = 100;
const PATH = /^\/api\/v1\/operations\/([a-z._]+)(?:\?|$)/;

/**
 * A socket for the programs of one run, held open as long as it lasts. Which socket was called says which run asks, so
 * nothing that a program says about itself counts. The key keeps other programs of the same user out that only list the
 * folder.
 */
export async function openRunSocket(deps: RunCallerDeps, run: Run): Promise<RunSocket> {
  const folder = makeFolder(deps.place.home);
  const path = toSocket(folder);
  const key = randomBytes(24).toString('base64url');
  const call = createRunCaller(deps, run);
  const deeds: Deeds = {
    call,
    key,
    caller: { actor: { kind: 'agent', name: run.agent, named: true }, scope: 'task', token: run.id },
    turns: new OneATurn(setImmediate),
    answers: new AnswerBudget(RUN_LIMITS),
  };
  const server = createServer(toServerOptions(), (request, response) => {
    const exchange = beginExchange(request, response);
    answer(exchange, deeds).catch((error: unknown) => {
      send(exchange, toErrorAnswer(error, exchange.request_id));
      deeds.answers.hold(response);
    });
  });
  applyServerLimits(server, toRunLimits(fitToOpenFiles(readOpenFileLimit())));
  await listen(server, path);
  return {
    env: { [RUN_SOCKET]: path, [RUN_SOCKET_KEY]: key },
    path,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise<void>((resolve) => server.close(() => resolve()));
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

const RUN_LIMITS = {
  ...HTTP_LIMITS,
  unread_bytes_a_token: HTTP_LIMITS.unread_bytes_a_run,
  unread_bytes: HTTP_LIMITS.unread_bytes_a_run,
};

/** One run has a small part of the connections of its server, which has sockets of other runs too. */
function toRunLimits(limits: HttpLimits): HttpLimits {
  return { ...limits, sockets: Math.ceil(limits.sockets / RUN_SHARE), spare_sockets: RUN_SPARE_SOCKETS };
}

const RUN_SHARE = 16;
const RUN_SPARE_SOCKETS = 4;

interface Deeds {
  readonly call: RunCaller;
  readonly key: string;
  readonly caller: Caller;
  readonly turns: OneATurn;
  readonly answers: AnswerBudget;
}

async function answer(exchange: Exchange, { call, key, caller, turns, answers }: Deeds): Promise<void> {
  const { request, response } = exchange;
  if (!isKey(request.headers.authorization, key))
    throw new ForgeError('unauthorized', 'This is the socket of a run, and not of yours');
  const name = PATH.exec(request.url ?? '')?.[1];
  if (request.method !== 'POST' || name === undefined)
    throw new ForgeError('not_found', 'A run asks for operations by their names');
  answers.open(response, caller.token);
  const input = parseBody(await readBody(request, turns));
  const declaration = OPERATIONS.find((one) => one.name === name);
  if (declaration === undefined) throw new ForgeError('not_found', `No operation ${name.slice(0, 100)}`);
  const signal = openCallSignal(exchange, () => true);
  using _reserved = await reserveAnswer(answers, declaration, { caller, signal });
  const { shape } = declaration.input;
  const said = await callRoute(
    { caller: { call: (asked) => call(name, asked.input, { signal, portion: asked.portion }) } },
    { declaration, paged: false, cursors: 'cursor' in shape && 'limit' in shape, ok: 200 },
    { input, project: undefined, caller, signal },
  );
  send(exchange, said);
  answers.hold(response);
}

function isKey(header: string | undefined, key: string): boolean {
  const [given, wanted] = [Buffer.from(header ?? ''), Buffer.from(`Bearer ${key}`)];
  return given.length === wanted.length && timingSafeEqual(given, wanted);
}

/**
 * A folder of its own, for the owner alone, with a file that names this process. The system allows few characters for
 * the path of a socket, so the names are short, and another place is taken where the home's own is too long.
 */
function makeFolder(home: string): string {
  const roots = [join(home, 'run'), tmpdir(), '/tmp'];
  const root =
    roots.find((one) => toSocket(join(one, makeName())).length <= LONGEST_PATH) ?? roots[0] ?? home;
  sweep(root);
  const folder = join(root, makeName());
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  writeFileSync(toTemporaryPath(join(folder, OWNER)), '');
  return folder;
}

const PREFIX = 'forge-socket-';
const OWNER = 'of';

function toSocket(folder: string): string {
  return join(folder, 'sock');
}

function makeName(): string {
  return `${PREFIX}${randomBytes(5).toString('hex')}`;
}

/** Folders of processes that are gone. */
function sweep(root: string): void {
  const names = listNames(root).filter((name) => name.startsWith(PREFIX));
  for (const folder of names.map((name) => join(root, name)))
    if (listNames(folder).some((name) => name.startsWith(OWNER) && isLeftBehind(name)))
      rmSync(folder, { recursive: true, force: true });
}

/** None where it is of another user, or is not there. */
function listNames(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

function listen(server: Server, path: string): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen({ path }, () => {
      server.off('error', reject);
      resolve();
    });
  });
}

import { createServer, request as httpRequest, type IncomingHttpHeaders, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { createOperationCaller, toProjectRef } from '#app/operation-caller.ts';
import { openServerProjects, type ServerProjects } from '#app/server-projects.ts';
import { OPERATIONS } from '#contract/operations.ts';
import type { OperationCaller } from '#operations/call-operation.ts';
import { AnswerBudget } from '#surfaces/http/answer-budget.ts';
import { createHttpHandler } from '#surfaces/http/create-http-handler.ts';
import type { HttpDeps, IdempotencyPort } from '#surfaces/http/http-ports.ts';
import { applyServerLimits, HTTP_LIMITS, toServerOptions } from '#surfaces/http/limits.ts';
import { reserveAnswer } from '#surfaces/http/reserve-answer.ts';
import { createMcpHandler } from '#surfaces/mcp/http-handler.ts';
import { openTokenAccess } from '#sync/access-port.ts';
import { createToken, revokeToken, type TokenScope } from '#sync/access-tokens.ts';
import { toHomePlace } from '#sync/forge-home.ts';
import type { Machine } from '#sync/machine.ts';
import { initWithStore, testMachine } from './sync-project.ts';
import { tempFolder, tempRepo } from './temp-repo.ts';
import { TestClock } from './temp-store.ts';
import { rawSocket } from './raw-socket.ts';

export interface HttpAnswer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  /** The body as JSON; undefined where there is none. */
  readonly json: unknown;
}

export interface HttpAsk {
  readonly method?: string;
  readonly path: string;
  readonly token?: string | undefined;
  /** Sent as JSON, with its type; a text goes as it is. */
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string | readonly string[]>>;
}

export interface TestHttp extends AsyncDisposable {
  readonly port: number;
  readonly host: string;
  readonly home: string;
  readonly clock: TestClock;
  readonly server: Server;
  /** Failures on the server's side. */
  readonly failures: { request_id: string; error: unknown }[];
  ask(ask: HttpAsk): Promise<HttpAnswer>;
  /** Bytes as they are; what came back until the server closed, or `until` was seen. */
  raw(bytes: string | Buffer, until?: RegExp): Promise<string>;
  token(scope: TokenScope, agent?: string): Promise<{ id: string; token: string }>;
  revoke(id: string): Promise<void>;
}

export interface HttpSetting {
  readonly caller?: OperationCaller;
  readonly limits?: Partial<Record<keyof typeof HTTP_LIMITS, number>>;
  readonly deps?: Partial<HttpDeps>;
  /** When sessions of MCP grow old. */
  readonly mcpClock?: { now(): number };
}

const NO_KEYS: IdempotencyPort = {
  begin: async () => ({ outcome: 'new' }),
  finish: async () => undefined,
  drop: async () => undefined,
};

/** The HTTP surface on a real server, over a caller that the test gives. */
export async function startHttp(
  setting: HttpSetting = {},
  folder?: { readonly path: string },
): Promise<TestHttp> {
  const own = folder === undefined ? await tempFolder() : undefined;
  const home = join((folder ?? own)?.path ?? '', 'home');
  const clock = new TestClock();
  const failures: TestHttp['failures'] = [];
  const limits = { ...HTTP_LIMITS, ...setting.limits };
  const server = createServer(toServerOptions(limits));
  const sockets = applyServerLimits(server, limits);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const deps: HttpDeps = {
    caller: setting.caller ?? { call: async ({ name, input }) => ({ name, input }) },
    access: openTokenAccess(home, clock),
    origin: { scheme: 'http', host: '127.0.0.1', port },
    clock,
    version: '0.0.0-test',
    declarations: OPERATIONS,
    projects: () => [],
    idempotency: NO_KEYS,
    tellLate: async () => undefined,
    report: (failure) => void failures.push(failure),
    answers: new AnswerBudget(limits),
    sockets,
    open_bodies: limits.open_bodies_a_token,
    body_limits: limits,
    ...setting.deps,
  };
  server.on('request', createHttpHandler(deps));
  return {
    port,
    host: `127.0.0.1:${port}`,
    home,
    clock,
    server,
    failures,
    ask: (ask) => sendRequest(port, ask),
    raw: (bytes, until) => sendRaw(port, bytes, until),
    token: async (scope, agent) => createToken(home, { scope, agent, user: 'ann', now: clock.now() }),
    revoke: async (id) => void (await revokeToken(home, id, clock.now())),
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      await own?.[Symbol.asyncDispose]();
    },
  };
}

export interface ProjectHttp extends TestHttp {
  readonly projects: ServerProjects;
  /** The repository's folder. */
  readonly root: string;
  /** What its commands run with, the Forge home above all. */
  readonly env: Machine['env'];
  /** The token of a person with every right. */
  readonly admin: string;
}

/** The same over a real project with its git repository and database. */
export async function startProjectHttp(setting: HttpSetting = {}): Promise<ProjectHttp> {
  const repo = await tempRepo();
  const around = await tempFolder({ folder: 'around' });
  const machine = testMachine(around.path);
  await initWithStore(repo.path, machine, { name: 'demo' });
  const place = toHomePlace(machine.env, around.path);
  const clock = { now: () => Date.now() };
  const notice = (): void => undefined;
  const projects = await openServerProjects(
    { paths: [repo.path], cwd: repo.path },
    { place, clock, env: machine.env, program: machine.program, notice },
  );
  const operations = createOperationCaller({
    projects,
    clock,
    place,
    machine,
    env: machine.env,
    cwd: repo.path,
    notice,
  });
  const access = openTokenAccess(join(around.path, 'home'), clock);
  const answers = setting.deps?.answers ?? new AnswerBudget({ ...HTTP_LIMITS, ...setting.limits });
  const mcp = createMcpHandler({
    operations,
    declarations: OPERATIONS,
    version: '0.0.0-test',
    projects: () => [],
    clock: setting.mcpClock ?? clock,
    isAlive: (caller) => access.isAlive(caller),
    reserve: (declaration, call) => reserveAnswer(answers, declaration, call),
  });

  const http = await startHttp(
    {
      ...setting,
      caller: operations,
      deps: {
        answers,
        mcp: (request, response, caller) => mcp.handle(request, response, caller),
        projects: () => projects.list(),
        idempotency: toIdempotencyPort(projects),
        ...setting.deps,
      },
    },
    around,
  );
  const { token: admin } = await http.token('admin');
  return {
    ...http,
    projects,
    admin,
    root: repo.path,
    env: machine.env,
    async [Symbol.asyncDispose]() {
      await http[Symbol.asyncDispose]();
      await mcp[Symbol.asyncDispose]();
      await projects[Symbol.asyncDispose]();
      await around[Symbol.asyncDispose]();
      await repo[Symbol.asyncDispose]();
    },
  };
}

function toIdempotencyPort(projects: ServerProjects): IdempotencyPort {
  const find = async (place: Parameters<IdempotencyPort['begin']>[0]) =>
    projects.find(toProjectRef(place, place.input));
  return {
    begin: async (place, key) => (await find(place)).use(({ store }) => store.beginRequest(key)),
    finish: async (place, key, answer) =>
      (await find(place)).use(({ store }) => store.finishRequest(key, answer)),
    drop: async (place, key) => (await find(place)).use(({ store }) => store.dropRequest(key)),
  };
}

function sendRequest(
  port: number,
  { method = 'GET', path, token, body, headers = {} }: HttpAsk,
): Promise<HttpAnswer> {
  const text = body === undefined || typeof body === 'string' ? body : JSON.stringify(body);
  const changes = method !== 'GET' && method !== 'HEAD';
  return new Promise((resolve, reject) => {
    const request = httpRequest(
      {
        host: '127.0.0.1',
        port,
        method,
        path,
        agent: false,
        headers: {
          ...(token !== undefined && { authorization: `Bearer ${token}` }),
          ...(changes && { 'content-type': 'application/json' }),
          ...(text !== undefined && { 'content-length': String(Buffer.byteLength(text)) }),
          ...(headers as Record<string, string>), // lists are taken as well
        },
      },
      (response) => {
        const parts: Buffer[] = [];
        response.on('data', (part: Buffer) => parts.push(part));
        response.on('error', reject);
        response.on('end', () => {
          const all = Buffer.concat(parts).toString('utf8');
          resolve({
            status: response.statusCode ?? 0,
            headers: response.headers,
            text: all,
            get json() {
              return all === '' ? undefined : (JSON.parse(all) as unknown);
            },
          });
        });
      },
    );
    request.on('error', reject);
    request.end(text);
  });
}

function sendRaw(port: number, bytes: string | Buffer, until?: RegExp): Promise<string> {
  return new Promise((resolve) => {
    const socket = rawSocket(port);
    let seen = '';
    const done = (): void => {
      socket.destroy();
      resolve(seen);
    };
    socket.on('data', (part: Buffer) => {
      seen += part.toString('latin1');
      if (until?.test(seen) === true) done();
    });
    socket.on('error', done);
    socket.on('close', done);
    socket.write(bytes);
  });
}

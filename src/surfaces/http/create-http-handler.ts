import type { IncomingMessage, ServerResponse } from 'node:http';
import { setImmediate } from 'node:timers/promises';
import { ERROR_CODES, ForgeError } from '#kernel/errors.ts';
import { OneATurn } from '#kernel/one-a-turn.ts';
import type { Caller } from '#access/caller.ts';
import { decideEntry } from '#access/decide-call.ts';
import { explainAccess } from '#access/explain-access.ts';
import { type Answer, beginExchange, type Exchange, send, sendMarked, toErrorAnswer } from './answer.ts';
import { AnswerBudget } from './answer-budget.ts';
import { BodyBudget } from './body-budget.ts';
import { type BrowserSessions, createBrowserSessions } from './browser-sessions.ts';
import { callOrRecall } from './call-route.ts';
import { openCallSignal, toEndError } from './call-signal.ts';
import { listDocumentRoutes } from './document-routes.ts';
import {
  type Admission,
  admit,
  checkJsonType,
  guardRequest,
  listOwnHosts,
  type Method,
  METHODS,
  type Target,
} from './guard-request.ts';
import type { HttpDeps } from './http-ports.ts';
import { answerOnce, digestRequest, readIdempotencyKey } from './idempotent-request.ts';
import { OpenBodies } from './open-bodies.ts';
import { API, listNamedRoutes, listOperationRoutes, type OperationRoute } from './operation-routes.ts';
import type { OwnRoute } from './own-route.ts';
import { HTTP_LIMITS, HTTP_TURNS } from './limits.ts';
import { ListCache } from './list-cache.ts';
import { answerLong } from './long-request.ts';
import { listProjectRoutes } from './project-routes.ts';
import { NO_BODY, parseBody, readBody } from './read-body.ts';
import { assembleInput } from './request-input.ts';
import { reserveAnswer } from './reserve-answer.ts';
import { createRouteTable, type Routed, type RouteTable } from './route-table.ts';
import { listSessionRoutes } from './session-routes.ts';
import { SocketTurns } from './socket-turns.ts';
import { createStatusRoute, STATUS_PATH } from './status-route.ts';
import { TokenTurns } from './token-turns.ts';

export type HttpHandler = (request: IncomingMessage, response: ServerResponse) => void;

/**
 * REST over the operations, for Node's own server: guards look at the raw request, streams write on the raw response,
 * and in between there is little that a framework would do. Never throws; every request is answered or cut off.
 */
export function createHttpHandler(deps: HttpDeps): HttpHandler {
  const { scheme, port } = deps.origin;
  const sessions = deps.sessions ?? createBrowserSessions({ clock: deps.clock, port, scheme });
  const surface: Surface = {
    deps,
    sessions,
    hosts: listOwnHosts(deps.origin),
    routes: createRouteTable(listRoutes(deps, sessions)),
    named: listNamedRoutes(deps.declarations),
    lists: new ListCache(),
    turns: new OneATurn(setImmediate),
    answers: deps.answers ?? new AnswerBudget(),
    owners: new TokenTurns(HTTP_TURNS),
    bodies: new OpenBodies(deps.open_bodies ?? HTTP_LIMITS.open_bodies_a_token),
    body_bytes: new BodyBudget(deps.body_limits ?? HTTP_LIMITS),
  };
  const sockets = new SocketTurns(HTTP_LIMITS.waiting_requests_a_socket);
  return (request, response) =>
    sockets.take(request, response, () => answerOrFail(surface, beginExchange(request, response)));
}

function answerOrFail(surface: Surface, exchange: Exchange): void {
  const { response } = exchange;
  answer(surface, exchange).catch((error: unknown) => {
    const failed = toReportedAnswer(surface.deps, exchange, error);
    // Half an answer cannot be taken back.
    if (response.headersSent) response.destroy();
    else send(exchange, failed);
    surface.answers.hold(response);
  });
}

/** Every method and path that is answered, for tests that walk them all. */
export function listRoutes(deps: HttpDeps, sessions: BrowserSessions): Route[] {
  const operations = listOperationRoutes(deps.declarations);
  const declared = new Set(operations.map(({ method, path }) => `${method} ${path}`));
  const own = [
    createStatusRoute(deps.prove),
    ...listProjectRoutes(deps),
    ...listSessionRoutes(sessions, deps.origin.scheme),
    ...listRawRoutes(deps),
  ].filter(({ method, path }) => !declared.has(`${method} ${path}`));
  return [
    ...operations.map((route) => ({ ...toPlace(route), operation: route })),
    ...[...own, ...listDocumentRoutes({ ...deps, operations, own })].map((route) => ({
      ...toPlace(route),
      own: route,
    })),
    { ...toPlace(ANY_OPERATION), any_operation: true },
  ];
}

/** One of the three kinds. */
export interface Route extends Routed {
  readonly operation?: OperationRoute;
  readonly own?: OwnRoute;
  readonly any_operation?: true;
}

interface Surface {
  readonly deps: HttpDeps;
  readonly sessions: BrowserSessions;
  readonly hosts: ReadonlySet<string>;
  readonly routes: RouteTable<Route>;
  readonly named: ReadonlyMap<string, OperationRoute>;
  readonly lists: ListCache;
  /** Of large bodies. */
  readonly turns: OneATurn;
  readonly answers: AnswerBudget;
  readonly owners: TokenTurns;
  readonly bodies: OpenBodies;
  readonly body_bytes: BodyBudget;
}

const ANY_OPERATION: Routed = { method: 'POST', path: `${API}/operations/{name}` };

function listRawRoutes({ events, mcp }: HttpDeps): OwnRoute[] {
  const stream: OwnRoute[] =
    events === undefined
      ? []
      : [
          {
            method: 'GET',
            path: `${API}/events`,
            summary: 'Follow what happens, as server-sent events',
            raw: events,
          },
        ];
  if (mcp === undefined) return stream;
  const shared = { path: '/mcp', summary: 'The Model Context Protocol', raw: mcp, hidden: true } as const;
  return [
    ...stream,
    { method: 'GET', ...shared },
    { method: 'POST', ...shared },
    // It has no body, and clients of the protocol name no type for it.
    { method: 'DELETE', ...shared, any_type: true },
  ];
}

function toPlace({ method, path }: Routed): Routed {
  return { method, path };
}

async function answer(surface: Surface, exchange: Exchange): Promise<void> {
  const { deps, hosts, routes, answers } = surface;
  const { request, response } = exchange;
  const target = guardRequest(request, { hosts, scheme: deps.origin.scheme });
  const { method, path } = target;
  const found = routes.match(path);
  const route = found === undefined ? undefined : findRoute(found.routes, method);
  if (method !== 'GET' && method !== 'HEAD' && route?.own?.any_type !== true) checkJsonType(request);
  const open = route?.own?.open === true;
  const admission = open
    ? undefined
    : admit(request, method, { access: deps.access, sessions: surface.sessions });
  if (admission !== undefined) {
    // By which a client of another version knows why it is not understood; nothing that strangers need to know.
    response.setHeader('Forge-Version', deps.version);
    deps.sockets?.claim(request.socket, admission.caller.token);
    answers.open(response, admission.caller.token);
  }
  const who = admission?.caller.token ?? `address ${request.socket.remoteAddress ?? ''}`;
  // Where no token is needed nothing of a body is read, and it must not take the place of others.
  if (admission !== undefined)
    surface.body_bytes.hold(request, response, { who, refuse: (error) => refuseRest(exchange, error) });
  // To let it wait would cost as much as its answer.
  const begun = route?.own?.path === STATUS_PATH ? undefined : surface.owners.begin(who);
  using _turn = begun instanceof Promise ? await begun : begun;
  // Nobody would end what is begun for a client that went while it waited for its turn.
  if (response.destroyed) return;
  surface.bodies.begin(request, response, who);
  if (found === undefined) {
    throw new ForgeError('not_found', `Nothing is at ${path.slice(0, 200)}`, {
      hint: `GET ${API}/openapi.json`,
      details: { path: path.slice(0, 200) },
    });
  }
  if (route === undefined) {
    throw new ForgeError('method_not_allowed', `${method} is not used at ${path.slice(0, 200)}`, {
      details: { allow: METHODS.filter((one) => findRoute(found.routes, one) !== undefined).join(', ') },
    });
  }
  if (route.own?.raw !== undefined && admission !== undefined) {
    await route.own.raw(request, response, admission.caller);
    answers.hold(response);
    return;
  }
  const asked: Asked = { exchange, target, values: found.values, admission };
  if (route.own !== undefined) await answerOwn(surface, route.own, asked);
  else await answerOperation(surface, route, asked);
}

/** In the middle of a body: what of it is still to come is not read. */
function refuseRest(exchange: Exchange, error: ForgeError): void {
  const { response } = exchange;
  if (response.headersSent) {
    response.destroy();
    return;
  }
  response.once('finish', () => exchange.request.destroy());
  send(exchange, toErrorAnswer(error, exchange.request_id));
}

/** A look at a GET is a HEAD, but for streams: they have no length and no end. */
function findRoute(routes: ReadonlyMap<Method, Route>, method: Method): Route | undefined {
  if (method !== 'HEAD') return routes.get(method);
  const route = routes.get('GET');
  return route?.own?.raw === undefined ? route : undefined;
}

interface Asked {
  readonly exchange: Exchange;
  readonly target: Target;
  readonly values: readonly string[];
  readonly admission: Admission | undefined;
}

async function answerOwn(
  { turns, answers }: Surface,
  route: OwnRoute,
  { exchange, target, values, admission }: Asked,
): Promise<void> {
  const isRead = target.method === 'GET' || target.method === 'HEAD';
  const body = isRead ? {} : parseBody(await readBody(exchange.request, turns));
  const given = await route.answer?.({
    exchange,
    target,
    values,
    body,
    caller: admission?.caller,
    session: admission?.session,
  });
  if (given !== undefined) finish(exchange, target, { given, answers });
}

async function answerOperation(
  { deps, named, lists, turns, answers }: Surface,
  { operation }: Route,
  { exchange, target, values, admission }: Asked,
): Promise<void> {
  if (admission === undefined) throw new ForgeError('unauthorized', 'A token is needed');
  const route = operation ?? getNamed(named, values[0] ?? '');
  const isRead = target.method === 'GET' || target.method === 'HEAD';
  checkEntry(route, admission.caller);
  const read = isRead ? NO_BODY : await readBody(exchange.request, turns);
  const places = operation === undefined ? [] : values;
  const { input, project } = assembleInput(route, {
    values: places,
    query: target.query,
    body: parseBody(read),
  });
  const { caller } = admission;
  const place = { name: route.declaration.name, input, project, within: caller.projects };
  const isLong = route.declaration.http?.long === true;
  // What goes on without its caller is not ended by their leaving.
  const signal = isLong ? undefined : openCallSignal(exchange, () => deps.access.isAlive(caller));
  const run = (): Promise<Answer> =>
    callOrRecall({ ...deps, lists }, route, { input, project, caller, signal }).catch((error: unknown) => {
      throw toEndError(signal) ?? error;
    });
  const work = (): Promise<Answer> =>
    isLong ? answerLong(exchange, place, { work: run(), tell: deps.tellLate }) : run();
  // A read by POST changes nothing, so that there is nothing to do once.
  const changes = !isRead && route.declaration.access !== 'read';
  const key = changes ? readIdempotencyKey(exchange.request) : undefined;
  if (key === undefined) {
    // Until it is counted as what the client has to read.
    using _reserved = isLong
      ? undefined
      : await reserveAnswer(answers, route.declaration, { caller, signal });
    finish(exchange, target, { given: await work(), answers });
    return;
  }
  const once = await answerOnce(
    {
      port: deps.idempotency,
      clock: deps.clock,
      place,
      ...(route.secret && { toKept: (given) => withoutSecret(given, exchange.request_id) }),
    },
    { token: caller.token, key, digest: digestRequest(target, read.bytes) },
    () => work().catch((error: unknown) => toReportedAnswer(deps, exchange, error)),
  );
  finish(exchange, target, { given: once, answers });
}

/** Before the body is read: a caller who may not do it has nothing to say. */
function checkEntry({ declaration }: OperationRoute, caller: Caller): void {
  const operation = { ...declaration, path: declaration.cli.path };
  const refusal = decideEntry({ way: 'token', caller }, operation);
  if (refusal !== undefined) throw explainAccess(operation, refusal);
}

/** What is not the client's doing is for the log; what is not there yet is nobody's fault. */
function toReportedAnswer({ report }: HttpDeps, { request_id }: Exchange, error: unknown): Answer {
  const failed = toErrorAnswer(error, request_id);
  if (failed.status >= 500 && failed.status !== ERROR_CODES.not_available.http)
    report?.({ request_id, error });
  return failed;
}

/** A token is shown once. Whoever sends the request again learns that it was made, and nothing more. */
function withoutSecret(answer: Answer, request_id: string): Answer {
  if (answer.status >= 400) return answer;
  const told = new ForgeError(
    'idempotency_conflict',
    'This was done; its answer was a secret that is kept nowhere',
    {
      hint: 'forge token list; forge token rotate <id>',
    },
  );
  return toErrorAnswer(told, request_id);
}

function getNamed(named: ReadonlyMap<string, OperationRoute>, name: string): OperationRoute {
  const route = named.get(name);
  if (route !== undefined) return route;
  throw new ForgeError('not_found', `No operation ${JSON.stringify(name.slice(0, 80))}`, {
    hint: `GET ${API}/openapi.json`,
    details: { operation: name.slice(0, 80) },
  });
}

function finish(
  exchange: Exchange,
  { method }: Target,
  { given, answers }: { readonly given: Answer; readonly answers: AnswerBudget },
): void {
  if ((method === 'GET' || method === 'HEAD') && given.status === 200) sendMarked(exchange, given);
  else send(exchange, given);
  answers.hold(exchange.response);
}

import type { IncomingMessage, ServerResponse } from 'node:http';
import { setImmediate } from 'node:timers/promises';
import {
  createMcpHandler as createModernHandler,
  isLegacyRequest,
  type McpServer,
  WebStandardStreamableHTTPServerTransport,
} from '@modelcontextprotocol/server';
import type { Clock } from '#kernel/clock.ts';
import { countMembers, findDoubleKey } from '#kernel/double-key.ts';
import { ERROR_CODES, ForgeError, isForgeError } from '#kernel/errors.ts';
import { type Json, parseScanned } from '#kernel/json.ts';
import { OneATurn } from '#kernel/one-a-turn.ts';
import type { Caller } from '#access/caller.ts';
import { createServerFactory, type McpDeps } from './create-server.ts';
import {
  INVALID_REQUEST,
  type McpRequest,
  NO_BATCHES,
  readRequest,
  refuse,
  sendResponse,
  SERVER_ERROR,
  untilGone,
} from './http-exchange.ts';
import { McpSessions } from './sessions.ts';

export interface McpHttpDeps extends McpDeps {
  readonly clock: Pick<Clock, 'now'>;
  /** Whether a caller's token still is one; asked about twice a second while a call of theirs is under way. */
  readonly isAlive?: ((caller: Caller) => boolean) | undefined;
}

export interface McpHttpHandler extends AsyncDisposable {
  /** One request to /mcp. Host, Origin and token were looked at before; `caller` is what the token says. */
  handle(req: IncomingMessage, res: ServerResponse, caller: Caller): Promise<void>;
}

const PARSE_ERROR = -32_700;
const SESSION_NOT_FOUND = -32_001;

/**
 * MCP over streamable HTTP, in both generations of the protocol: that of 2026 has every request stand alone, those of
 * 2025 open a session. Whoever posts a request without either, as curl does, gets an answer for that request alone.
 * There is no stream from us to the client: nothing is ever sent that was not asked for, so GET is not allowed.
 */
export function createMcpHandler(deps: McpHttpDeps): McpHttpHandler {
  const createServer = createServerFactory(deps);
  const turns = new OneATurn(setImmediate);
  const sessions = new McpSessions(createServer, deps.clock);
  const modern = createModernHandler(({ authInfo }) => createServer(callerOf(authInfo)), {
    legacy: 'reject',
    // No list of ours changes while we run.
    maxSubscriptions: 0,
  });

  async function answer(read: McpRequest, caller: Caller): Promise<Response> {
    const { request } = read;
    if (request.method !== 'POST' && request.method !== 'DELETE')
      return refuse(405, SERVER_ERROR, 'Only POST and DELETE are allowed here', { allow: 'POST, DELETE' });
    await sessions.expire();
    const body = request.method === 'POST' ? parse(read) : undefined;
    if (body instanceof Response) return body;
    const id = request.headers.get('mcp-session-id');
    if (id !== null) {
      const session = sessions.find(id, caller);
      if (session === undefined) return refuse(404, SESSION_NOT_FOUND, 'There is no such session');
      return sessions.handle(session, request, body);
    }
    if (request.method === 'DELETE')
      return refuse(400, SERVER_ERROR, 'Which session? Mcp-Session-Id is missing');
    if (!(await isLegacyRequest(request, body)))
      return untilGone(
        modern.fetch(request, { parsedBody: body, authInfo: toAuthInfo(caller) }),
        request.signal,
      );
    if (!isInitialize(body)) return answerAlone(createServer(caller), request, body);
    const opened = await sessions.open(caller);
    if (opened === undefined)
      return refuse(503, SERVER_ERROR, 'Too many sessions are open', { 'retry-after': '60' });
    return sessions.handle(opened, request, body);
  }

  return {
    async handle(req, res, caller) {
      const gone = new AbortController();
      res.once('close', () => gone.abort());
      using _watch = watch(() => deps.isAlive?.(caller) ?? true, gone);
      const read = await readRequest(req, { signal: gone.signal, turns }).catch(refuseBody);
      const response = read instanceof Response ? read : await answer(read, caller);
      await sendResponse(response, res);
    },
    async [Symbol.asyncDispose]() {
      await modern.close();
      await sessions[Symbol.asyncDispose]();
    },
  };
}

/** What was not read to its end would be taken for the next request. */
function refuseBody(error: unknown): Response {
  const message = isForgeError(error) ? error.message : 'The body was not read to its end';
  const status = isForgeError(error) ? ERROR_CODES[error.code].http : 400;
  return refuse(status, SERVER_ERROR, message, { connection: 'close' });
}

/** A long wait must not answer somebody whose token was taken away meanwhile. */
function watch(isAlive: () => boolean, gone: AbortController): Disposable {
  const timer = setInterval(() => {
    if (!isAlive()) gone.abort(new ForgeError('unauthorized', 'The token was revoked while this waited'));
  }, LOOK_MS).unref();
  return { [Symbol.dispose]: () => clearInterval(timer) };
}

const LOOK_MS = 500;

/** The message, or what its sender is told instead. */
function parse(read: McpRequest): Json | Response {
  let value: Json;
  try {
    value = parseScanned(read.body, 'The body', read);
  } catch (error) {
    const isNumber = isForgeError(error) && !(error.cause instanceof SyntaxError);
    return isNumber
      ? refuse(400, INVALID_REQUEST, error.message)
      : refuse(400, PARSE_ERROR, 'The body is not JSON');
  }
  // No current version of the protocol has them, and one would be many answers for a single request.
  if (Array.isArray(value)) return refuse(400, INVALID_REQUEST, NO_BATCHES);
  if (countMembers(value) === read.members) return value;
  const twice = findDoubleKey(read.body) ?? '';
  return refuse(400, INVALID_REQUEST, `${JSON.stringify(twice.slice(0, 80))} is given more than once`);
}

function isInitialize(body: unknown): boolean {
  return typeof body === 'object' && body !== null && 'method' in body && body.method === 'initialize';
}

async function answerAlone(server: McpServer, request: Request, body: unknown): Promise<Response> {
  const transport = new WebStandardStreamableHTTPServerTransport({ enableJsonResponse: true });
  await server.connect(transport);
  try {
    return await untilGone(transport.handleRequest(request, { parsedBody: body }), request.signal);
  } finally {
    // With JSON answers the response is whole by now; what nobody waits for any more is broken off.
    await server.close();
  }
}

/** The library hands this through to the factory and looks at none of it. */
function toAuthInfo(caller: Caller): {
  token: string;
  clientId: string;
  scopes: string[];
  extra: Record<string, unknown>;
} {
  return {
    token: caller.token,
    clientId: caller.actor.name,
    scopes: [caller.scope],
    extra: { caller },
  };
}

function callerOf(authInfo: { extra?: Record<string, unknown> } | undefined): Caller {
  return authInfo?.extra?.['caller'] as Caller; // put there by toAuthInfo, for every request
}

import { randomUUID } from 'node:crypto';
import { type McpServer, WebStandardStreamableHTTPServerTransport } from '@modelcontextprotocol/server';
import type { Clock } from '#kernel/clock.ts';
import { LIMITS } from '#kernel/limits.ts';
import type { Caller } from '#access/caller.ts';
import { INVALID_REQUEST, refuse, SERVER_ERROR, untilGone } from './http-exchange.ts';

/** A client that opened with `initialize`: one server and one transport, for it alone. */
interface Session {
  readonly transport: WebStandardStreamableHTTPServerTransport;
  readonly server: McpServer;
  /** Knowing a session's id is no proof of anything: it answers only to the token that opened it. */
  readonly token: string;
  lastUsed: number;
  /** HTTP requests under way; a session that is waited on is not idle. */
  open: number;
  /** The JSON-RPC ids of those that want an answer. */
  readonly underWay: Set<RequestId>;
}

type RequestId = string | number;

/** The sessions of the protocol's 2025 revisions; the one of 2026 has none. */
export class McpSessions implements AsyncDisposable {
  readonly #sessions = new Map<string, Session>();
  readonly #createServer: (caller: Caller) => McpServer;
  readonly #clock: Pick<Clock, 'now'>;

  constructor(createServer: (caller: Caller) => McpServer, clock: Pick<Clock, 'now'>) {
    this.#createServer = createServer;
    this.#clock = clock;
  }

  /** Undefined for an id that is unknown, expired, or somebody else's: the caller cannot tell which. */
  find(id: string, caller: Caller): Session | undefined {
    const session = this.#sessions.get(id);
    return session?.token === caller.token ? session : undefined;
  }

  /** Undefined when there are too many and none may be ended. No token can take the place of all others. */
  async open(caller: Caller): Promise<Session | undefined> {
    await this.expire();
    if (!(await this.#makePlace(caller.token))) return undefined;
    const transport = new WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      enableJsonResponse: true,
      onsessioninitialized: (id) => void this.#sessions.set(id, session),
      onsessionclosed: async (id) => {
        this.#sessions.delete(id);
        await cancelAll(session);
      },
    });
    const server = this.#createServer(caller);
    const session: Session = {
      transport,
      server,
      token: caller.token,
      lastUsed: this.#clock.now(),
      open: 0,
      underWay: new Set(),
    };
    await server.connect(transport);
    return session;
  }

  /** Every request is answered: by the server, or with an error where its client cancelled it or its session ended. */
  async handle(session: Session, request: Request, body: unknown): Promise<Response> {
    session.lastUsed = this.#clock.now();
    const { transport, underWay } = session;
    const id = readRequestId(body);
    // The library keeps one answer for an id: the earlier request would never get its own.
    if (id !== undefined && underWay.has(id)) return refuseTwice(id);
    if (id !== undefined) underWay.add(id);
    session.open += 1;
    try {
      const response = await untilGone(
        transport.handleRequest(request, { parsedBody: body }),
        request.signal,
      );
      const cancelled = readCancelled(body);
      if (response.ok && cancelled !== undefined && underWay.has(cancelled))
        await answerCut(session, cancelled, 'The client cancelled this request');
      return response;
    } finally {
      if (id !== undefined && request.signal.aborted)
        await cancel(session, id, 'The client of this request went away');
      if (id !== undefined) underWay.delete(id);
      session.open -= 1;
      session.lastUsed = this.#clock.now();
      // What was refused before it became a session leaves nothing behind.
      const { sessionId } = session.transport;
      if (sessionId === undefined || !this.#sessions.has(sessionId)) await session.server.close();
    }
  }

  /**
   * Where a token has all that it may have, or all have together, the longest silent session of the greediest ends. Where
   * the greediest waits for an answer in each, and has more than the one that asks, the one used longest ago is cut.
   */
  async #makePlace(token: string): Promise<boolean> {
    const counts = new Map<string, number>();
    for (const one of this.#sessions.values()) counts.set(one.token, (counts.get(one.token) ?? 0) + 1);
    const own = counts.get(token) ?? 0;
    const isOwnFull = own >= LIMITS.mcp_sessions_a_token;
    if (!isOwnFull && this.#sessions.size < LIMITS.mcp_sessions) return true;
    const [greediest = token, most = 0] = [...counts].toSorted(([, a], [, b]) => b - a)[0] ?? [];
    const from = isOwnFull ? token : greediest;
    const mayCut = !isOwnFull && most > own + 1;
    const ended = [...this.#sessions]
      .filter(([, one]) => one.token === from && (mayCut || one.open === 0))
      .toSorted(([, a], [, b]) => Number(a.open > 0) - Number(b.open > 0) || a.lastUsed - b.lastUsed)[0];
    if (ended === undefined) return false;
    this.#sessions.delete(ended[0]);
    await cancelAll(ended[1]);
    await ended[1].server.close();
    return true;
  }

  /** Ends what was silent for too long. */
  async expire(): Promise<void> {
    const limit = this.#clock.now() - LIMITS.mcp_session_idle_ms;
    for (const [id, session] of this.#sessions) {
      if (session.open > 0 || session.lastUsed > limit) continue;
      this.#sessions.delete(id);
      await session.server.close();
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const sessions = [...this.#sessions.values()];
    this.#sessions.clear();
    await Promise.all(sessions.map(({ server }) => server.close()));
  }
}

/** A client that hung up cannot say so itself, and an answer in JSON cannot be fetched later. */
async function cancel(session: Session, requestId: RequestId, why: string): Promise<void> {
  session.transport.onmessage?.({
    jsonrpc: '2.0',
    method: 'notifications/cancelled',
    params: { requestId, reason: why },
  });
  await answerCut(session, requestId, why);
}

async function cancelAll(session: Session): Promise<void> {
  for (const id of session.underWay) await cancel(session, id, 'The session of this request was ended');
}

/** The library sends no answer to a request that was cancelled, and would keep the place of that answer for ever. */
async function answerCut({ transport }: Session, id: RequestId, message: string): Promise<void> {
  // It throws where the answer was given in the meantime.
  await transport.send({ jsonrpc: '2.0', id, error: { code: SERVER_ERROR, message } }).catch(() => undefined);
}

/** Without the id, or a client would take this for the answer of the request that has it. */
function refuseTwice(id: RequestId): Response {
  const shown = JSON.stringify(id).slice(0, 100);
  return refuse(
    400,
    INVALID_REQUEST,
    `A request with the id ${shown} is still under way in this session: give each request an id of its own`,
  );
}

/** Of a message that wants an answer. */
function readRequestId(message: unknown): RequestId | undefined {
  if (!isMessage(message) || !('method' in message)) return undefined;
  return toRequestId(message['id']);
}

/** The id of the request that a message cancels. */
function readCancelled(message: unknown): RequestId | undefined {
  if (!isMessage(message) || message['method'] !== 'notifications/cancelled') return undefined;
  return isMessage(message['params']) ? toRequestId(message['params']['requestId']) : undefined;
}

function toRequestId(id: unknown): RequestId | undefined {
  return typeof id === 'string' || typeof id === 'number' ? id : undefined;
}

function isMessage(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}

import { randomUUID } from 'node:crypto';
import { type McpServer, WebStandardStreamableHTTPServerTransport } from '@modelcontextprotocol/server';
import type { Clock } from '#kernel/clock.ts';
import { LIMITS } from '#kernel/limits.ts';
import type { Caller } from '#operations/call-operation.ts';
import { untilGone } from './http-exchange.ts';

/** A client that opened with `initialize`: one server and one transport, for it alone. */
interface Session {
  readonly transport: WebStandardStreamableHTTPServerTransport;
  readonly server: McpServer;
  /** Knowing a session's id is no proof of anything: it answers only to the token that opened it. */
  readonly token: string;
  lastUsed: number;
  /** Requests under way; a session that is waited on is not idle. */
  open: number;
}

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

  /** Undefined when there are too many and none is idle. */
  async open(caller: Caller): Promise<Session | undefined> {
    await this.expire();
    if (this.#sessions.size >= LIMITS.mcp_sessions) return undefined;
    const transport = new WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      enableJsonResponse: true,
      onsessioninitialized: (id) => void this.#sessions.set(id, session),
      onsessionclosed: (id) => void this.#sessions.delete(id),
    });
    const server = this.#createServer(caller);
    const session: Session = { transport, server, token: caller.token, lastUsed: this.#clock.now(), open: 0 };
    await server.connect(transport);
    return session;
  }

  async handle(session: Session, request: Request, body: unknown): Promise<Response> {
    session.lastUsed = this.#clock.now();
    session.open += 1;
    try {
      const answer = session.transport.handleRequest(request, { parsedBody: body });
      return await untilGone(answer, request.signal);
    } finally {
      if (request.signal.aborted) cancel(session, body);
      session.open -= 1;
      session.lastUsed = this.#clock.now();
      // What was refused before it became a session leaves nothing behind.
      const { sessionId } = session.transport;
      if (sessionId === undefined || !this.#sessions.has(sessionId)) await session.server.close();
    }
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
function cancel({ transport }: Session, body: unknown): void {
  const messages: unknown[] = Array.isArray(body) ? body : [body];
  for (const message of messages) {
    if (typeof message !== 'object' || message === null || !('id' in message)) continue;
    const { id } = message;
    if (typeof id !== 'string' && typeof id !== 'number') continue;
    transport.onmessage?.({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: id } });
  }
}

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

  /** Undefined when there are too many and none is idle. No token can take the place of all others. */
  async open(caller: Caller): Promise<Session | undefined> {
    await this.expire();
    if (!(await this.#makePlace(caller.token))) return undefined;
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

  /** Where a token has all that it may have, or all have together, the longest silent session of the greediest ends. */
  async #makePlace(token: string): Promise<boolean> {
    const counts = new Map<string, number>();
    for (const one of this.#sessions.values()) counts.set(one.token, (counts.get(one.token) ?? 0) + 1);
    const isOwnFull = (counts.get(token) ?? 0) >= LIMITS.mcp_sessions_a_token;
    if (!isOwnFull && this.#sessions.size < LIMITS.mcp_sessions) return true;
    const [greediest = token] = [...counts].toSorted(([, a], [, b]) => b - a)[0] ?? [];
    const from = isOwnFull ? token : greediest;
    const idle = [...this.#sessions]
      .filter(([, one]) => one.token === from && one.open === 0)
      .toSorted(([, a], [, b]) => a.lastUsed - b.lastUsed)[0];
    if (idle === undefined) return false;
    this.#sessions.delete(idle[0]);
    await idle[1].server.close();
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
function cancel({ transport }: Session, message: unknown): void {
  if (typeof message !== 'object' || message === null || !('id' in message)) return;
  const { id } = message;
  if (typeof id !== 'string' && typeof id !== 'number') return;
  transport.onmessage?.({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: id } });
}

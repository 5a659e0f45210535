import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Declaration } from '#contract/declare.ts';
import type { Clock } from '#kernel/clock.ts';
import type { Caller } from '#access/caller.ts';
import type { OperationCaller } from '#operations/call-operation.ts';
import type { AnswerBudget } from './answer-budget.ts';
import type { BodyLimits } from './body-budget.ts';
import type { BrowserSessions } from './browser-sessions.ts';
import type { FreeSockets } from './free-sockets.ts';
import type { TellLate } from './long-request.ts';

/** What the HTTP surface needs; `app` gives it. */
export interface HttpDeps {
  readonly caller: OperationCaller;
  readonly access: AccessPort;
  readonly origin: OriginFacts;
  readonly clock: Clock;
  readonly version: string;
  readonly declarations: readonly Declaration[];
  /** The projects that are served, in order. Asked for each time, because they may change. */
  readonly projects: () => readonly ServedProject[];
  readonly idempotency: IdempotencyPort;
  readonly tellLate: TellLate;
  /** Shared with everything else that answers on the same server; one of its own when left out. */
  readonly answers?: AnswerBudget | undefined;
  /** Of the server that calls the handler; left out where there is nobody to close connections for. */
  readonly sockets?: Pick<FreeSockets, 'claim'> | undefined;
  /** Requests of one token whose bodies may be incomplete at once; that of HTTP_LIMITS when left out. */
  readonly open_bodies?: number | undefined;
  /** Of their bytes; those of HTTP_LIMITS when left out. */
  readonly body_limits?: BodyLimits | undefined;
  /** Another text whenever something was written where the call would look; undefined where that cannot be said. */
  readonly stamp?: ((place: CallPlace) => Promise<string | undefined>) | undefined;
  /** Those of browsers, where somebody else makes links to them as well. */
  readonly sessions?: BrowserSessions | undefined;
  /** GET /api/v1/events; it has the response to itself. */
  readonly events?: RawHandler | undefined;
  /** All methods of /mcp. */
  readonly mcp?: RawHandler | undefined;
  /** Shows a client that has the server's own token that it reached the server; undefined while it stops. */
  readonly prove?: ((challenge: string, socket: Socket) => string | undefined) | undefined;
  /** Told of every failure that is not the client's; nothing of a request's content is in it. */
  readonly report?: ((failure: { request_id: string; error: unknown }) => void) | undefined;
}

/** Called after every guard. A rejection is answered with its error if nothing was sent yet. */
export type RawHandler = (
  request: IncomingMessage,
  response: ServerResponse,
  caller: Caller,
) => void | Promise<void>;

export interface AccessPort {
  /** Undefined for a token that was never given, was rotated or revoked. Follows changes of other processes. */
  findCaller(token: string): Caller | undefined;
  /** Whether a caller found earlier would still be found: sessions and streams end with their token. */
  isAlive(caller: Caller): boolean;
}

/** Where the server can be reached, as it knows itself. */
export interface OriginFacts {
  readonly scheme: 'http' | 'https';
  /** The address it listens on; that of every loopback name is added where it is one of them. */
  readonly host: string;
  readonly port: number;
  /** Further names that people use for it, without a port: `forge.example`. */
  readonly names?: readonly string[] | undefined;
}

export interface ServedProject {
  readonly name: string;
  readonly prefix: string;
  readonly path: string;
  /** Since when agents claim nothing there; null while they may. */
  readPause(): Promise<string | null>;
}

/** Which project's database remembers a request: found the same way as the call's own. */
export interface CallPlace {
  readonly name: string;
  readonly input: unknown;
  readonly project: string | undefined;
  /** Prefixes of the only projects that the caller may find; undefined for all. */
  readonly within: readonly string[] | undefined;
}

/** Implemented over the IdempotencyStore of the call's project; of any, where a call has none. */
export interface IdempotencyPort {
  /** Says what is known of the key; when nothing is, remembers it as begun. One transaction. */
  begin(place: CallPlace, request: RememberedRequest): Promise<RememberedOutcome>;
  /** Keeps the answer for the next 24 hours. */
  finish(place: CallPlace, request: RememberedRequest, answer: StoredAnswer): Promise<void>;
  /** Forgets a request that came to nothing, so that it may be tried again. */
  drop(place: CallPlace, request: RememberedRequest): Promise<void>;
}

export interface RememberedRequest {
  /** The token's id: keys of others are other keys. */
  readonly token: string;
  readonly key: string;
  /** Of method, path, query and body. */
  readonly digest: string;
  readonly now: number;
}

export type RememberedOutcome =
  | { readonly outcome: 'new' }
  | { readonly outcome: 'done'; readonly answer: StoredAnswer }
  /** It was begun and its end is not known: still at work, or cut off by a crash. */
  | { readonly outcome: 'pending'; readonly began_at: number }
  /** The key stands for another request. */
  | { readonly outcome: 'conflict' };

export interface StoredAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

import { randomUUID } from 'node:crypto';
import {
  type IncomingMessage,
  type Server,
  type ServerOptions,
  type ServerResponse,
  STATUS_CODES,
} from 'node:http';
import type { Duplex } from 'node:stream';
import { FreeSockets } from './free-sockets.ts';

/** Every limit of the HTTP surface, each with a test that hits it. */
export const HTTP_LIMITS = {
  body_bytes: 2_097_152,
  json_depth: 64,
  url_bytes: 8_192,
  /** Of the request line and all headers; Node enforces it while it reads. */
  header_bytes: 16_384,
  header_count: 100,
  /** From the first byte of a request to the last of its headers, and of its body. */
  headers_timeout_ms: 15_000,
  request_timeout_ms: 30_000,
  /** How long somebody waits for a move that runs tests or merges; then it is answered as begun. */
  long_answer_ms: 3_600_000,
  /** How often whoever waits hears that it goes on. */
  long_beat_ms: 10_000,
  /** Between two requests on one connection. */
  keep_alive_timeout_ms: 5_000,
  /** A client that takes nothing of its answer for so long is cut. */
  answer_stall_ms: 20_000,
  /** Of answers that clients have not taken yet, those that are being made among them; see AnswerBudget. */
  unread_bytes_a_token: 67_108_864,
  unread_bytes: 268_435_456,
  /** The same for the programs of one run. */
  unread_bytes_a_run: 33_554_432,
  /** Reads that wait until others of the same token are made. */
  waiting_reads_a_token: 1_000,
  /** Requests that a client sends on one connection without waiting for the answers before. */
  waiting_requests_a_socket: 256,
  /** Requests of one token, or of one address without one, whose bodies have not come to their ends. */
  open_bodies_a_token: 1_000,
  /** Of the bodies of requests that are not answered yet; see BodyBudget. */
  body_bytes_a_token: 33_554_432,
  body_bytes_all: 268_435_456,
  /**
   * How often Node looks for requests that are too slow. It answers all that it finds in one turn of the loop: of 10,000
   * connections a look a second found thousands, and held the others up for 210 ms of processor time.
   */
  timeout_check_ms: 100,
  /** Streams of events are connections too. Fewer where the process may open fewer files; see fitToOpenFiles. */
  sockets: 12_000,
  /** Connections that may come while those make place on which nothing is asked. */
  spare_sockets: 200,
  idempotency_key_length: 200,
  /** Rows of a page that does not say how many, and at most. */
  page_rows: 50,
  page_rows_max: 1_000,
  /** Of lists that are kept because they may be asked for again. */
  list_cache_bytes: 16_777_216,
  login_code_ms: 60_000,
  login_codes: 20,
  /** Failed tries within a minute, before wrong links are no longer answered one by one. */
  login_tries: 10,
  login_window_ms: 60_000,
  session_ms: 43_200_000,
  sessions: 100,
} as const;

/** How requests of one token, or of one address without one, take turns with those of others; see TokenTurns. */
export const HTTP_TURNS = { at_work: 16, busy_ms: 100, turn_ms: 5 } as const;

export type HttpLimits = { readonly [Name in keyof typeof HTTP_LIMITS]: number };

/** Files that connections leave free for the database, for git, and for the programs that are started. */
const FREE_FILES = { least: 64, share: 4, most: 1_000 };
/** Of the connections that there may be, one in so many is spare at most. */
const SPARE_SHARE = 10;
const FEWEST_SOCKETS = 8;
/** Of systems that do not tell: what macOS allows a process at least. */
const UNKNOWN_LIMIT = 10_240;

/** How many files a process has to be allowed for as many connections as there may be. */
export const WANTED_FILES = HTTP_LIMITS.sockets + HTTP_LIMITS.spare_sockets + FREE_FILES.most;

/** A connection is an open file: where they took all of them, nothing could be read and no new client came in. */
export function fitToOpenFiles(open_files = UNKNOWN_LIMIT): HttpLimits {
  const { least, share, most } = FREE_FILES;
  const all = open_files - Math.min(most, least + Math.floor(open_files / share));
  const spare_sockets = Math.max(1, Math.min(HTTP_LIMITS.spare_sockets, Math.floor(all / SPARE_SHARE)));
  const sockets = Math.max(FEWEST_SOCKETS, Math.min(HTTP_LIMITS.sockets, all - spare_sockets));
  return { ...HTTP_LIMITS, sockets, spare_sockets };
}

/** For createServer: what Node takes there only. The guards check the Host themselves, to answer in JSON. */
export function toServerOptions(limits: HttpLimits = HTTP_LIMITS): ServerOptions {
  return {
    maxHeaderSize: limits.header_bytes,
    connectionsCheckingInterval: limits.timeout_check_ms,
    requireHostHeader: false,
    insecureHTTPParser: false,
  };
}

/** Sets what a server takes after it was made, and answers requests that Node gave up reading. Its handler says whose connections are whose. */
export function applyServerLimits(server: Server, limits: HttpLimits = HTTP_LIMITS): FreeSockets {
  // What goes beyond is cut off unseen, so that there has to be room for one more than the guard allows.
  server.maxHeadersCount = limits.header_count + 1;
  server.headersTimeout = limits.headers_timeout_ms;
  server.requestTimeout = limits.request_timeout_ms;
  server.keepAliveTimeout = limits.keep_alive_timeout_ms;
  server.maxConnections = limits.sockets + limits.spare_sockets;
  const sockets = new FreeSockets(server, limits.sockets);
  server.on('request', (_request, response: ServerResponse) => cutUnread(response, limits.answer_stall_ms));
  server.on('clientError', answerUnread);
  server.on('checkExpectation', refuseExpectation);
  return sockets;
}

/** Node itself meets `100-continue`, and has no words for any other. Answers to requests before it on the connection come first. */
function refuseExpectation(_request: IncomingMessage, response: ServerResponse): void {
  const { headers, body } = toUnreadAnswer('expectation_failed', 'Of Expect only 100-continue is known');
  response.writeHead(417, headers).end(body);
}

/** From the end of an answer on, its socket has to take some of what waits; what takes long to be made is not meant. */
function cutUnread(response: ServerResponse, stall_ms: number): void {
  response.once('prefinish', () => response.socket?.setTimeout(stall_ms));
  const { socket } = response;
  response.once('finish', () => {
    // Node has set the time between two requests by now, unless another answer is to come on the same socket.
    if (socket?.timeout === stall_ms) socket.setTimeout(0);
  });
}

/** A request that never became one: no handler saw it. */
function answerUnread(error: NodeJS.ErrnoException, socket: Duplex): void {
  switch (error.code) {
    case 'HPE_HEADER_OVERFLOW':
      writeUnread(socket, 431, 'headers_too_large', 'The headers are too large');
      return;
    case 'HPE_CHUNK_EXTENSIONS_OVERFLOW':
      writeUnread(socket, 413, 'too_large', 'The extensions of a chunk are too large');
      return;
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      writeUnread(socket, 408, 'request_timeout', 'The request did not arrive in time');
      return;
    case undefined:
    default:
      writeUnread(socket, 400, 'invalid_input', 'The request is not HTTP');
  }
}

function writeUnread(socket: Duplex, status: number, code: string, message: string): void {
  // Where an answer has begun, a second one would be read as part of it.
  const busy = '_httpMessage' in socket && isBegun(socket._httpMessage);
  if (!socket.writable || busy) {
    socket.destroy();
    return;
  }
  const { headers, body } = toUnreadAnswer(code, message);
  const lines = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}`,
    ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
  ];
  socket.end(`${lines.join('\r\n')}\r\n\r\n${body}`, () => socket.destroy());
}

/** It ends the connection, so that what comes behind it is not waited for. */
function toUnreadAnswer(code: string, message: string): { headers: Record<string, string>; body: string } {
  const request_id = randomUUID();
  const body = JSON.stringify({ code, message, details: {}, request_id });
  const headers = {
    'Content-Type': 'application/json; charset=utf-8',
    'Content-Length': String(Buffer.byteLength(body)),
    'Cache-Control': 'no-store',
    'X-Content-Type-Options': 'nosniff',
    'Forge-Request-Id': request_id,
    Connection: 'close',
  };
  return { headers, body };
}

function isBegun(message: unknown): boolean {
  return (
    typeof message === 'object' &&
    message !== null &&
    'headersSent' in message &&
    message.headersSent === true
  );
}

import { hash, randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { ERROR_CODES, type ErrorCode, isForgeError, toErrorBody } from '#kernel/errors.ts';

/** One request and its answer. */
export interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly request_id: string;
}

export interface Answer {
  readonly status: number;
  readonly body: string | Buffer;
  /** Of the error that it tells. */
  readonly code?: ErrorCode;
  readonly headers?: Readonly<Record<string, string>>;
  /** Of the body, where it is known already. */
  readonly etag?: string | undefined;
}

/** Sets what every response has, whatever becomes of it. */
export function beginExchange(request: IncomingMessage, response: ServerResponse): Exchange {
  const request_id = randomUUID();
  response.setHeader('Forge-Request-Id', request_id);
  response.setHeader('Cache-Control', 'no-store');
  response.setHeader('X-Content-Type-Options', 'nosniff');
  response.setHeader('X-Frame-Options', 'DENY');
  response.setHeader('Content-Security-Policy', "default-src 'none'; frame-ancestors 'none'");
  response.setHeader('Referrer-Policy', 'no-referrer');
  response.setHeader('Cross-Origin-Resource-Policy', 'same-origin');
  return { request, response, request_id };
}

export function send({ request, response }: Exchange, { status, body, headers = {} }: Answer): void {
  if (response.headersSent || response.destroyed) return;
  response.statusCode = status;
  if (!response.hasHeader('Content-Type'))
    response.setHeader('Content-Type', 'application/json; charset=utf-8');
  for (const [name, value] of Object.entries(headers)) response.setHeader(name, value);
  // What was not read would be taken for the next request, or would have to be read to its end.
  if (!request.complete) response.setHeader('Connection', 'close');
  if (status !== 304) response.setHeader('Content-Length', Buffer.byteLength(body));
  response.end(request.method === 'HEAD' || status === 304 ? undefined : body);
}

export function toEtag(body: string | Buffer): string {
  return `"${hash('sha256', body, 'base64url').slice(0, 32)}"`;
}

/** The operation's JSON as it is; with a mark by which the same answer need not be sent twice. */
export function sendMarked(exchange: Exchange, answer: Answer): void {
  const { etag = toEtag(answer.body) } = answer;
  const headers = { ...answer.headers, ETag: etag };
  const known = exchange.request.headers['if-none-match'];
  if (known !== undefined && (known === '*' || known.split(',').some((one) => one.trim() === etag))) {
    send(exchange, { status: 304, body: '', headers });
    return;
  }
  send(exchange, { ...answer, headers });
}

/** `{code, message, hint?, details, request_id}`; what went wrong inside stays inside. */
export function toErrorAnswer(error: unknown, request_id: string): Answer {
  const body = toErrorBody(error);
  const internal = !isForgeError(error) || body.code === 'internal';
  const shown = internal
    ? {
        code: body.code,
        message: 'Unexpected failure; the log of the server has it under this request_id',
        details: {},
      }
    : body;
  return {
    status: ERROR_CODES[body.code].http,
    code: body.code,
    body: JSON.stringify({ ...shown, request_id }),
    headers: toErrorHeaders(error),
  };
}

function toErrorHeaders(error: unknown): Record<string, string> {
  if (!isForgeError(error)) return {};
  const { code, details } = error;
  if (code === 'unauthorized') return { 'WWW-Authenticate': 'Bearer realm="forge"' };
  if (code === 'method_not_allowed' && typeof details.allow === 'string') return { Allow: details.allow };
  if (code === 'too_many_requests') return { 'Retry-After': String(Number(details.retry_after_s ?? 60)) };
  if (code === 'store_busy' || code === 'server_busy') return { 'Retry-After': '1' };
  return {};
}

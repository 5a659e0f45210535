import type { IncomingMessage, ServerResponse } from 'node:http';
import { BodyScan } from '#kernel/body-scan.ts';
import { ERROR_CODES, ForgeError, isForgeError } from '#kernel/errors.ts';
import { LIMITS } from '#kernel/limits.ts';
import type { OneATurn } from '#kernel/one-a-turn.ts';

/** A request, the text of its body, and what was seen of that while it came; see BodyScan. */
export interface McpRequest {
  readonly request: Request;
  readonly body: string;
  readonly members: number;
  readonly has_escaped_key: boolean;
  readonly sources: readonly string[];
}

/** Node's request as the web standard's, with its body read to the end. Throws too_large and invalid_input. */
export async function readRequest(
  req: IncomingMessage,
  { signal, turns }: { readonly signal: AbortSignal; readonly turns: OneATurn },
): Promise<McpRequest> {
  const chunks: Buffer[] = [];
  const scan = new BodyScan(LIMITS.mcp_body_depth);
  let size = 0;
  for await (const chunk of req as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > LIMITS.mcp_body_bytes) throw new ForgeError('too_large', 'The body is too long');
    scan.take(chunk);
    chunks.push(chunk);
  }
  // What reading a large one takes must not add up with what others take.
  if (size > LIMITS.quick_body_bytes) await turns.wait();
  const headers = new Headers();
  for (const [name, value] of Object.entries(req.headers)) {
    // What a browser would not send is nothing that the protocol could need.
    if (value !== undefined && !name.startsWith(':'))
      headers.set(name, Array.isArray(value) ? value.join(', ') : value);
  }
  allowAnyAnswer(headers);
  const method = req.method ?? 'GET';
  const bytes = Buffer.concat(chunks);
  const body = bytes.toString('utf8');
  const init = method === 'POST' ? { method, headers, body, signal } : { method, headers, signal };
  // Host was checked before; nothing here looks at it.
  const sources = scan.oddNumbers.map(([from, to]) => bytes.toString('latin1', from, to));
  const request = new Request('http://localhost/mcp', init);
  return { request, body, members: scan.members, has_escaped_key: scan.hasEscapedKey, sources };
}

/** `curl` says that it takes anything; the protocol wants both names said. */
function allowAnyAnswer(headers: Headers): void {
  const accept = headers.get('accept');
  if (accept === null || accept.trim() === '*/*')
    headers.set('accept', 'application/json, text/event-stream');
}

/**
 * Sends the answer. One in JSON stands in memory as a whole, and is ended at once, so that what of it is not taken is
 * counted and a client that takes nothing is cut. Any other goes at the speed of its reader.
 */
export async function sendResponse(response: Response, res: ServerResponse): Promise<void> {
  // A request that was taken away has nobody to answer.
  if (res.destroyed) {
    await response.body?.cancel().catch(() => undefined);
    return;
  }
  if (response.headers.get('content-type')?.startsWith('application/json') === true) {
    const body = Buffer.from(await response.arrayBuffer());
    res.writeHead(response.status, {
      ...Object.fromEntries(response.headers),
      'content-length': String(body.length),
    });
    res.end(body);
    return;
  }
  res.writeHead(response.status, Object.fromEntries(response.headers));
  const reader = response.body?.getReader();
  if (reader === undefined) {
    res.end();
    return;
  }
  const stop = (): void => void reader.cancel().catch(() => undefined);
  res.once('close', stop);
  try {
    for (let part = await reader.read(); !part.done; part = await reader.read()) {
      if (res.write(part.value)) continue;
      await new Promise<void>((resolve) => {
        const go = (): void => {
          res.off('drain', go);
          res.off('close', go);
          resolve();
        };
        res.once('drain', go);
        res.once('close', go);
      });
    }
  } finally {
    res.off('close', stop);
    res.end();
  }
}

/**
 * The answer; where the call was broken off before, the error that says why. Where the client went away, that error is
 * told to nobody.
 */
export async function untilGone(answer: Promise<Response>, gone: AbortSignal): Promise<Response> {
  const { promise, resolve } = Promise.withResolvers<Response>();
  const stop = (): void => {
    const reason: unknown = gone.reason;
    const error = isForgeError(reason) ? reason : new ForgeError('interrupted', 'The client went away');
    resolve(refuse(ERROR_CODES[error.code].http, SERVER_ERROR, error.message));
  };
  if (gone.aborted) stop();
  gone.addEventListener('abort', stop, { once: true });
  try {
    return await Promise.race([answer, promise]);
  } finally {
    gone.removeEventListener('abort', stop);
  }
}

export const INVALID_REQUEST = -32_600;
export const NO_BATCHES = 'A batch of messages is not taken: send one message at a time';

/** What the protocol leaves to servers. */
export const SERVER_ERROR = -32_000;

/** An error of the protocol, where there is no server yet that could say it. */
export function refuse(
  status: number,
  code: number,
  message: string,
  headers: Record<string, string> = {},
): Response {
  return Response.json({ jsonrpc: '2.0', error: { code, message }, id: null }, { status, headers });
}

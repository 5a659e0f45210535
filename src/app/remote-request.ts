import { type Agent, request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';
import { setTimeout as sleep } from 'node:timers/promises';
import { ERROR_CODES, ForgeError } from '#kernel/errors.ts';
import { LIMITS } from '#kernel/limits.ts';
import { openProvedConnection } from './proved-connection.ts';

export interface RemoteAnswer {
  readonly status: number;
  readonly text: string;
  /** Of the server, where it has said it. */
  readonly version?: string | undefined;
}

interface RemoteRequest {
  readonly token?: string | undefined;
  /** The token is sent on a connection only after the server has proved on it that it holds the token. */
  readonly needs_proof?: boolean | undefined;
  /** The socket file that is asked instead of a port. */
  readonly socket?: string | undefined;
  readonly body: string;
  /** By which the server knows that it has done this already; none for what changes nothing. */
  readonly key: string | undefined;
}

/**
 * One request to exactly the server that was named: no redirect is followed and no proxy is asked, so the token goes
 * nowhere else. It may take as long as the operation does. Where the connection broke before the answer came, it is
 * sent once more: what has a key is not done twice. Throws server_unreachable.
 */
export async function postJson(url: URL, request: RemoteRequest): Promise<RemoteAnswer> {
  const first = await send(url, request);
  if (first.outcome === 'answered') return first;
  try {
    for (let tries = 0; ; tries += 1) {
      const next = await send(url, request);
      if (next.outcome === 'broke') break;
      if (tries >= PENDING_TRIES || !isPending(next)) return next;
      await sleep(PENDING_MS);
    }
  } catch {
    // That nobody answers any more says less than how the first one ended.
  }
  throw first.error;
}

type Outcome =
  | ({ readonly outcome: 'answered' } & RemoteAnswer)
  /** Whether it was done is not known. */
  | { readonly outcome: 'broke'; readonly error: ForgeError };

/** How long the end of a request is waited for that is still at work when it is sent again. */
const PENDING_TRIES = 20;
const PENDING_MS = 500;

function isPending({ status, text }: RemoteAnswer): boolean {
  return status === ERROR_CODES.idempotency_conflict.http && text.includes('"began_at"');
}

async function send(url: URL, request: RemoteRequest): Promise<Outcome> {
  const { token, needs_proof } = request;
  if (token === undefined || needs_proof !== true) return sendOver(url, false, request);
  using proved = await openProvedConnection(url, token).catch((error: unknown) => {
    throw unreachable(url, error instanceof Error ? describe(error) : String(error), error);
  });
  if (proved !== undefined) return await sendOver(url, proved.agent, request);
  throw new ForgeError(
    'server_unreachable',
    `The listener at ${url.origin} does not prove that it is the server of this Forge home, so nothing was sent to it`,
    {
      hint: 'Start the server again with this version: forge serve; or name a token for it: FORGE_TOKEN=<token> forge …',
      details: { server: url.origin },
    },
  );
}

function sendOver(
  url: URL,
  agent: Agent | false,
  { token, socket, body, key }: RemoteRequest,
): Promise<Outcome> {
  return new Promise((resolve, reject) => {
    const start = url.protocol === 'https:' ? requestHttps : requestHttp;
    const fail = (why: string, cause?: unknown): void => reject(unreachable(url, why, cause));
    const breakOff = (why: string, cause: unknown): void =>
      resolve({ outcome: 'broke', error: unreachable(url, why, cause) });
    const request = start(
      url,
      {
        method: 'POST',
        agent,
        ...(socket !== undefined && { socketPath: socket }),
        headers: {
          accept: 'application/json',
          'content-type': 'application/json',
          'content-length': Buffer.byteLength(body),
          ...(token !== undefined && { authorization: `Bearer ${token}` }),
          ...(key !== undefined && { 'idempotency-key': key }),
        },
      },
      (response) => {
        const status = response.statusCode ?? 0;
        if (status >= 300 && status < 400) {
          response.destroy();
          fail(`it answers with a redirect (${status}), which is not followed`);
          return;
        }
        const chunks: Buffer[] = [];
        let size = 0;
        response.on('data', (chunk: Buffer) => {
          size += chunk.length;
          chunks.push(chunk);
          if (size <= LIMITS.remote_answer_bytes) return;
          fail('the answer is too long');
          response.destroy();
        });
        response.once('error', (error) => breakOff(`its answer broke off (${error.message})`, error));
        response.once('end', () =>
          resolve({
            outcome: 'answered',
            status,
            text: Buffer.concat(chunks).toString('utf8'),
            version: readVersion(response.headers['forge-version']),
          }),
        );
      },
    );
    request.once('error', (error) => {
      if (isBreak(error)) breakOff('it hung up; what was asked for may have been done', error);
      else fail(describe(error), error);
    });
    request.end(body);
  });
}

/** Others' words, which are shown: only what looks like a version. */
function readVersion(header: string | string[] | undefined): string | undefined {
  return typeof header === 'string' && /^\d[\w.+-]{0,63}$/.test(header) ? header : undefined;
}

function isBreak(error: Error): boolean {
  return 'code' in error && (error.code === 'ECONNRESET' || error.code === 'EPIPE');
}

export function unreachable(
  url: URL,
  why: string,
  cause?: unknown,
  hint = 'forge serve, or leave out --server and FORGE_SERVER to work here',
): ForgeError {
  const { origin } = url;
  return new ForgeError('server_unreachable', `No answer from ${origin}: ${why}`, {
    hint,
    details: { server: origin },
    ...(cause !== undefined && { cause }),
  });
}

function describe(error: Error): string {
  const code = 'code' in error ? String(error.code) : '';
  if (code === 'ECONNREFUSED') return 'nothing listens there';
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN') return 'the name is unknown';
  return error.message || code;
}

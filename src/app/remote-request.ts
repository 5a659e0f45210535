import { request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';
import { ForgeError } from '#kernel/errors.ts';
import { LIMITS } from '#kernel/limits.ts';

export interface RemoteAnswer {
  readonly status: number;
  readonly text: string;
}

/**
 * One request to exactly the server that was named: no redirect is followed and no proxy is asked, so the token goes
 * nowhere else. It may take as long as the operation does. Throws server_unreachable.
 */
export function postJson(
  url: URL,
  { token, body }: { readonly token: string | undefined; readonly body: string },
): Promise<RemoteAnswer> {
  return new Promise((resolve, reject) => {
    const send = url.protocol === 'https:' ? requestHttps : requestHttp;
    const fail = (why: string, cause?: unknown): void => reject(unreachable(url, why, cause));
    const request = send(
      url,
      {
        method: 'POST',
        agent: false,
        headers: {
          accept: 'application/json',
          'content-type': 'application/json',
          'content-length': Buffer.byteLength(body),
          ...(token !== undefined && { authorization: `Bearer ${token}` }),
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
          if (size > LIMITS.remote_answer_bytes) response.destroy(new Error('the answer is too long'));
        });
        response.once('error', (error) => fail(`its answer broke off (${error.message})`, error));
        response.once('end', () => resolve({ status, text: Buffer.concat(chunks).toString('utf8') }));
      },
    );
    request.once('error', (error) => fail(describe(error), error));
    request.end(body);
  });
}

export function unreachable(url: URL, why: string, cause?: unknown): ForgeError {
  const { origin } = url;
  return new ForgeError('server_unreachable', `No answer from ${origin}: ${why}`, {
    hint: 'forge serve, or leave out --server and FORGE_SERVER to work here',
    details: { server: origin },
    ...(cause !== undefined && { cause }),
  });
}

function describe(error: Error): string {
  const code = 'code' in error ? String(error.code) : '';
  if (code === 'ECONNREFUSED') return 'nothing listens there';
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN') return 'the name is unknown';
  if (code === 'ECONNRESET') return 'it hung up; what was asked for may have been done';
  return error.message || code;
}

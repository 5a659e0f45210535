import { readFileSync } from 'node:fs';
import { createServer as createHttpServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { ForgeError } from '#kernel/errors.ts';
import type { FreeSockets } from '#surfaces/http/free-sockets.ts';
import { applyServerLimits, type HttpLimits, toServerOptions } from '#surfaces/http/limits.ts';
import { toFileError } from '#sync/file-error.ts';

/** How many ports after the one that is wanted are tried. */
const TRIES = 100;
/** After a restart everybody who follows events comes back at once; with the usual 511 the system turned some away. */
const BACKLOG = 4_096;

export interface Tls {
  readonly cert: Buffer;
  readonly key: Buffer;
}

/** Throws invalid_input where only one of the two is given, and what reading them throws. */
export function readTls(files: {
  readonly cert?: string | undefined;
  readonly key?: string | undefined;
}): Tls | undefined {
  const { cert, key } = files;
  if (cert === undefined && key === undefined) return undefined;
  if (cert === undefined || key === undefined) {
    throw new ForgeError('invalid_input', 'A certificate and its key belong together', {
      hint: 'forge serve --tls-cert cert.pem --tls-key key.pem',
    });
  }
  return { cert: read(cert), key: read(key) };
}

function read(path: string): Buffer {
  try {
    return readFileSync(path);
  } catch (error) {
    throw toFileError(error, `Could not read ${path}`);
  }
}

interface LimitedServer {
  readonly server: Server;
  readonly sockets: FreeSockets;
}

export interface Listening extends LimitedServer {
  readonly port: number;
}

/** A server on this port, or on the next one that is free. */
export async function listen(
  tls: Tls | undefined,
  { host, port, limits }: { readonly host: string; readonly port: number; readonly limits: HttpLimits },
): Promise<Listening> {
  for (let next = port; ; next += 1) {
    const { server, sockets } = await createServer(tls, limits);
    try {
      return { server, sockets, port: await tryListen(server, host, next) };
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException; // what listening throws
      const mayTryNext = port !== 0 && next < Math.min(port + TRIES, 65_535);
      if (code !== 'EADDRINUSE' || !mayTryNext) throw toListenError(error, host, next);
    }
  }
}

async function createServer(tls: Tls | undefined, limits: HttpLimits): Promise<LimitedServer> {
  const options = toServerOptions(limits);
  if (tls === undefined) {
    const server = createHttpServer(options);
    return { server, sockets: applyServerLimits(server, limits) };
  }
  const { createServer: createHttpsServer } = await import('node:https');
  try {
    // A handshake that is not ended is a request that does not arrive.
    const server = createHttpsServer({
      ...options,
      ...tls,
      handshakeTimeout: limits.headers_timeout_ms,
    });
    return { server, sockets: applyServerLimits(server, limits) };
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new ForgeError('invalid_input', `The certificate or its key cannot be used: ${why}`, {
      hint: 'Both are PEM files that belong together, the key without a passphrase: --tls-cert cert.pem --tls-key key.pem',
      cause: error,
    });
  }
}

function tryListen(server: Server, host: string, port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen({ host, port, exclusive: true, backlog: BACKLOG }, () => {
      server.off('error', reject);
      resolve((server.address() as AddressInfo).port); // it listens on a port and nothing else
    });
  });
}

function toListenError(error: unknown, host: string, port: number): ForgeError {
  const { code } = error as NodeJS.ErrnoException;
  const details = { host, port };
  switch (code) {
    case 'EACCES':
      return new ForgeError('permission_denied', `Not allowed to listen on port ${port}`, {
        hint: 'forge serve --port 8080',
        details,
      });
    case 'EADDRINUSE':
      return new ForgeError('io_failed', `Port ${port} and those after it are taken`, {
        hint: 'forge serve --port 0',
        details,
      });
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return new ForgeError('invalid_input', `${host} is no address of this machine`, {
        hint: 'forge serve --host 127.0.0.1',
        details,
      });
    case undefined:
    default:
      return new ForgeError('io_failed', `Could not listen on ${host}:${port} (${code ?? String(error)})`, {
        details,
        cause: error,
      });
  }
}

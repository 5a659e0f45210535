import { createHmac, timingSafeEqual } from 'node:crypto';
import type { Socket } from 'node:net';

/** One end of a connection: the server says where it was reached, the client where it went. */
export interface ReachedAddress {
  readonly address: string | undefined;
  readonly port: number | undefined;
}

/**
 * What a server answers to a challenge: only a process that has the token can make it. The address is part of it, so that
 * another listener cannot hand on the challenge to the server and its answer to the client.
 */
export function proveToken(token: string, challenge: string, reached: ReachedAddress): string {
  const address = (reached.address ?? '').toLowerCase().replace(/^::ffff:(?=\d+\.)/, '');
  return createHmac('sha256', token)
    .update(`proof of the server\n${challenge}\n${address}\n${reached.port ?? 0}`)
    .digest('hex');
}

export function isProof(given: unknown, expected: string): boolean {
  if (typeof given !== 'string' || given.length !== expected.length) return false;
  return timingSafeEqual(Buffer.from(given, 'latin1'), Buffer.from(expected, 'latin1'));
}

/** Of a connection that the server accepted. */
export function localEnd({ localAddress, localPort }: Socket): ReachedAddress {
  return { address: localAddress, port: localPort };
}

/** Of a connection that the client made. */
export function remoteEnd({ remoteAddress, remotePort }: Socket): ReachedAddress {
  return { address: remoteAddress, port: remotePort };
}

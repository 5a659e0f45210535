import { connect, type Socket } from 'node:net';

/**
 * A bare connection to a server of this machine. A server that stops resets its connections, and a reset without a listener
 * would end the worker of the tests, and with it the run.
 */
export function rawSocket(port: number | string, onConnect?: () => void): Socket {
  return connect(Number(port), '127.0.0.1', onConnect).on('error', () => undefined);
}

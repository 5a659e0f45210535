import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

type Work = () => void;

/**
 * Requests of one connection are worked on one after the other, and each that had to wait begins in a turn of the event
 * loop of its own. Node gives all requests that came in one piece at once: a client that sends hundreds without waiting
 * for an answer would have all others wait for the last of them. The first request of a
 * connection waits for nothing here; see TokenTurns for what clients send on many connections.
 */
export class SocketTurns {
  readonly #most: number;
  /** There as long as a request of the connection is worked on. */
  readonly #waiting = new WeakMap<Socket, Work[]>();

  /** `most` requests may wait on one connection; one with more is cut, because answers have to keep their order. */
  constructor(most: number) {
    this.#most = most;
  }

  take({ socket }: IncomingMessage, response: ServerResponse, work: Work): void {
    const begin = (): void => {
      response.once('close', () => this.#goOn(socket));
      work();
    };
    const waiting = this.#waiting.get(socket);
    if (waiting === undefined) {
      this.#waiting.set(socket, []);
      begin();
    } else if (waiting.length < this.#most) waiting.push(begin);
    else socket.destroy();
  }

  #goOn(socket: Socket): void {
    const next = this.#waiting.get(socket)?.shift();
    // Requests of a client that has gone ask for nothing any more.
    if (next === undefined || socket.destroyed) this.#waiting.delete(socket);
    else
      setImmediate(() => {
        if (socket.destroyed) this.#waiting.delete(socket);
        else next();
      });
  }
}

import type { Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** A connection that was opened so short a time ago is not ended for one token's sake, unless there are many such. */
const NEW_MS = 1_000;
const NEW_SHARE = 100;
/** A token with more than this part of all connections gives one up before a new one does. */
const LARGE_SHARE = 4;

/**
 * Ends a connection where there are as many as there may be, so that a new client gets one: that on which nothing was
 * asked for longest, and where something is asked on all of them, the oldest of the token that has most. Requests whose
 * token is not known (yet) are counted for their address.
 */
export class FreeSockets {
  readonly #most: number;
  /** In the order in which they fell silent, with the time of that. */
  readonly #idle = new Map<Socket, number>();
  /** With how many requests are under way, and for whom. */
  readonly #busy = new Map<Socket, { count: number; who: string }>();
  readonly #owners = new Map<string, Set<Socket>>();
  /** Until the handshake of TLS gives another object for the same connection. */
  readonly #raw = new Map<string, Socket>();
  #open = 0;

  constructor(server: Server, most: number) {
    this.#most = most;
    server.on('connection', (socket: Socket) => this.#connect(socket));
    server.on('secureConnection', (socket: Socket) => this.#secure(socket));
    server.on('request', ({ socket }: { socket: Socket }, response: ServerResponse) => {
      this.#begin(socket);
      response.once('close', () => this.#end(socket));
    });
  }

  /** Says whose request is under way; `who` is the id of a token. */
  claim(socket: Socket, who: string): void {
    const busy = this.#busy.get(socket);
    if (busy === undefined || busy.who === who) return;
    this.#disown(socket, busy.who);
    busy.who = who;
    this.#own(socket, who);
  }

  #connect(socket: Socket): void {
    this.#open += 1;
    this.#idle.set(socket, performance.now());
    const peer = toPeer(socket);
    this.#raw.set(peer, socket);
    socket.once('close', () => {
      this.#open -= 1;
      if (this.#raw.get(peer) === socket) this.#raw.delete(peer);
      this.#forget(socket);
    });
    if (this.#open > this.#most) this.#closeOne(socket);
  }

  /** From now on the connection is known by what its requests name. */
  #secure(socket: Socket): void {
    const raw = this.#raw.get(toPeer(socket));
    if (raw !== undefined) this.#idle.delete(raw);
    this.#idle.set(socket, performance.now());
    socket.once('close', () => this.#forget(socket));
  }

  #closeOne(newest: Socket): void {
    const silent = this.#findSilent(newest);
    let largest = new Set<Socket>();
    for (const sockets of this.#owners.values()) if (sockets.size > largest.size) largest = sockets;
    // What a client asks on a connection that it has just opened may be on its way.
    const since = silent && this.#idle.get(silent);
    const isNew = performance.now() - (since ?? 0) < NEW_MS && this.#idle.size <= this.#most / NEW_SHARE;
    const [oldest] = largest;
    const isTaken = silent === undefined || (isNew && largest.size > this.#most / LARGE_SHARE);
    const ended = isTaken ? oldest : silent;
    if (ended === undefined) return;
    this.#forget(ended);
    ended.destroy();
  }

  #findSilent(newest: Socket): Socket | undefined {
    for (const socket of this.#idle.keys()) if (socket !== newest) return socket;
    return undefined;
  }

  #begin(socket: Socket): void {
    this.#idle.delete(socket);
    const busy = this.#busy.get(socket);
    if (busy !== undefined) {
      busy.count += 1;
      return;
    }
    const who = `address ${socket.remoteAddress ?? ''}`;
    this.#busy.set(socket, { count: 1, who });
    this.#own(socket, who);
  }

  #end(socket: Socket): void {
    const busy = this.#busy.get(socket);
    if (busy === undefined) return;
    busy.count -= 1;
    if (busy.count > 0) return;
    this.#forget(socket);
    if (!socket.destroyed) this.#idle.set(socket, performance.now());
  }

  #forget(socket: Socket): void {
    this.#idle.delete(socket);
    const busy = this.#busy.get(socket);
    if (busy === undefined) return;
    this.#busy.delete(socket);
    this.#disown(socket, busy.who);
  }

  #own(socket: Socket, who: string): void {
    const sockets = this.#owners.get(who) ?? new Set();
    this.#owners.set(who, sockets.add(socket));
  }

  #disown(socket: Socket, who: string): void {
    const sockets = this.#owners.get(who);
    sockets?.delete(socket);
    if (sockets?.size === 0) this.#owners.delete(who);
  }
}

function toPeer({ remoteAddress, remotePort }: Socket): string {
  return `${remoteAddress} ${remotePort}`;
}

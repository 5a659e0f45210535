import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

const LOOK_MS = 25;

export interface Stoppable {
  /** No new connections; requests at work have some time to end. True when none had to be cut off. */
  stop(patience_ms: number): Promise<boolean>;
}

interface Connection {
  readonly socket: Socket;
  requests: number;
}

/** Keeps count of who is at work, from the start: Node itself takes a connection that never asked for a busy one. */
export function watchRequests(server: Server): Stoppable {
  const open = new Map<string, Connection>();
  server.on('connection', (socket: Socket) => {
    const key = toKey(socket);
    const connection = { socket, requests: 0 };
    open.set(key, connection);
    socket.once('close', () => {
      if (open.get(key) === connection) open.delete(key);
    });
  });
  server.on('request', ({ socket }, response) => {
    const connection = open.get(toKey(socket));
    const count = (by: number): void => {
      if (connection !== undefined) connection.requests += by;
    };
    count(1);
    response.once('close', () => count(-1));
  });
  return {
    async stop(patience_ms) {
      let isClosed = false;
      const closed = new Promise<void>((resolve) => {
        server.close(() => {
          isClosed = true;
          resolve();
        });
      });
      const deadline = performance.now() + patience_ms;
      while (!isClosed && performance.now() < deadline) {
        for (const { socket, requests } of open.values()) if (requests === 0) socket.destroy();
        await Promise.race([closed, sleep(LOOK_MS)]);
      }
      if (isClosed) return true;
      server.closeAllConnections();
      await closed;
      return false;
    },
  };
}

/** By its other end: with TLS a request comes over another socket than the one that was accepted. */
function toKey({ remoteAddress, remotePort }: Socket): string {
  return `${remoteAddress ?? ''} ${remotePort ?? 0}`;
}

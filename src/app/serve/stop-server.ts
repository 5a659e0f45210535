import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

const LOOK_MS = 25;

export interface Stoppable {
  /** No new connections; requests at work have some time to end. True when none had to be cut off. */
  stop(patience_ms: number): Promise<boolean>;
}

/** Keeps count of who is at work, from the start: Node itself takes a connection that never asked for a busy one. */
export function watchRequests(server: Server): Stoppable {
  const busy = new Map<Socket, number>();
  server.on('connection', (socket: Socket) => {
    busy.set(socket, 0);
    socket.once('close', () => busy.delete(socket));
  });
  server.on('request', ({ socket }, response) => {
    const count = (by: number): void => {
      const before = busy.get(socket);
      if (before !== undefined) busy.set(socket, before + by);
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
        for (const [socket, requests] of busy) if (requests === 0) socket.destroy();
        await Promise.race([closed, sleep(LOOK_MS)]);
      }
      if (isClosed) return true;
      server.closeAllConnections();
      await closed;
      return false;
    },
  };
}

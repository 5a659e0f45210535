import type { Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/**
 * Ends the connection on which nothing was asked for longest, where there are as many as there may be: a process that
 * opens thousands and says nothing keeps none of the others out. One with a request under way is never ended here.
 */
export function keepSocketsFree(server: Server, most: number): void {
  /** In the order in which they fell silent. */
  const idle = new Set<Socket>();
  const count = { open: 0 };
  server.on('connection', (socket: Socket) => {
    count.open += 1;
    idle.add(socket);
    socket.once('close', () => {
      count.open -= 1;
      idle.delete(socket);
    });
    if (count.open <= most) return;
    const [oldest] = idle;
    if (oldest !== undefined && oldest !== socket) oldest.destroy();
  });
  server.on('request', ({ socket }: { socket: Socket }, response: ServerResponse) => {
    idle.delete(socket);
    response.once('close', () => {
      if (!socket.destroyed) idle.add(socket);
    });
  });
}

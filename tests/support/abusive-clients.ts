import type { Socket } from 'node:net';
import { rawSocket } from './raw-socket.ts';

// A process of its own that abuses a server: sockets that say nothing, and writers that send a byte a second. Prints
// `{"connected": n}` when all are there, and what became of them when the server has ended the last.
const [port = '', idle = '', slow = ''] = process.argv.slice(2);
const token = process.env['FORGE_TOKEN'] ?? '';
/** So many are on their way at once; a queue of new connections has its own limit. */
const STEP = 250;

const statuses: Record<string, number> = {};
const writers: { socket: Socket; rest: string }[] = [];
let ended = 0;
const sockets: Socket[] = [];
for (let at = 0; at < Number(idle); at += STEP) {
  await Promise.all(Array.from({ length: Math.min(STEP, Number(idle) - at) }, () => open('')));
}
for (let at = 0; at < Number(slow); at += STEP) {
  const count = Math.min(STEP, Number(slow) - at);
  await Promise.all(Array.from({ length: count }, (_, index) => open(index % 2 === 0 ? 'headers' : 'body')));
}
process.stdout.write(`${JSON.stringify({ connected: sockets.length })}\n`);
const beat = setInterval(() => {
  for (const writer of writers) {
    if (!writer.socket.writable) continue;
    writer.socket.write(writer.rest[0] ?? ' ');
    writer.rest = writer.rest.slice(1);
  }
}, 1_000);

function open(slowly: '' | 'headers' | 'body'): Promise<void> {
  return new Promise((resolve, reject) => {
    const socket = rawSocket(port);
    let seen = '';
    socket.once('connect', () => {
      sockets.push(socket);
      const head = `POST /api/v1/operations/task.create HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nContent-Type: application/json\r\nAuthorization: Bearer ${token}\r\nContent-Length: 1000\r\n`;
      if (slowly === 'headers') writers.push({ socket, rest: head });
      if (slowly === 'body') {
        socket.write(`${head}\r\n`);
        writers.push({ socket, rest: '{"title":"slow"' });
      }
      resolve();
    });
    socket.on('data', (chunk: Buffer) => (seen += chunk.toString('latin1').slice(0, 20)));
    socket.on('error', reject);
    socket.on('close', () => {
      const status = /^HTTP\/1\.1 (\d{3})/.exec(seen)?.[1] ?? 'none';
      statuses[status] = (statuses[status] ?? 0) + 1;
      ended += 1;
      if (ended < Number(idle) + Number(slow)) return;
      clearInterval(beat);
      process.stdout.write(`${JSON.stringify({ statuses })}\n`);
    });
  });
}

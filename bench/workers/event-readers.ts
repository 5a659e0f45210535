import { connect, type Socket } from 'node:net';

// Many readers of the event stream on bare sockets. `deaf` ones never read. Every word on standard input that is a
// number asks for that many events; answered with the time of the last byte when every reader has seen them.
const [port = '', token = '', count = '1', deaf = '0', query = ''] = process.argv.slice(2);
const total = Number(count);
let connected = 0;
let wanted = 0;
let satisfied = 0;
const faults: string[] = [];

/** One reader: counts events by their numbers, without keeping them. */
function follow(): void {
  const socket = connect(Number(port), '127.0.0.1');
  let rest = '';
  let last = 0;
  let isCounted = false;
  let isDone = false;
  socket.on('connect', () =>
    socket.write(
      `GET /api/v1/events${query} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nAuthorization: Bearer ${token}\r\n\r\n`,
    ),
  );
  readers.push({
    check() {
      if (isDone || wanted === 0 || last < wanted) return;
      isDone = true;
      satisfied += 1;
      if (satisfied === total) process.stdout.write(`${JSON.stringify({ all: wanted, at: Date.now() })}\n`);
    },
    expect() {
      isDone = false;
    },
  });
  const self = readers.at(-1);
  socket.on('data', (chunk: Buffer) => {
    const text = rest + chunk.toString('latin1');
    if (!isCounted && text.includes('\nid: ')) {
      isCounted = true;
      connected += 1;
      if (connected === total) process.stdout.write(`${JSON.stringify({ connected, refused })}\n`);
    }
    let from = 0;
    for (let at = text.indexOf('"seq":', from); at >= 0; at = text.indexOf('"seq":', from)) {
      const end = text.indexOf(',', at);
      if (end < 0) break;
      const seq = Number(text.slice(at + 6, end));
      if (last !== 0 && seq !== last + 1) faults.push(`${last} then ${seq}`);
      last = seq;
      from = end;
    }
    const keep = text.lastIndexOf('\n\n');
    rest = text.slice(Math.max(from, keep < 0 ? 0 : keep));
    if (rest.length > 100_000) rest = rest.slice(-100_000);
    self?.check();
  });
  let why = '';
  socket.on('error', (error) => (why = error.message));
  socket.on('close', () => {
    // So many at once may find the queue of the listening socket full: clients try again.
    if (isCounted) faults.push(`closed after ${last}`);
    else {
      refused[why] = (refused[why] ?? 0) + 1;
      readers.splice(
        readers.findIndex((reader) => reader === self),
        1,
      );
      setTimeout(follow, 200);
    }
  });
}

const refused: Record<string, number> = {};
const readers: { check(): void; expect(): void }[] = [];
let cut = 0;
const ignored: Socket[] = [];

function ignore(): void {
  const socket = connect(Number(port), '127.0.0.1');
  socket.pause();
  socket.on('connect', () =>
    socket.write(
      `GET /api/v1/events HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nAuthorization: Bearer ${token}\r\n\r\n`,
    ),
  );
  socket.on('error', () => undefined);
  socket.on('close', () => (cut += 1));
  ignored.push(socket);
}

for (let at = 0; at < Number(deaf); at += 1) ignore();
for (let at = 0; at < total; at += 1) {
  follow();
  // Not faster than the server takes them in.
  if (at % 100 === 99) await new Promise((resolve) => setTimeout(resolve, 20));
}
for await (const chunk of process.stdin as AsyncIterable<Buffer>) {
  for (const word of chunk.toString().trim().split(/\s+/)) {
    if (word === 'end') {
      // A paused socket hears of nothing; now it reads what was left for it, and then that it was cut.
      for (const socket of ignored) socket.on('data', () => undefined).resume();
      await new Promise((resolve) => setTimeout(resolve, ignored.length === 0 ? 0 : 3_000));
      process.stdout.write(
        `${JSON.stringify({ faults: faults.slice(0, 5), fault_count: faults.length, cut })}\n`,
      );
      process.exit(0);
    }
    wanted = Number(word);
    satisfied = 0;
    for (const reader of readers) reader.expect();
    for (const reader of readers) reader.check();
  }
}

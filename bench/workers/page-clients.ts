import { connect } from 'node:net';

// So many clients that ask for one address, each again as soon as it is answered. They read no more of an answer than
// its length: a client that takes it apart would be slower than the server, and the figure its own.
// The first tenth of the answers is not counted: both ends compile their code as it runs.
const [port = '', token = '', path = '/', clients = '50', requests = '1000'] = process.argv.slice(2);
const question = `GET ${path} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nAuthorization: Bearer ${token}\r\n\r\n`;
const times: number[] = [];
let uncounted = Math.ceil(Number(requests) / 10);
let left = Number(requests) + uncounted;

function client(): Promise<void> {
  return new Promise((resolve, reject) => {
    const socket = connect(Number(port), '127.0.0.1').setNoDelay(true);
    let asked = 0;
    let head = '';
    let missing = 0;
    const ask = (): void => {
      if (left <= 0) {
        socket.destroy();
        resolve();
        return;
      }
      left -= 1;
      head = '';
      asked = performance.now();
      socket.write(question);
    };
    const read = (bytes: Buffer): void => {
      if (missing > 0) {
        missing -= bytes.length;
      } else {
        head += bytes.toString('latin1');
        const end = head.indexOf('\r\n\r\n');
        if (end === -1) return;
        if (!head.startsWith('HTTP/1.1 200 ')) reject(new Error(head.slice(0, end)));
        missing = Number(/content-length: (\d+)/i.exec(head)?.[1]) - (head.length - end - 4);
      }
      if (missing > 0) return;
      if (uncounted > 0) uncounted -= 1;
      else times.push(performance.now() - asked);
      ask();
    };
    socket.on('connect', ask).on('data', read).on('error', reject);
  });
}

process.stdout.write('ready\n');
await new Promise((resolve) => process.stdin.once('data', resolve));
const began = performance.now();
await Promise.all(Array.from({ length: Number(clients) }, client));
const ms = performance.now() - began;
const rate = ((Number(requests) * 1.1) / ms) * 1000;
times.sort((a, b) => a - b);
const at = (part: number): number => times[Math.floor(times.length * part)] ?? 0;
process.stdout.write(`${JSON.stringify({ rate, median_ms: at(0.5), p99_ms: at(0.99) })}\n`);
process.stdin.destroy();

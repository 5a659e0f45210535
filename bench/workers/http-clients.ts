import { readFileSync } from 'node:fs';
import { Agent, request } from 'node:http';

// Many clients over a bounded number of connections. Work comes as a file: one request a line, `METHOD path body`.
// Prints how long it took, what was answered how often, which lines got 200, and the times of the answers.
const [url = '', token = '', file = '', clients = '50', connections = '50'] = process.argv.slice(2);
const lines = readFileSync(file, 'utf8')
  .split('\n')
  .filter((line) => line !== '');
const agent = new Agent({ keepAlive: true, maxSockets: Number(connections), scheduling: 'fifo' });
const statuses: Record<string, number> = {};
const won: number[] = [];
const times: number[] = [];
let next = 0;

function send(line: string): Promise<number> {
  const [method = 'GET', path = '/', ...rest] = line.split(' ');
  const body = rest.join(' ');
  return new Promise((resolve, reject) => {
    const outgoing = request(
      `${url}${path}`,
      {
        method,
        agent,
        headers: {
          authorization: `Bearer ${token}`,
          ...(body !== '' && {
            'content-type': 'application/json',
            'content-length': Buffer.byteLength(body),
          }),
        },
      },
      (response) => {
        response.resume();
        response.once('end', () => resolve(response.statusCode ?? 0));
      },
    );
    outgoing.once('error', reject);
    outgoing.end(body);
  });
}

async function client(): Promise<void> {
  for (let at = next++; at < lines.length; at = next++) {
    const began = performance.now();
    const status = await send(lines[at] ?? '').catch(() => 0);
    times.push(performance.now() - began);
    statuses[status] = (statuses[status] ?? 0) + 1;
    if (status === 200) won.push(at);
  }
}

process.stdout.write('ready\n');
await new Promise((resolve) => process.stdin.once('data', resolve));
const began = performance.now();
await Promise.all(Array.from({ length: Number(clients) }, client));
const ms = performance.now() - began;
times.sort((a, b) => a - b);
const p99_ms = times[Math.floor(times.length * 0.99)] ?? 0;
process.stdout.write(
  `${JSON.stringify({ ms, statuses, won, p99_ms, median_ms: times[times.length >> 1] })}\n`,
);
agent.destroy();
process.stdin.destroy();

// Sends large bodies over and over, each client the next one as soon as the last was answered, for so long.
import { request } from 'node:http';

const [port = '', token = '', clients = '6', seconds = '5'] = process.argv.slice(2);
const MOST = 2_000_000;

const BODIES: readonly { readonly path: string; readonly body: Buffer }[] = [
  { path: '/api/v1/projects/fg/tasks', body: Buffer.from(`{"title":[1${',1'.repeat((MOST - 20) / 2)}]}`) },
  { path: '/api/v1/projects/fg/tasks', body: Buffer.from(`{"title":[[]${',[]'.repeat((MOST - 20) / 3)}]}`) },
  { path: '/api/v1/projects/fg/tasks', body: Buffer.from('['.repeat(MOST)) },
  {
    path: '/api/v1/projects/fg/tasks',
    body: toJson({ title: 'x', metadata_set: toKeys(130_000) }),
  },
  {
    path: '/mcp',
    body: toJson({
      jsonrpc: '2.0',
      id: 1,
      method: 'tools/call',
      params: { name: 'forge_create_task', arguments: toKeys(160_000) },
    }),
  },
  { path: '/api/v1/projects/fg/tasks', body: Buffer.from(`{"title":0.1${'0'.repeat(MOST - 20)}1}`) },
  {
    path: '/api/v1/projects/fg/tasks',
    body: Buffer.from(`{"title":"${'\\u00e4'.repeat((MOST - 20) / 6)}"}`),
  },
  { path: '/api/v1/projects/fg/tasks', body: Buffer.from(`{"title":"${'\\"'.repeat((MOST - 20) / 2)}"}`) },
  { path: '/api/v1/projects/fg/tasks', body: Buffer.from(`{"title":"x"${' '.repeat(MOST - 20)}}`) },
];

function toKeys(count: number): object {
  return Object.fromEntries(Array.from({ length: count }, (_, at) => [`k${at}`, 1]));
}

function toJson(value: object): Buffer {
  return Buffer.from(JSON.stringify(value));
}

/** The status, or 0 where the connection was cut: a server need not read what it refuses. */
function send({ path, body }: (typeof BODIES)[number]): Promise<number> {
  return new Promise((resolve) => {
    const headers = {
      authorization: `Bearer ${token}`,
      'content-type': 'application/json',
      'content-length': body.length,
      accept: '*/*',
    };
    const asked = request(
      { port, host: '127.0.0.1', method: 'POST', path, headers, agent: false },
      (answer) => {
        answer.resume();
        answer.once('close', () => resolve(answer.statusCode ?? 0));
      },
    );
    asked.once('error', () => resolve(0));
    asked.end(body);
  });
}

process.stdout.write('ready\n');
await new Promise((resolve) => process.stdin.once('data', resolve));
const statuses: Record<string, number> = {};
const end = performance.now() + Number(seconds) * 1_000;
await Promise.all(
  Array.from({ length: Number(clients) }, async (_, at) => {
    for (let next = at; performance.now() < end; next += 1) {
      const status = await send(BODIES[next % BODIES.length] ?? { path: '/', body: Buffer.alloc(0) });
      statuses[status] = (statuses[status] ?? 0) + 1;
    }
  }),
);
console.log(JSON.stringify(statuses));
process.stdin.destroy();

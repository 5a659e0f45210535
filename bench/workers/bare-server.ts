import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { DatabaseSync } from 'node:sqlite';

// The least that a durable claim over HTTP can be: one conditional UPDATE, committed and synced, one JSON answer. A GET
// is answered with as many bytes as its query says.
const [path = ''] = process.argv.slice(2);
const db = new DatabaseSync(path, { timeout: 60_000 });
db.exec('PRAGMA synchronous = FULL');
const claim = db.prepare(
  "UPDATE tasks SET status = 'in_progress', assignee = ?, updated_at = ? WHERE id = ? AND status = 'open' AND assignee IS NULL",
);
const pages = new Map<number, string>();
const server = createServer((request, response) => {
  if (request.method === 'GET') {
    const bytes = Number(/bytes=(\d+)/.exec(request.url ?? '')?.[1] ?? 0);
    const page = pages.get(bytes) ?? 'x'.repeat(bytes);
    pages.set(bytes, page);
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': bytes }).end(page);
    return;
  }
  const id = /^\/api\/v1\/tasks\/([^/]+)\/claim$/.exec(request.url ?? '')?.[1] ?? '';
  let text = '';
  request.on('data', (chunk: Buffer) => (text += chunk.toString()));
  request.on('end', () => {
    const { assignee } = JSON.parse(text) as { assignee: string };
    const { changes } = claim.run(assignee, new Date().toISOString(), id);
    response.writeHead(changes === 1 ? 200 : 409, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ id, assignee }));
  });
});
server.listen(0, '127.0.0.1', () => {
  const { port } = server.address() as AddressInfo;
  process.stdout.write(`${JSON.stringify({ url: `http://127.0.0.1:${port}` })}\n`);
});
process.on('SIGTERM', () => process.exit(0));

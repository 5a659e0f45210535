import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { request as httpRequest } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { createInterface } from 'node:readline';

// Run inside a network namespace: starts `forge serve` there, asks it, and prints what came of it as JSON.
// Arguments: the program, the addresses to ask at with commas between them, then the flags of the server.
const [program = '', addresses = '', ...flags] = process.argv.slice(2);
const server = spawn(process.execPath, [program, 'serve', '--port', '0', '--json', ...flags], {
  stdio: ['ignore', 'pipe', 'inherit'],
});
const [line] = (await once(createInterface({ input: server.stdout }), 'line')) as [string];
const { url, token_file } = JSON.parse(line) as { url: string; token_file: string };
const { protocol, port } = new URL(url);
const token = readFileSync(token_file, 'utf8').trim();
const answers: Record<string, number[]> = {};
for (const address of addresses.split(',')) {
  const host = `${address.includes(':') ? `[${address}]` : address}:${port}`;
  answers[address] = [
    await ask(address, { host }),
    await ask(address, { host, authorization: `Bearer ${token}` }),
    await ask(address, { host: `evil.example:${port}`, authorization: `Bearer ${token}` }),
  ];
}
server.kill('SIGTERM');
const [code] = (await once(server, 'exit')) as [number | null];
process.stdout.write(`${JSON.stringify({ url: url.replace(port, 'PORT'), code, answers })}\n`);

/** Whether the certificate is good is for other tests. */
function ask(host: string, headers: Record<string, string>): Promise<number> {
  return new Promise((resolve, reject) => {
    const send = protocol === 'https:' ? httpsRequest : httpRequest;
    const options = { host, port, path: '/api/v1/tasks', headers, agent: false, rejectUnauthorized: false };
    const request = send(options, (response) => {
      response.resume();
      resolve(response.statusCode ?? 0);
    });
    request.once('error', reject);
    request.end();
  });
}

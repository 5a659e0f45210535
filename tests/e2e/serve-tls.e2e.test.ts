import { execFileSync } from 'node:child_process';
import { chmodSync, readFileSync, writeFileSync } from 'node:fs';
import { request as httpsRequest } from 'node:https';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { forgeProject } from '../support/forge-cli.ts';
import { startForgeServer } from '../support/forge-server.ts';
import { noteLongestBlock } from '../support/loop-blocks.ts';
import { rawSocket } from '../support/raw-socket.ts';

const hasOpenssl = canRun('openssl', ['version']);

describe.runIf(hasOpenssl)('forge serve with TLS', () => {
  test('answers over https with the certificate that was given, and to nothing else', async () => {
    await using project = await forgeProject();
    const own = makeCertificate(project, 'own');
    await using server = await startForgeServer(project, toFlags(own));
    expect(server.url).toMatch(/^https:\/\/127\.0\.0\.1:\d+$/);
    const ask = (path: string, token?: string) => askTls(server.url, { path, token, ca: own.pem });
    expect(await ask('/api/status')).toEqual({ status: 200, body: '{"status":"ok"}' });
    expect((await ask('/api/v1/tasks')).status).toBe(401);
    expect(await ask('/api/v1/tasks', server.token)).toEqual({ status: 200, body: '[]' });
    const stranger = makeCertificate(project, 'stranger');
    await expect(askTls(server.url, { path: '/api/status', ca: stranger.pem })).rejects.toThrow(
      /self-signed|unable to verify/,
    );
    // Plain HTTP gets no word of an answer, and leaves nothing behind.
    const port = Number(new URL(server.url).port);
    expect(await talk(port, `GET /api/status HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\n\r\n`)).not.toContain(
      '"ok"',
    );
    await expect(fetch(server.url.replace('https:', 'http:'))).rejects.toThrow('fetch failed');
    expect((await ask('/api/status')).status).toBe(200);
    expect(server.told()).toBe('');
  });

  test('is what forge --server speaks where Node trusts the certificate, and says so where it does not', async () => {
    await using project = await forgeProject();
    const own = makeCertificate(project, 'own');
    await using server = await startForgeServer(project, toFlags(own));
    const remote = project.with({ env: { FORGE_SERVER: server.url, NODE_EXTRA_CA_CERTS: own.cert } });
    const made = await remote.create('Over TLS');
    expect((await project.show(made.id)).title).toBe('Over TLS');
    const { error } = await project.fails('ready', '--server', server.url);
    expect(error).toMatchObject({
      code: 'server_unreachable',
      message: expect.stringContaining('self-signed certificate') as string,
    });
  });

  test('lets a request that is at work end when it is told to stop', async () => {
    await using project = await forgeProject();
    const own = makeCertificate(project, 'own');
    await using server = await startForgeServer(project, toFlags(own));
    const { id } = await project.create('Never closed');
    const waiting = askTls(server.url, {
      path: `/api/v1/tasks/${id}/wait?timeout_seconds=2`,
      token: server.token,
      ca: own.pem,
    });
    // It has begun when the server has used the token.
    await expect.poll(() => readUses(server.token_file), { timeout: 10_000 }).toContain('Z"');
    server.kill('SIGTERM');
    expect(await waiting).toMatchObject({ status: 409 });
    expect(await server.ended).toEqual({ code: 0, signal: null });
  });

  test('ends before it listens where the two do not fit or cannot be read', async () => {
    await using project = await forgeProject();
    const own = makeCertificate(project, 'own');
    const other = makeCertificate(project, 'other');
    const text = join(dirname(own.cert), 'text.pem');
    writeFileSync(text, 'no certificate at all');
    const cases: [{ cert: string; key: string }, string, RegExp][] = [
      [{ cert: own.cert, key: other.key }, 'invalid_input', /cannot be used: .*mismatch/],
      [{ cert: text, key: own.key }, 'invalid_input', /cannot be used: .*PEM/],
      [{ cert: own.cert, key: text }, 'invalid_input', /cannot be used: /],
      [{ cert: own.key, key: own.cert }, 'invalid_input', /cannot be used: /],
      [{ cert: own.cert, key: lock(own.key) }, 'invalid_input', /cannot be used: /],
      [{ cert: own.cert, key: join(dirname(own.key), 'none.pem') }, 'io_failed', /none\.pem/],
      [{ cert: dirname(own.cert), key: own.key }, 'io_failed', /Could not read/],
    ];
    for (const [files, code, message] of cases) {
      const { error } = await project.fails('serve', ...toFlags(files));
      expect([files, error]).toMatchObject([
        files,
        { code, message: expect.stringMatching(message) as string },
      ]);
    }
    // Nothing says that a server runs.
    expect(() => readFileSync(join(project.home, '.forge', 'servers.json'))).toThrow('ENOENT');
  });

  // Whoever may read everything may read this too.
  test.runIf(process.getuid?.() !== 0)('says which file it may not read', async () => {
    await using project = await forgeProject();
    const own = makeCertificate(project, 'own');
    chmodSync(own.key, 0);
    const { error } = await project.fails('serve', ...toFlags(own));
    expect(error).toMatchObject({ code: 'permission_denied' });
    expect(error.message).toContain(own.key);
  });
});

interface Certificate {
  readonly cert: string;
  readonly key: string;
  readonly pem: string;
}

/** For the loopback names, signed by itself. */
function makeCertificate({ home }: { readonly home: string }, name: string): Certificate {
  const [cert, key] = [join(home, `${name}-cert.pem`), join(home, `${name}-key.pem`)];
  const kind = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '2'];
  const names = ['-subj', `/CN=${name}`, '-addext', 'subjectAltName=IP:127.0.0.1,DNS:localhost'];
  openssl('req', '-x509', ...kind, ...names, '-keyout', key, '-out', cert);
  return { cert, key, pem: readFileSync(cert, 'utf8') };
}

/** The same key behind a passphrase. */
function lock(key: string): string {
  const locked = key.replace('.pem', '-locked.pem');
  openssl('pkey', '-in', key, '-aes256', '-passout', 'pass:secret', '-out', locked);
  return locked;
}

function openssl(...args: string[]): void {
  execFileSync('openssl', args, { stdio: 'ignore' });
}

function toFlags({ cert, key }: { readonly cert: string; readonly key: string }): string[] {
  return ['--port', '0', '--tls-cert', cert, '--tls-key', key];
}

function askTls(
  url: string,
  { path, token, ca }: { path: string; token?: string | undefined; ca: string },
): Promise<{ status: number; body: string }> {
  return new Promise((resolve, reject) => {
    const headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
    const request = httpsRequest(`${url}${path}`, { ca, headers, agent: false }, (response) => {
      let body = '';
      response.on('data', (chunk: Buffer) => (body += chunk.toString()));
      response.once('end', () => resolve({ status: response.statusCode ?? 0, body }));
    });
    request.once('error', reject);
    request.end();
  });
}

/** What comes back until the other side closes. */
function talk(port: number, text: string): Promise<string> {
  return new Promise((resolve) => {
    const socket = rawSocket(port);
    let seen = '';
    socket.on('data', (chunk: Buffer) => (seen += chunk.toString('latin1')));
    socket.on('error', () => undefined);
    socket.on('close', () => resolve(seen));
    socket.write(text);
  });
}

function readUses(tokenFile: string): string {
  try {
    return readFileSync(join(dirname(tokenFile), 'token-uses.json'), 'utf8');
  } catch {
    return '';
  }
}

function canRun(command: string, args: readonly string[]): boolean {
  try {
    execFileSync(command, args, { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

noteLongestBlock(import.meta.filename);

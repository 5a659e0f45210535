import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { FORGE } from './forge-cli.ts';
import { toMonitorFlags } from './loop-blocks.ts';

export interface ServerAnswer {
  readonly status: number;
  readonly headers: Headers;
  readonly body: unknown;
}

/** `forge serve` as a process of its own; ended with what it was started in. */
export interface ForgeServer extends AsyncDisposable {
  readonly url: string;
  readonly pid: number;
  readonly token_file: string;
  readonly token: string;
  /** All that it wrote on standard error so far. */
  readonly told: () => string;
  readonly ended: Promise<{ readonly code: number | null; readonly signal: NodeJS.Signals | null }>;
  /** A request with the server's own token; a body makes it a POST. */
  ask(path: string, options?: AskOptions): Promise<ServerAnswer>;
  kill(signal: NodeJS.Signals): void;
}

export interface AskOptions {
  readonly method?: string;
  readonly body?: unknown;
  readonly token?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface ServerPlace {
  readonly env: NodeJS.ProcessEnv;
  readonly path: string;
}

/** Resolves when it answers; rejects with what it wrote when it ends before. */
export async function startForgeServer(
  place: ServerPlace,
  flags: readonly string[] = ['--port', '0'],
  more: {
    readonly env?: Readonly<Record<string, string>>;
    readonly cwd?: string;
    /** Another user than the one who runs the tests. */
    readonly uid?: number | undefined;
    /** How many files it may open. */
    readonly open_files?: number;
  } = {},
): Promise<ForgeServer> {
  const command = [process.execPath, ...toMonitorFlags(), FORGE, 'serve', '--json', ...flags];
  const within =
    more.open_files === undefined ? [] : ['sh', '-c', `ulimit -n ${more.open_files}; exec "$@"`, 'sh'];
  const [program = '', ...args] = [...within, ...command];
  const child = spawn(program, args, {
    cwd: more.cwd ?? place.path,
    env: { ...place.env, ...more.env },
    stdio: ['ignore', 'pipe', 'pipe'],
    ...(more.uid !== undefined && { uid: more.uid, gid: more.uid }),
  });
  let told = '';
  child.stderr.on('data', (chunk: Buffer) => (told += chunk.toString()));
  const ended = watchEnd(child);
  const first = once(createInterface({ input: child.stdout }), 'line').then(([line]) => String(line));
  const line = await Promise.race([first, ended.then(() => '')]);
  const ready = line.startsWith('{"url"')
    ? (JSON.parse(line) as Pick<ForgeServer, 'url' | 'pid' | 'token_file'>)
    : undefined;
  if (ready === undefined) {
    await ended;
    throw new Error(`forge serve ended before it answered: ${line}${told}`);
  }
  const token = readFileSync(ready.token_file, 'utf8').trim();
  return {
    ...ready,
    token,
    told: () => told,
    ended,
    ask: (path, options) => ask(`${ready.url}${path}`, { token, ...options }),
    kill: (signal) => void child.kill(signal),
    async [Symbol.asyncDispose]() {
      child.kill('SIGTERM');
      const over = await Promise.race([ended, sleep(15_000, undefined, { ref: false })]);
      if (over === undefined) child.kill('SIGKILL');
      await ended;
    },
  };
}

function watchEnd(child: ChildProcess): ForgeServer['ended'] {
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code, signal) => resolve({ code, signal }));
  });
}

async function ask(url: string, { method, body, token, headers }: AskOptions): Promise<ServerAnswer> {
  const answer = await fetch(url, {
    method: method ?? (body === undefined ? 'GET' : 'POST'),
    headers: {
      ...(token !== undefined && { authorization: `Bearer ${token}` }),
      ...(body !== undefined && { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  const text = await answer.text();
  return { status: answer.status, headers: answer.headers, body: text === '' ? undefined : parse(text) };
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

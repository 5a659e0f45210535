import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { FORGE } from './measure.ts';

export interface ServerReport {
  readonly stall_ms: number;
  readonly delay_p99_ms: number;
  readonly rss: number;
}

/** A server under measurement, in a process of its own. */
export interface MeasuredServer extends AsyncDisposable {
  readonly url: string;
  readonly port: string;
  readonly token: string;
  /** The longest pause of its event loop since the last time, and its memory. */
  report(): Promise<ServerReport>;
}

export async function startForge(
  project: string,
  home: string,
  env: NodeJS.ProcessEnv = process.env,
): Promise<MeasuredServer> {
  const watch = join(import.meta.dirname, 'workers/watch-server.cjs');
  const file = join(home, 'report.json');
  const child = spawn(
    process.execPath,
    ['--expose-gc', '--require', watch, FORGE, 'serve', '--json', '--port', '0'],
    {
      cwd: project,
      env: { ...env, FORGE_HOME: home, BENCH_REPORT: file },
      stdio: ['ignore', 'pipe', 'inherit'],
    },
  );
  const { url, token_file } = await readFirst<{ url: string; token_file: string }>(child);
  return {
    ...toServer(child, url),
    token: readFileSync(token_file, 'utf8').trim(),
    async report() {
      rmSync(file, { force: true });
      child.kill('SIGUSR2');
      while (!existsSync(file)) await sleep(10);
      return JSON.parse(readFileSync(file, 'utf8')) as ServerReport;
    },
  };
}

export async function startBare(database: string): Promise<MeasuredServer> {
  const script = join(import.meta.dirname, 'workers/bare-server.ts');
  const child = spawn(process.execPath, [script, database], { stdio: ['ignore', 'pipe', 'inherit'] });
  const { url } = await readFirst<{ url: string }>(child);
  return { ...toServer(child, url), token: '', report: () => Promise.reject(new Error('not measured')) };
}

function toServer(child: ChildProcess, url: string): Pick<MeasuredServer, 'url' | 'port'> & AsyncDisposable {
  return {
    url,
    port: new URL(url).port,
    async [Symbol.asyncDispose]() {
      if (child.exitCode !== null) return;
      const ended = once(child, 'close');
      child.kill('SIGTERM');
      await ended;
    },
  };
}

async function readFirst<T>(child: ChildProcess): Promise<T> {
  if (child.stdout === null) throw new Error('started without a pipe');
  const [line] = (await once(createInterface({ input: child.stdout }), 'line')) as [string];
  return JSON.parse(line) as T;
}

/** A worker that is spoken to line by line. */
export interface Worker extends Disposable {
  say(text: string): void;
  next<T>(): Promise<T>;
}

export function startWorker(name: string, args: readonly string[]): Worker {
  const script = join(import.meta.dirname, 'workers', name);
  const child = spawn(process.execPath, [script, ...args], { stdio: ['pipe', 'pipe', 'inherit'] });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  return {
    say: (text) => void child.stdin.write(`${text}\n`),
    async next<T>() {
      const { value, done } = await lines.next();
      if (done === true) throw new Error(`${name} ended before it answered`);
      return JSON.parse(value) as T; // what the worker of that name prints
    },
    [Symbol.dispose]: () => void child.kill('SIGKILL'),
  };
}

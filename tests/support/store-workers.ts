import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

export interface StoreWorker extends AsyncDisposable {
  /** Everything it has said so far, in order. */
  readonly said: readonly Record<string, unknown>[];
  /** Lets it begin. */
  go(): void;
  /** The next thing it says that has this key; rejects when it ends without. */
  heard(key: string): Promise<unknown>;
  kill(): void;
  /** Resolves when it has ended and all that it said has arrived. */
  readonly ended: Promise<{ code: number | null; signal: NodeJS.Signals | null }>;
}

export interface WorkerOptions {
  readonly lock_timeout_ms?: number;
  /** Put before the command: `['strace', '-f', …]`. */
  readonly under?: readonly string[];
  /** A bundle of the worker, which starts in a third of the time; see `bundleWorker`. */
  readonly script?: string;
}

const SCRIPT = fileURLToPath(new URL('./store-worker.ts', import.meta.url));

/** The worker in one file, for tests that start thousands of them. Removed by whoever asked for it. */
export async function bundleWorker(folder: string): Promise<string> {
  // Only for these tests: it takes a while to load.
  const { build } = await import('rolldown');
  const file = join(folder, 'store-worker.mjs');
  const output = { file, format: 'esm', codeSplitting: false } as const;
  await build({ input: SCRIPT, output, platform: 'node', logLevel: 'silent' });
  return file;
}

/** A process on the store in `folder` that has loaded and waits for `go`. */
export async function startWorker(
  folder: string,
  work: readonly string[],
  { lock_timeout_ms, under = [], script = SCRIPT }: WorkerOptions = {},
): Promise<StoreWorker> {
  const [program = '', ...args] = [...under, process.execPath, script, folder, ...work];
  const env = {
    ...process.env,
    NODE_COMPILE_CACHE: join(tmpdir(), 'forge-test-compile-cache'),
    ...(lock_timeout_ms !== undefined && { LOCK_TIMEOUT_MS: String(lock_timeout_ms) }),
  };
  const child = spawn(program, args, { stdio: ['pipe', 'pipe', 'pipe'], env });
  const worker = watch(child);
  await worker.heard('ready');
  return worker;
}

/** All at the same moment; resolves when the last has ended. */
export async function raceWorkers(
  folder: string,
  count: number,
  work: readonly string[],
  options: WorkerOptions = {},
): Promise<Record<string, unknown>[][]> {
  const workers = await Promise.all(Array.from({ length: count }, () => startWorker(folder, work, options)));
  for (const worker of workers) worker.go();
  await Promise.all(workers.map((worker) => worker.ended));
  return workers.map((worker) => [...worker.said]);
}

function watch(child: ChildProcess): StoreWorker {
  const said: Record<string, unknown>[] = [];
  const waiting: { key: string; resolve: (value: unknown) => void; reject: (error: Error) => void }[] = [];
  let errors = '';
  child.stderr?.on('data', (chunk: Buffer) => (errors += chunk.toString()));
  child.stdin?.on('error', () => undefined);
  if (child.stdout === null) throw new Error('the worker has no stdout');
  const lines = createInterface({ input: child.stdout });
  lines.on('line', (line) => {
    const parsed: unknown = JSON.parse(line);
    const one = typeof parsed === 'string' ? { [parsed]: true } : (parsed as Record<string, unknown>);
    if (!('ready' in one)) said.push(one);
    const at = waiting.findIndex(({ key }) => key in one);
    if (at >= 0) for (const { key, resolve } of waiting.splice(at, 1)) resolve(one[key]);
  });
  const ended = Promise.all([once(child, 'close'), once(lines, 'close')]).then(([[code, signal]]) => {
    const error = new Error(`the worker ended (${String(code ?? signal)}): ${errors}`);
    for (const { reject } of waiting.splice(0)) reject(error);
    return { code: code as number | null, signal: signal as NodeJS.Signals | null };
  });
  return {
    said,
    go: () => child.stdin?.write('go\n'),
    heard: (key) =>
      child.exitCode === null && child.signalCode === null
        ? new Promise((resolve, reject) => waiting.push({ key, resolve, reject }))
        : Promise.reject(new Error(`the worker ended before it said ${key}: ${errors}`)),
    kill: () => child.kill('SIGKILL'),
    ended,
    [Symbol.asyncDispose]: async () => {
      child.kill('SIGKILL');
      await ended;
    },
  };
}

import { spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** One line of the report: a figure as a ratio to a baseline of the same run, held against its budget. */
export interface Result {
  readonly what: string;
  readonly baseline: string;
  readonly ratio: number;
  readonly budget: number;
  /** `at most` budgets are costs, `at least` budgets are throughput. */
  readonly sense: 'at most' | 'at least';
  /** The absolute figures, for orientation only. */
  readonly figures: string;
}

export const FORGE = join(import.meta.dirname, '../bin/forge.cjs');

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}

export interface ProcessCost {
  readonly ms: number;
  readonly rss_kb: number;
}

/**
 * Runs each command in turn, round after round, so that a noisy moment hits all of them alike; medians of the
 * wall clock and of the peak memory. The first rounds warm the compile cache and are not counted.
 */
export function measureCommands<Name extends string>(
  commands: Readonly<Record<Name, readonly string[]>>,
  options: { readonly cwd: string; readonly rounds: number },
): Record<Name, ProcessCost> {
  const names = Object.keys(commands) as Name[];
  const times = new Map<Name, number[]>(names.map((name) => [name, []]));
  const memory = new Map<Name, number[]>(names.map((name) => [name, []]));
  for (let round = -2; round < options.rounds; round += 1) {
    for (const name of names) {
      const started = performance.now();
      runNode(commands[name], options.cwd, []);
      const ms = performance.now() - started;
      if (round >= 0) times.get(name)?.push(ms);
      if (round >= 0 && round < 5) memory.get(name)?.push(peakMemory(commands[name], options.cwd));
    }
  }
  const cost = (name: Name): ProcessCost => ({
    ms: median(times.get(name) ?? []),
    rss_kb: median(memory.get(name) ?? []),
  });
  return Object.fromEntries(names.map((name) => [name, cost(name)])) as Record<Name, ProcessCost>;
}

/** The child itself tells its peak at exit; the baseline carries the same preload, so the ratio is fair. */
function peakMemory(args: readonly string[], cwd: string): number {
  const preload = ['--require', join(import.meta.dirname, 'workers/report-memory.cjs')];
  const { stderr } = runNode(args, cwd, preload);
  const found = /peak-memory-kb=(\d+)/.exec(stderr);
  return Number(found?.[1] ?? Number.NaN);
}

function runNode(
  args: readonly string[],
  cwd: string,
  flags: readonly string[],
): { stdout: string; stderr: string } {
  const result = spawnSync(process.execPath, [...flags, ...args], {
    cwd,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'pipe'],
    maxBuffer: 1e9,
  });
  if (result.status !== 0)
    throw new Error(`${args.join(' ')} exited with ${result.status}: ${result.stderr}${result.stdout}`);
  return result;
}

/** Starts all processes, waits until each says it is ready, lets them go at once, and gives their output and the time. */
export async function raceProcesses(
  commands: readonly (readonly string[])[],
  cwd: string,
): Promise<{ ms: number; outputs: string[] }> {
  const children = commands.map((args) =>
    spawn(process.execPath, args, { cwd, stdio: ['pipe', 'pipe', 'inherit'] }),
  );
  const outputs = children.map(() => '');
  await Promise.all(
    children.map(
      (child, i) =>
        new Promise<void>((resolve, reject) => {
          child.once('error', reject);
          child.once('close', (code) =>
            reject(new Error(`process ${i} ended before the start with ${code}`)),
          );
          child.stdout.on('data', (chunk: Buffer) => {
            outputs[i] += chunk.toString();
            if (outputs[i]?.startsWith('ready\n') === true) resolve();
          });
        }),
    ),
  );
  const ended = children.map(
    (child, i) =>
      new Promise<void>((resolve, reject) => {
        child.once('close', (code) =>
          code === 0 ? resolve() : reject(new Error(`process ${i} exited with ${code}`)),
        );
      }),
  );
  const started = performance.now();
  for (const child of children) child.stdin.end('go\n');
  await Promise.all(ended);
  return { ms: performance.now() - started, outputs: outputs.map((text) => text.slice('ready\n'.length)) };
}

export interface Folder extends Disposable {
  readonly path: string;
}

export function temporaryFolder(where?: 'in memory'): Folder {
  const isThere = where === 'in memory' && existsSync(MEMORY);
  const path = mkdtempSync(join(isThere ? MEMORY : tmpdir(), 'forge-bench-'));
  return { path, [Symbol.dispose]: () => rmSync(path, { recursive: true, force: true }) };
}

const MEMORY = '/dev/shm';

/** A git repository with a Forge project in it; gives the path of its database. */
export function makeProject(path: string): string {
  spawnSync('git', ['init', '--quiet', '--initial-branch=main', path]);
  runNode([FORGE, 'init'], path, []);
  return join(path, '.git/forge/forge.db');
}

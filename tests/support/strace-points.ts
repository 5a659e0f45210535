import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** What changes a disk, and the close after it. Opens count where they may make a file. */
const WRITES = [
  'write',
  'pwrite64',
  'writev',
  'pwritev',
  'fsync',
  'fdatasync',
  'rename',
  'renameat',
  'renameat2',
  'unlink',
  'unlinkat',
  'truncate',
  'ftruncate',
  'link',
  'linkat',
  'symlink',
  'symlinkat',
  'mkdir',
  'mkdirat',
  'rmdir',
  'chmod',
  'fchmod',
  'fchmodat',
  'open',
  'openat',
  'close',
  'exit_group',
] as const;

/** A command that takes longer than this, traced, waits for something that never comes. */
const HANGS_S = 30;

/** Undefined where faults can be injected; else why not, for the title of the test that is left out. */
export const WHY_NO_STRACE = findObstacle();

function findObstacle(): string | undefined {
  const folder = mkdtempSync(join(tmpdir(), 'forge-strace-'));
  try {
    const wanted = ['-f', '-o', join(folder, 'trace'), '-e', 'inject=write:signal=SIGKILL'];
    const { error, signal, stderr } = spawnSync('strace', [...wanted, 'sh', '-c', 'echo x'], {
      encoding: 'utf8',
    });
    if (error !== undefined) return 'strace is not installed';
    return signal === 'SIGKILL' ? undefined : `strace cannot inject here: ${stderr.trim()}`;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** One call of a program that writes, at which it can be stopped or made to fail. */
export interface WritePoint {
  readonly syscall: string;
  /** The how many-th call of that name it is in its thread: what strace counts. */
  readonly nth: number;
  /** Below the watched folder, with numbers that differ from run to run left out. */
  readonly path: string;
  /** The how many-th call of that name on that path it is, whatever was called between. */
  readonly turn: number;
  /** Another thread, or process, makes a call of the same name and number before it: an error comes there first. */
  readonly behind: boolean;
}

export function describePoint({ syscall, nth, path }: WritePoint): string {
  return `${syscall} #${nth} of ${path}`;
}

/** The words to put before a command so that its writes are written down in `log`. */
export function tracing(log: string): string[] {
  // strace counts in each thread; with one helper thread, Node makes the same calls in the same ones every time.
  const threads = ['-E', 'UV_THREADPOOL_SIZE=1'];
  // Not with --seccomp-bpf, which would be quicker: it injects no signals.
  return ['strace', ...threads, '-f', '-y', '-s', '0', '-o', log, '-e', `trace=${WRITES.join(',')}`];
}

/** The same, and it is killed before it gets to that point; or the call fails with `error`, if one is given. */
export function injecting(log: string, { syscall, nth }: WritePoint, error?: string): string[] {
  const fault = error === undefined ? 'signal=SIGKILL' : `error=${error}`;
  // A fault in one of Node's own pipes can make it wait for ever.
  return ['timeout', `${HANGS_S}`, ...tracing(log), '-e', `inject=${syscall}:${fault}:when=${nth}`];
}

/** Every call below `folder` that writes, in the order of the trace, and the end. */
export function readWritePoints(log: string, folder: string): WritePoint[] {
  const counts = new Map<string, number>();
  const written = new Set<string>();
  const reached = new Set<string>();
  const points: WritePoint[] = [];
  for (const line of readFileSync(log, 'utf8').split('\n')) {
    const call = parseCall(line);
    if (call === undefined) continue;
    const key = `${call.thread} ${call.syscall}`;
    const nth = (counts.get(key) ?? 0) + 1;
    counts.set(key, nth);
    const first = `${call.syscall} ${nth}`;
    const behind = reached.has(first);
    reached.add(first);
    const path = call.paths.findLast((one) => one.startsWith(`${folder}/`));
    if (path === undefined) continue;
    const isOpen = call.syscall.startsWith('open');
    if (isOpen && !/O_(CREAT|TRUNC)/.test(call.text)) {
      if (/O_(WRONLY|RDWR)/.test(call.text)) written.add(path);
      continue;
    }
    if (call.syscall === 'close' && !written.has(path)) continue;
    if (isOpen) written.add(path);
    const stable = toStablePath(path.slice(folder.length + 1));
    const place = `${call.syscall} of ${stable}`;
    const turn = (counts.get(place) ?? 0) + 1;
    counts.set(place, turn);
    points.push({ syscall: call.syscall, nth, path: stable, turn, behind });
  }
  // All is done, and whoever started it hears of a kill.
  points.push({ syscall: 'exit_group', nth: 1, path: 'the process', turn: 1, behind: false });
  return points;
}

/** Where the same call is in the trace of another run, which may have counted its calls otherwise. */
export function findAgain(log: string, folder: string, wanted: WritePoint): WritePoint | undefined {
  return readWritePoints(log, folder).find(
    ({ syscall, path, turn }) => syscall === wanted.syscall && path === wanted.path && turn === wanted.turn,
  );
}

/** Where an injected kill hit; undefined where nothing was killed. */
export function findKilled(log: string, folder: string): string | undefined {
  if (!existsSync(log)) return undefined;
  const lines = readFileSync(log, 'utf8').split('\n');
  const end = lines.findIndex((line) => line.includes('+++ killed by SIGKILL'));
  if (end < 0) return undefined;
  const last = lines.slice(0, end).findLast((line) => parseCall(line) !== undefined);
  const call = parseCall(last ?? '');
  const path = call?.paths.findLast((one) => one.startsWith(`${folder}/`)) ?? 'elsewhere';
  return `${call?.syscall ?? 'nothing'} of ${toStablePath(path.slice(path.startsWith(folder) ? folder.length + 1 : 0))}`;
}

interface Call {
  readonly thread: string;
  readonly syscall: string;
  readonly text: string;
  readonly paths: readonly string[];
}

function parseCall(line: string): Call | undefined {
  const [, thread, syscall, text] = /^(\d+) +([a-z0-9_]+)\((.*)$/.exec(line) ?? [];
  if (thread === undefined || syscall === undefined || text === undefined) return undefined;
  // Only the arguments: an open's result names its path once more.
  const args = text.replace(/\) += .*$/, '');
  const paths = [...args.matchAll(/"([^"]*)"|\d<([^>]*)>/g)].map((found) => found[1] ?? found[2] ?? '');
  return { thread, syscall, text: args, paths };
}

/** Names of temporary files hold a process id and a time. */
function toStablePath(path: string): string {
  return path.replace(/\.\d+(?:-[0-9a-z]+)*\.tmp/, '.*.tmp').replace(/merge_file_\w+/, 'merge_file_*');
}

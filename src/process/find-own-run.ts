import { readFileSync } from 'node:fs';

/** The run, or the check of an attempt, that a process was started by. */
export interface OwnRun {
  /** The git directory of its project; undefined where only a control group or a name tells of the run. */
  readonly project: string | undefined;
  /** The Forge home of the process that watches it. */
  readonly home: string | undefined;
}

/** What everything inside of a run has in its environment from the start. */
export const RUN_PROJECT = 'FORGE_RUN_PROJECT';
export const RUN_HOME = 'FORGE_RUN_HOME';
/** Where the watcher of the run listens, and what it asks for there. */
export const RUN_SOCKET = 'FORGE_SOCKET';
export const RUN_SOCKET_KEY = 'FORGE_SOCKET_KEY';

/**
 * The run that this process belongs to, also where it has changed its own environment: the environment that an ancestor
 * was started with says so, and so does the name of a control group. The outermost ancestor counts, because a program
 * inside of a run can start another one with any environment. Undefined outside of every run. Linux alone; elsewhere
 * only the environment of this process is known. `read` gives the text of a file of /proc, empty where it cannot be read.
 */
export function findOwnRun(
  env: Readonly<Record<string, string | undefined>>,
  read: (path: string) => string = readOrEmpty,
): OwnRun | undefined {
  let found = toOwnRun((name) => env[name] || undefined);
  // What names a run and not its project is of one that cannot be told.
  if (found === undefined && RUN_NAMES.some((name) => (env[name] ?? '') !== '')) found = UNKNOWN;
  if (process.platform !== 'linux') return found;
  for (let pid = process.ppid, steps = 0; pid > 0 && steps < MOST_STEPS; steps += 1) {
    found = toOwnRun(readNames(read(`/proc/${pid}/environ`))) ?? found;
    pid = toParent(read(`/proc/${pid}/status`));
  }
  return found ?? (RUN_GROUP.test(read('/proc/self/cgroup')) ? UNKNOWN : undefined);
}

const RUN_NAMES = ['FORGE_RUN_ID', 'FORGE_ATTEMPT_ID'] as const;
const UNKNOWN: OwnRun = { project: undefined, home: undefined };

/** A chain of processes that is longer is none that a person made. */
const MOST_STEPS = 1_000;

/** The control group that a run is put in. */
const RUN_GROUP = /\/forge-[0-9a-f]{20}(?:\/|$)/m;

function readNames(environ: string): (name: string) => string | undefined {
  const entries = environ.split('\0');
  return (name) => entries.find((one) => one.startsWith(`${name}=`))?.slice(name.length + 1);
}

function toOwnRun(read: (name: string) => string | undefined): OwnRun | undefined {
  const [project, home] = [read(RUN_PROJECT), read(RUN_HOME)];
  return project === undefined || home === undefined ? undefined : { project, home };
}

function toParent(status: string): number {
  return Number(/^PPid:\s*(\d+)$/m.exec(status)?.[1] ?? 0);
}

function readOrEmpty(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    // It has ended, or belongs to another user.
    return '';
  }
}

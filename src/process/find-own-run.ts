import { readFileSync, statfsSync } from 'node:fs';

/** The run, or the check of an attempt, that a process was started by. */
export interface OwnRun {
  /** The git directory of its project; undefined where only a control group or a name tells of the run. */
  readonly project: string | undefined;
  /** The Forge home of the process that watches it. */
  readonly home: string | undefined;
  /** Whether this process belongs to a run cannot be told, because the table of processes cannot be read. */
  readonly is_unread?: true;
}

/** The table of processes. */
export interface ProcessTable {
  /** The text of one of its files; empty where it cannot be read. */
  readonly read: (path: string) => string;
  /** Whether a file system of the kernel's lies at /proc. */
  readonly isReal: () => boolean;
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
 * only the environment of this process is known. A run can cover /proc, or processes in it, with something else, so then
 * it cannot be told. Ancestors of other users and those outside of a container are not seen, and count for nothing.
 */
export function findOwnRun(
  env: Readonly<Record<string, string | undefined>>,
  table: ProcessTable = TABLE,
): OwnRun | undefined {
  let found = toOwnRun((name) => env[name] || undefined);
  // What names a run and not its project is of one that cannot be told.
  if (found === undefined && RUN_NAMES.some((name) => (env[name] ?? '') !== '')) found = UNKNOWN;
  if (process.platform !== 'linux') return found;
  const { read } = table;
  // By the numbers of the table: they are not those of this process where it has a namespace of its own.
  const own = read('/proc/self/status');
  for (let pid = toParent(own), steps = 0; pid > 0 && steps < MOST_STEPS; steps += 1) {
    found = toOwnRun(readNames(read(`/proc/${pid}/environ`))) ?? found;
    pid = toParent(read(`/proc/${pid}/status`));
  }
  if (found !== undefined) return found;
  if (RUN_GROUP.test(read('/proc/self/cgroup'))) return UNKNOWN;
  const isWhole = own !== '' && table.isReal() && !COVERED.test(read('/proc/self/mountinfo'));
  return isWhole ? undefined : UNREAD;
}

const RUN_NAMES = ['FORGE_RUN_ID', 'FORGE_ATTEMPT_ID'] as const;
const UNKNOWN: OwnRun = { project: undefined, home: undefined };
const UNREAD: OwnRun = { ...UNKNOWN, is_unread: true };

/** A mount on a process of the table. Containers cover files of the system there, and no processes. */
const COVERED = /^\S+ \S+ \S+ \S+ \/proc\/(?:\d+|self|thread-self)(?:\/| )/m;

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

const TABLE: ProcessTable = {
  read: readOrEmpty,
  isReal() {
    try {
      return statfsSync('/proc').type === PROC_SUPER_MAGIC;
    } catch {
      return false;
    }
  },
};

/** Of linux/magic.h. */
const PROC_SUPER_MAGIC = 0x9fa0;

function readOrEmpty(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    // It has ended, or belongs to another user.
    return '';
  }
}

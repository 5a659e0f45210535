import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { ForgeError } from '#kernel/errors.ts';
import { findCgroupFolder, openCgroup } from './supervisor/cgroup.ts';
import { findProgram } from './supervisor/find-program.ts';
import { openProcessTable, type ProcessTable } from './supervisor/process-table.ts';
import { inCgroup, inPidNamespace } from './supervisor/wrap-command.ts';

/**
 * How what a run starts is kept together.
 * - `cgroup`: the kernel lists and kills all of it.
 * - `pid_namespace`: the kernel kills all of it when its first process ends. Numbers of processes mean something else
 *   inside than outside.
 * - `marker`: by descent, session and a mark in the environment. One that leaves its parents and its session and
 *   clears its environment, all within a quarter of a second, is not found.
 */
export type ContainmentKind = 'cgroup' | 'pid_namespace' | 'marker';

export type Containment =
  | { readonly kind: 'cgroup'; readonly folder: string }
  | { readonly kind: 'pid_namespace'; readonly unshare: readonly string[] }
  | { readonly kind: 'marker' };

/** What supervising needs to know of this machine; one serves all runs. */
export interface ProcessHost {
  readonly containment: Containment;
  readonly table: ProcessTable;
}

const BEST_FIRST: readonly ContainmentKind[] = ['cgroup', 'pid_namespace', 'marker'];

/**
 * Finds out by trying what the machine allows and takes the first kind of `accept` that works; `marker` always does.
 * Costs some starts of small programs, so it is done once.
 */
export async function openProcessHost(
  options: { readonly accept?: readonly ContainmentKind[] } = {},
): Promise<ProcessHost> {
  if (process.platform === 'win32') {
    throw new ForgeError('not_available', 'Agents cannot be supervised on Windows', {
      hint: 'Run Forge inside of WSL',
    });
  }
  const table = openProcessTable();
  for (const kind of options.accept ?? BEST_FIRST) {
    const containment = await PROBES[kind]();
    if (containment !== undefined) return { containment, table };
  }
  return { containment: { kind: 'marker' }, table };
}

const PROBES: Record<ContainmentKind, () => Promise<Containment | undefined>> = {
  cgroup: probeCgroup,
  pid_namespace: probePidNamespace,
  marker: async () => ({ kind: 'marker' }),
};

async function probeCgroup(): Promise<Containment | undefined> {
  const parent = findCgroupFolder();
  if (parent === undefined) return undefined;
  const group = openCgroup(parent, { name: 'probe', value: String(process.pid) });
  if (group === undefined) return undefined;
  // It waits until it is killed by its group, or, where groups cannot do that (Linux before 5.14), let go.
  const argv = ['/bin/sh', '-c', 'echo; read line; exit 7'];
  const [program = '', ...args] = inCgroup(group.folder, { argv, env: {} });
  const child = spawn(program, args, { stdio: ['pipe', 'pipe', 'ignore'] });
  child.stdin.on('error', () => {});
  try {
    const ended = once(child, 'exit');
    await once(child.stdout, 'data');
    group.kill();
    child.stdin.end();
    const [, signal]: unknown[] = await ended;
    return signal === 'SIGKILL' ? { kind: 'cgroup', folder: parent } : undefined;
  } catch {
    return undefined;
  } finally {
    group.remove();
  }
}

const NEW_PIDS = ['--pid', '--fork', '--kill-child', '--mount-proc'];

async function probePidNamespace(): Promise<Containment | undefined> {
  // By its full path: a run's own PATH must not decide what holds it.
  const program = findProgram('unshare', { cwd: '/', path: '/usr/bin:/bin:/usr/local/bin' });
  if (process.platform !== 'linux' || program === undefined) return undefined;
  for (const user of [[], ['--user', '--map-current-user']]) {
    const unshare = [program, ...user, ...NEW_PIDS];
    const argv = inPidNamespace(unshare, { argv: ['/bin/sh', '-c', 'exit 7'], env: {} });
    if (await answersSeven(argv)) return { kind: 'pid_namespace', unshare };
  }
  return undefined;
}

async function answersSeven([program = '', ...args]: readonly string[]): Promise<boolean> {
  const child = spawn(program, args, { stdio: 'ignore' });
  try {
    const [exit]: unknown[] = await once(child, 'exit');
    return exit === 7;
  } catch {
    return false;
  }
}

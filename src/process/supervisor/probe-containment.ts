import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { LIMITS } from '#kernel/limits.ts';
import { findCgroupFolder, openCgroup, sweepEmptyGroups } from './cgroup.ts';
import { toBubblewrap } from '../walls/to-bubblewrap.ts';
import { findProgram } from './find-program.ts';
import { START_FD, wrapCommand, type Namespace } from './wrap-command.ts';

/** By their full paths: a run's own PATH must not decide what holds it. */
const PLACES = '/usr/bin:/bin:/usr/local/bin:/usr/sbin:/sbin';

/** Undefined where no such namespace can be made. */
export async function probeUnshare(): Promise<Namespace | undefined> {
  const unshare = find('unshare');
  const setpriv = find('setpriv');
  if (process.platform !== 'linux' || unshare === undefined || setpriv === undefined) return undefined;
  const dying = [setpriv, '--pdeathsig', 'KILL', '--', unshare];
  const numbers = ['--pid', '--fork', '--kill-child', '--mount-proc', '--propagation', 'slave'];
  // With the rights of the new namespace the first process can choose its numbers; the program must not have them.
  const drop = [setpriv, '--ambient-caps=-all', '--inh-caps=-all', '--'];
  const forms = [
    { argv: [...dying, ...numbers], drop: [], of_users: false },
    { argv: [...dying, '--user', '--map-current-user', '--keep-caps', ...numbers], drop, of_users: true },
    { argv: [...dying, '--user', '--map-current-user', ...numbers], drop: [], of_users: true },
  ];
  for (const form of forms) {
    const namespace: Namespace = { kind: 'pid_namespace', ...form };
    if (await works(namespace)) return namespace;
  }
  return undefined;
}

/** Only what holds processes: files, users and the network inside are those outside. */
export async function probeBubblewrap(): Promise<Namespace | undefined> {
  const bwrap = find('bwrap');
  if (process.platform !== 'linux' || bwrap === undefined) return undefined;
  const argv = [bwrap, '--die-with-parent', '--unshare-pid', '--dev-bind', '/', '/', '--proc', '/proc', '--'];
  const of_users = process.getuid?.() !== 0;
  const namespace: Namespace = { kind: 'bubblewrap', argv, drop: [], of_users };
  return (await works(namespace)) ? namespace : undefined;
}

/** The program that builds walls, where it can: namespaces of users may be forbidden. */
export async function probeWalls(): Promise<string | undefined> {
  const bwrap = find('bwrap');
  if (process.platform !== 'linux' || bwrap === undefined) return undefined;
  const work = { path: '/', read_only: true };
  const none = { writable: [], replaced: [], own: [], fixed: [], hidden: [], sealed: [] };
  const walls = { work, ...none, let_in: [], readable: [] };
  const found = { installed: [], sockets: [], home: undefined, temporary: undefined };
  const argv = toBubblewrap(bwrap, { walls, ...found });
  const namespace: Namespace = { kind: 'bubblewrap', argv, drop: [], of_users: true };
  return (await works(namespace)) ? bwrap : undefined;
}

let probes = 0;

/** The folder in which groups can be made whose members can be killed all at once. */
export async function probeCgroup(): Promise<string | undefined> {
  const parent = findCgroupFolder();
  if (parent === undefined) return undefined;
  sweepEmptyGroups(parent, { older_ms: LIMITS.empty_group_ms });
  // Each has its own: several of one process at the same time would kill one another's programs.
  probes += 1;
  const group = openCgroup(parent, { name: 'probe', value: `${process.pid}-${probes}` });
  if (group === undefined) return undefined;
  // It waits until it is killed by its group, or, where groups cannot do that (Linux before 5.14), let go.
  const [program = '', ...args] = wrapCommand({ argv: ['/bin/false'], env: {} }, { cgroup: group.folder });
  const child = spawn(program, args, { stdio: ['ignore', 'ignore', 'ignore', 'pipe'] });
  const pipe = child.stdio[START_FD];
  pipe?.on('error', () => {});
  try {
    const ended = once(child, 'exit');
    // One that is killed before it says a word is no reason to wait for ever.
    if (pipe !== null && pipe !== undefined) await Promise.race([once(pipe, 'data'), ended]);
    const isInside = group.listPids().includes(child.pid ?? 0);
    group.kill();
    pipe?.destroy();
    const [, signal]: unknown[] = await ended;
    return isInside && signal === 'SIGKILL' ? parent : undefined;
  } catch {
    return undefined;
  } finally {
    group.remove();
  }
}

/** Starts the real thing, and wants its exit code. */
async function works(namespace: Namespace): Promise<boolean> {
  // What it has for its own number can be looked up under /proc: that is of the new namespace too.
  const script = 'test -d "/proc/$$" && exit 7';
  const [program = '', ...args] = wrapCommand({ argv: ['/bin/sh', '-c', script], env: {} }, { namespace });
  const child = spawn(program, args, { stdio: ['ignore', 'ignore', 'ignore', 'pipe'], env: {}, cwd: '/' });
  const pipe = child.stdio[START_FD];
  pipe?.on('error', () => {});
  pipe?.on('data', () => {
    if (pipe !== null && 'write' in pipe) pipe.write('go\n');
  });
  try {
    const [exit]: unknown[] = await once(child, 'exit');
    return exit === 7;
  } catch {
    return false;
  }
}

function find(program: string): string | undefined {
  return findProgram(program, { cwd: '/', path: PLACES });
}

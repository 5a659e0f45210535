import type { ChildProcess } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Duplex } from 'node:stream';
import { LIMITS } from '#kernel/limits.ts';
import type { ContainmentKind, ProcessHost } from '../process-host.ts';
import { OUTER_NAMESPACES, readNamespace } from '../read-place.ts';
import { openCgroup, type Cgroup } from './cgroup.ts';
import { findProgram, isFolder } from './find-program.ts';
import { openFifos } from './open-fifos.ts';
import { fromStream, type OutputSource } from './output-source.ts';
import type { Marker, ProcessRow } from './process-table.ts';
import { findInstalled } from '../walls/find-installed.ts';
import { findSockets } from '../walls/find-sockets.ts';
import { toBubblewrap } from '../walls/to-bubblewrap.ts';
import type { Walls } from '../walls.ts';
import { START_FD, wrapCommand, type Namespace } from './wrap-command.ts';

export interface SpawnSpec {
  /** The program and its arguments; no shell looks at them. */
  readonly argv: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  readonly marker: Marker;
  readonly stdin: 'pipe' | 'none' | { readonly text: string };
  /**
   * Where output goes. A program that opens /dev/stdout or /dev/stderr needs `fifos`, which cost the start of a small
   * program; `sockets` unless said.
   */
  readonly output?: 'sockets' | 'fifos';
  /** What it can reach; all that its user can, where this is left out. */
  readonly walls?: Walls | undefined;
  readonly host: ProcessHost;
}

export interface Spawned {
  readonly child: ChildProcess;
  readonly stdout: OutputSource;
  readonly stderr: OutputSource;
  readonly root: ProcessRow;
  readonly cgroup: Cgroup | undefined;
  readonly containment: ContainmentKind;
  /** To be called when nothing of it is left: the guard looks for it no more. */
  readonly release: () => void;
}

/**
 * Starts the program in a session of its own. It begins only when everything that ends it with this process stands.
 * A string says why it did not start.
 */
export async function spawnContained(spec: SpawnSpec): Promise<Spawned | string> {
  const fault = findStartFault(spec);
  if (fault !== undefined) return fault;
  for (let tries = 1; ; tries += 1) {
    const spawned = await spawnOnce(spec);
    // Walls are built from what is there now: a folder or a socket that another program removes meanwhile ends it.
    const isAgain = typeof spawned === 'string' && spec.walls !== undefined && tries < LIMITS.walls_tries;
    if (!isAgain) return spawned;
    await sleep(tries * WALLS_PAUSE_MS);
  }
}

const WALLS_PAUSE_MS = 20;

async function spawnOnce(spec: SpawnSpec): Promise<Spawned | string> {
  const { spawn } = await import('node:child_process');
  const { containment, table } = spec.host;
  const { cgroup_folder } = containment;
  const walled = spec.walls === undefined ? undefined : await toWalled(spec, spec.walls);
  if (typeof walled === 'string') return walled;
  const namespace = walled ?? containment.namespace;
  const fifos = spec.output === 'fifos' ? await openFifos() : undefined;
  const cgroup = cgroup_folder === undefined ? undefined : openCgroup(cgroup_folder, spec.marker);
  const [program = '', ...args] = wrapCommand(spec, { cgroup: cgroup?.folder, namespace });
  const undo = (error: unknown) => {
    cgroup?.remove();
    fifos?.read.forEach((stream) => stream.destroy());
    return error instanceof Error ? error.message : String(error);
  };
  let child: ChildProcess;
  try {
    child = spawn(program, args, {
      cwd: spec.cwd,
      env: toEnvironment(spec),
      stdio: [spec.stdin === 'none' ? 'ignore' : 'pipe', ...(fifos?.write ?? PIPES), 'pipe'],
      detached: true,
    });
  } catch (error) {
    // Arguments that no program can have, or too many of them.
    return undo(error);
  } finally {
    fifos?.closeWriters();
  }
  const pid = child.pid;
  if (pid === undefined) return new Promise((say) => child.once('error', (error) => say(undo(error))));
  child.on('error', () => {});
  const root = table.find(pid) ?? toUnseen(pid);
  const [stdout, stderr] = fifos?.read ?? [fromStream(child.stdout), fromStream(child.stderr)];
  try {
    const release = await letGo(child, { spec, root, cgroup });
    const kind = namespace?.kind ?? containment.kind;
    return { child, stdout, stderr, root, cgroup, containment: kind, release };
  } catch (error) {
    const said = await readLast(stderr);
    child.stdin?.destroy();
    stdout.destroy();
    stderr.destroy();
    const why = undo(error);
    return said === '' ? why : `${why}: ${said}`;
  }
}

/** What the program that builds walls had to say, which has ended. */
async function readLast(stderr: OutputSource): Promise<string> {
  const chunks: string[] = [];
  const reading = stderr.read((chunk) => void chunks.push(String(chunk))).catch(() => undefined);
  await Promise.race([reading, sleep(LAST_WORDS_MS)]);
  return chunks.join('').trim().slice(-LAST_WORDS_LENGTH);
}

const LAST_WORDS_MS = 200;
const LAST_WORDS_LENGTH = 300;

/** A run that was to have walls does not start without them. */
async function toWalled({ argv, cwd, env, host }: SpawnSpec, walls: Walls): Promise<Namespace | string> {
  const bwrap = await host.bubblewrap();
  if (bwrap === undefined) return 'bubblewrap does not work here, so there are no walls around it';
  const installed = findInstalled(argv, { cwd, path: env['PATH'] ?? '/bin:/usr/bin' });
  const { HOME: home, TMPDIR: temporary } = env;
  const make = toBubblewrap(bwrap, { walls, installed, sockets: findSockets(), home, temporary });
  return { kind: 'bubblewrap', argv: make, drop: [], of_users: true, closes_by: findShell() };
}

/** The plain shell of many systems knows numbers of one digit only. */
function findShell(): string {
  return findProgram('bash', { cwd: '/', path: '/usr/bin:/bin:/usr/local/bin' }) ?? '/bin/sh';
}

const PIPES = ['pipe', 'pipe'] as const;

function toEnvironment({ env, marker, host, walls }: SpawnSpec): Record<string, string> {
  const own = { ...env, [marker.name]: marker.value };
  if (host.containment.namespace === undefined && walls === undefined) return own;
  // For a Forge inside: who looks at its process number from there can tell whether it is still alive.
  const outer = [readNamespace('self'), process.env[OUTER_NAMESPACES] ?? ''].filter((name) => name !== '');
  return { ...own, [OUTER_NAMESPACES]: outer.join(',') };
}

/** Waits until it is held, tells the guard, and lets it go. What did not get there is killed. */
async function letGo(
  child: ChildProcess,
  { spec, root, cgroup }: { spec: SpawnSpec; root: ProcessRow; cgroup: Cgroup | undefined },
): Promise<() => void> {
  const pipe = child.stdio[START_FD] as Duplex; // asked for above
  pipe.on('error', () => {});
  try {
    await awaitHeld(child, pipe);
    const { pid, start_time } = root;
    const run = { pid, start_time, marker: spec.marker, cgroup: cgroup?.folder };
    const release = (await spec.host.guard?.add(run)) ?? (() => {});
    pipe.end('go\n');
    return release;
  } catch (error) {
    child.kill('SIGKILL');
    pipe.destroy();
    throw error;
  }
}

function awaitHeld(child: ChildProcess, pipe: Duplex): Promise<void> {
  return new Promise((resolve, reject) => {
    const late = setTimeout(
      () => reject(new Error(`The program was not ready to start after ${LIMITS.run_start_ms / 1000} s`)),
      LIMITS.run_start_ms,
    );
    const onExit = (exit: number | null, signal: string | null): void => {
      clearTimeout(late);
      reject(new Error(`The program ended before it began (${signal ?? `exit code ${exit ?? '?'}`})`));
    };
    child.once('exit', onExit);
    pipe.once('data', () => {
      clearTimeout(late);
      child.off('exit', onExit);
      resolve();
    });
  });
}

/** Said here for every containment alike: a program that starts another one only has an exit code for it. */
function findStartFault({ argv, cwd, env }: SpawnSpec): string | undefined {
  const command = argv[0] ?? '';
  if (!isFolder(cwd)) return `${cwd} is not a folder`;
  const found = findProgram(command, { cwd, path: env['PATH'] ?? '/bin:/usr/bin' });
  return found === undefined ? `${command} is not a program that can be run` : undefined;
}

/** A process cannot be gone before this one has noticed its end, unless the table cannot be read at all. */
function toUnseen(pid: number): ProcessRow {
  return { pid, ppid: process.pid, group: pid, session: pid, start_time: 0, dead: false, cpu_ms: 0 };
}

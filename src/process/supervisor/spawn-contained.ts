import type { ChildProcess } from 'node:child_process';
import type { ContainmentKind, ProcessHost } from '../process-host.ts';
import { openCgroup, type Cgroup } from './cgroup.ts';
import { findProgram, isFolder } from './find-program.ts';
import { openFifos } from './open-fifos.ts';
import { fromStream, type OutputSource } from './output-source.ts';
import type { Marker, ProcessRow } from './process-table.ts';
import { inCgroup, inPidNamespace } from './wrap-command.ts';

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
  readonly host: ProcessHost;
}

export interface Spawned {
  readonly child: ChildProcess;
  readonly stdout: OutputSource;
  readonly stderr: OutputSource;
  readonly root: ProcessRow;
  readonly cgroup: Cgroup | undefined;
  readonly containment: ContainmentKind;
}

/** Starts the program in a session of its own. A string says why it did not start. */
export async function spawnContained(spec: SpawnSpec): Promise<Spawned | string> {
  const fault = findStartFault(spec);
  if (fault !== undefined) return fault;
  const { spawn } = await import('node:child_process');
  const { containment, table } = spec.host;
  const fifos = spec.output === 'fifos' ? await openFifos() : undefined;
  const cgroup = containment.kind === 'cgroup' ? openCgroup(containment.folder, spec.marker) : undefined;
  const [program = '', ...args] = wrap(spec, cgroup);
  const undo = (error: unknown) => {
    cgroup?.remove();
    fifos?.read.forEach((stream) => stream.destroy());
    return error instanceof Error ? error.message : String(error);
  };
  let child: ChildProcess;
  try {
    child = spawn(program, args, {
      cwd: spec.cwd,
      env: { ...spec.env, [spec.marker.name]: spec.marker.value },
      stdio: [spec.stdin === 'none' ? 'ignore' : 'pipe', ...(fifos?.write ?? PIPES)],
      detached: true,
    });
  } catch (error) {
    // Arguments that no program can have, or too many of them.
    return undo(error);
  } finally {
    fifos?.closeWriters();
  }
  if (child.pid === undefined) return new Promise((say) => child.once('error', (error) => say(undo(error))));
  child.on('error', () => {});
  const root = table.find(child.pid) ?? toUnseen(child.pid);
  const [stdout, stderr] = fifos?.read ?? [fromStream(child.stdout), fromStream(child.stderr)];
  return { child, stdout, stderr, root, cgroup, containment: containment.kind };
}

const PIPES = ['pipe', 'pipe'] as const;

/** Said here for every containment alike: a program that starts another one only has an exit code for it. */
function findStartFault({ argv, cwd, env }: SpawnSpec): string | undefined {
  const command = argv[0] ?? '';
  if (!isFolder(cwd)) return `${cwd} is not a folder`;
  const found = findProgram(command, { cwd, path: env['PATH'] ?? '/bin:/usr/bin' });
  return found === undefined ? `${command} is not a program that can be run` : undefined;
}

function wrap(spec: SpawnSpec, cgroup: Cgroup | undefined): readonly string[] {
  const { containment } = spec.host;
  if (containment.kind === 'pid_namespace') return inPidNamespace(containment.unshare, spec);
  return cgroup === undefined ? spec.argv : inCgroup(cgroup.folder, spec);
}

/** A process cannot be gone before this one has noticed its end, unless the table cannot be read at all. */
function toUnseen(pid: number): ProcessRow {
  return { pid, ppid: process.pid, group: pid, session: pid, start_time: 0, dead: false, cpu_ms: 0 };
}

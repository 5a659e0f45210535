import { LIMITS } from '#kernel/limits.ts';
import type { ContainmentKind } from './process-host.ts';
import { toIdentity, type ProcessIdentity } from './process-identity.ts';
import type { OutputLine } from './supervisor/line-splitter.ts';
import { spawnContained, type SpawnSpec } from './supervisor/spawn-contained.ts';
import { Supervision } from './supervisor/supervision.ts';

export type { OutputLine } from './supervisor/line-splitter.ts';
export type { Marker } from './supervisor/process-table.ts';

/** `Number.POSITIVE_INFINITY` is no limit; what is left out has the value of LIMITS. */
export interface RunLimits {
  readonly total_ms: number;
  /** Without a byte of output. Time in which a handler keeps the program waiting does not count. */
  readonly idle_ms: number;
  /** Of both streams together. */
  readonly output_bytes: number;
  /** Of all its processes together, looked at every quarter of a second. */
  readonly memory_bytes?: number;
  readonly line_bytes?: number;
  readonly grace_ms?: number;
  readonly kill_ms?: number;
  readonly drain_ms?: number;
}

export interface SuperviseSpec extends SpawnSpec {
  readonly limits: RunLimits;
}

export interface SuperviseHandlers {
  /** Called once a line, in the order of each stream. A promise makes the program wait; a throw ends the run. */
  line(stream: 'stdout' | 'stderr', line: OutputLine): void | Promise<void>;
}

export type EndReason =
  | 'exited'
  | 'stopped'
  | 'total_timeout'
  | 'idle_timeout'
  | 'output_limit'
  | 'memory_limit'
  | 'start_failed';

export interface Ended {
  /**
   * Null when a signal ended it. In a pid namespace exit codes above 128 are signals, as shells say it: there the
   * two cannot be told apart.
   */
  readonly exit: number | null;
  readonly signal: string | null;
  readonly reason: EndReason;
  /** Why it did not start; else undefined. */
  readonly error: string | undefined;
  /** Processes of the run that are still there although they were killed; zero but for a fault of the system. */
  readonly survivors: number;
  readonly containment: ContainmentKind;
  /** As written: redact it before it is kept or shown. */
  readonly stderr_tail: string;
  readonly output_bytes: number;
  /** At least this much: seen by samples, exact only for the time in a cgroup. Memory in bytes. */
  readonly usage: { readonly cpu_ms: number; readonly max_rss: number };
}

export interface Supervised extends AsyncDisposable {
  readonly pid: number | undefined;
  readonly identity: ProcessIdentity | undefined;
  /** Resolves when the program's pipe has taken it. `closed`: it reads no more. */
  write(text: string): Promise<'written' | 'closed'>;
  endInput(): void;
  /** SIGTERM to all its processes, grace, SIGKILL, sweep. The first call counts; after the end it does nothing. */
  stop(options?: { readonly grace_ms?: number }): Promise<Ended>;
  /** Only after nothing of it is alive. Rejects with what a handler threw, and with nothing else. */
  readonly done: Promise<Ended>;
}

/**
 * Starts a program in a session of its own and stays with all it starts until nothing of it is left, however it
 * ends. The environment is exactly `env` and the marker, which must be of this run alone: whatever carries it when
 * the run ends is ended too. Does not throw when the program cannot be started; `done` says so.
 */
export async function startSupervised(spec: SuperviseSpec, handlers: SuperviseHandlers): Promise<Supervised> {
  const spawned = await spawnContained(spec);
  if (typeof spawned === 'string') return notStarted(spec, spawned);
  const limits = {
    memory_bytes: Number.POSITIVE_INFINITY,
    line_bytes: LIMITS.run_line_bytes,
    grace_ms: LIMITS.run_grace_ms,
    kill_ms: LIMITS.run_kill_ms,
    drain_ms: LIMITS.run_drain_ms,
    ...spec.limits,
  };
  const supervision = new Supervision({ spawned, limits, handlers, spec });
  return {
    pid: spawned.root.pid,
    identity: toIdentity(spawned.root),
    write: (text) => supervision.write(text),
    endInput: () => supervision.endInput(),
    stop: (options) => supervision.stop(options?.grace_ms),
    done: supervision.done,
    async [Symbol.asyncDispose]() {
      await supervision.stop();
    },
  };
}

function notStarted({ host }: SuperviseSpec, error: string): Supervised {
  const ended: Ended = {
    exit: null,
    signal: null,
    reason: 'start_failed',
    error,
    survivors: 0,
    containment: host.containment.kind,
    stderr_tail: '',
    output_bytes: 0,
    usage: { cpu_ms: 0, max_rss: 0 },
  };
  return {
    pid: undefined,
    identity: undefined,
    write: async () => 'closed',
    endInput: () => {},
    stop: async () => ended,
    done: Promise.resolve(ended),
    [Symbol.asyncDispose]: async () => {},
  };
}

import { constants } from 'node:os';
import { LIMITS } from '#kernel/limits.ts';
import type { ContainmentKind } from '../process-host.ts';
import type { Ended, EndReason, RunLimits, SuperviseHandlers, SuperviseSpec } from '../supervise.ts';
import { endTree } from './end-tree.ts';
import type { OutputLine } from './line-splitter.ts';
import type { OutputSource } from './output-source.ts';
import { OutputTail } from './output-tail.ts';
import type { ProcessRow } from './process-table.ts';
import { createProcessTree, type ProcessTree } from './process-tree.ts';
import { pumpLines } from './pump-lines.ts';
import type { Spawned } from './spawn-contained.ts';

interface Setup {
  readonly spawned: Spawned;
  readonly limits: Required<RunLimits>;
  readonly handlers: SuperviseHandlers;
  readonly spec: SuperviseSpec;
}

interface Exit {
  readonly exit: number | null;
  readonly signal: string | null;
}

/** One program from its start until nothing of it is left. */
export class Supervision {
  readonly done: Promise<Ended>;
  readonly #setup: Setup;
  readonly #tree: ProcessTree;
  readonly #started = performance.now();
  readonly #asked = Promise.withResolvers<void>();
  readonly #tail = new OutputTail(LIMITS.run_stderr_tail_bytes);
  #reason: EndReason | undefined;
  #grace_ms: number;
  #fault: { readonly thrown: unknown } | undefined;
  #timer: NodeJS.Timeout | undefined;
  #output_bytes = 0;
  #last_output = this.#started;
  /** Handlers at work. */
  #waiting = 0;
  /** Grows with everything that is read or handled. */
  #progress = 0;
  #cpu_ms = 0;
  #max_rss = 0;

  constructor(setup: Setup) {
    const { spawned, spec, limits } = setup;
    const { root, cgroup } = spawned;
    this.#setup = setup;
    this.#grace_ms = limits.grace_ms;
    this.#tree = createProcessTree({ table: spec.host.table, marker: spec.marker, root, cgroup });
    this.done = this.#supervise();
    const one = { killNow: () => this.#killNow() };
    spec.host.live.add(one);
    const forget = (): void => void spec.host.live.delete(one);
    this.done.then(forget, forget);
    // Whoever waits for it hears of a rejection; whoever does not must not end the server.
    this.done.catch(() => {});
  }

  async write(text: string): Promise<'written' | 'closed'> {
    const { stdin } = this.#setup.spawned.child;
    if (stdin === null || !stdin.writable) return 'closed';
    return new Promise((resolve) => {
      stdin.write(text, (error) => resolve(error === null || error === undefined ? 'written' : 'closed'));
    });
  }

  endInput(): void {
    this.#setup.spawned.child.stdin?.end();
  }

  stop(grace_ms: number = this.#grace_ms): Promise<Ended> {
    this.#end('stopped', grace_ms);
    return this.done;
  }

  /** The first reason stays. */
  #end(reason: EndReason, grace_ms: number = this.#grace_ms): void {
    if (this.#reason !== undefined) return;
    this.#reason = reason;
    this.#grace_ms = grace_ms;
    this.#asked.resolve();
  }

  async #supervise(): Promise<Ended> {
    const { spawned, limits } = this.#setup;
    const { child, stdout, stderr } = spawned;
    const exit = this.#awaitExit();
    this.#feedInput();
    const output = Promise.all([this.#read(stdout, 'stdout'), this.#read(stderr, 'stderr')]);
    this.#watchLater(limits.total_ms, limits.idle_ms);
    await Promise.race([exit, this.#asked.promise]);
    clearTimeout(this.#timer);
    const survivors = await this.#endAll();
    await this.#drain(output);
    child.stdin?.destroy();
    return this.#report(survivors === 0 ? await exit : await Promise.race([exit, UNKNOWN_EXIT]), survivors);
  }

  #awaitExit(): Promise<Exit> {
    const { child, containment } = this.#setup.spawned;
    return new Promise((resolve) => {
      child.once('exit', (exit, signal) => {
        this.#end('exited');
        this.#tree.noteRootEnded();
        resolve(isNamespace(containment) ? fromShell(exit, signal) : { exit, signal });
      });
    });
  }

  #feedInput(): void {
    const { spawned, spec } = this.#setup;
    // A program that does not read what it is given is no fault of ours.
    spawned.child.stdin?.on('error', () => {});
    if (typeof spec.stdin === 'object') spawned.child.stdin?.end(spec.stdin.text);
  }

  async #read(source: OutputSource, name: 'stdout' | 'stderr'): Promise<void> {
    try {
      await pumpLines(source, {
        line_bytes: this.#setup.limits.line_bytes,
        admit: (chunk) => this.#admit(chunk, name),
        take: (line) => this.#take(name, line),
      });
    } catch (thrown) {
      this.#fault ??= { thrown };
      this.#end('stopped');
      source.skip();
    }
  }

  #admit(chunk: Buffer, name: 'stdout' | 'stderr'): number {
    this.#progress += 1;
    this.#last_output = performance.now();
    const room = Math.max(0, this.#setup.limits.output_bytes - this.#output_bytes);
    this.#output_bytes += chunk.length;
    const admitted = Math.min(room, chunk.length);
    if (name === 'stderr') this.#tail.push(chunk.subarray(0, admitted));
    if (admitted < chunk.length) this.#end('output_limit');
    return admitted;
  }

  #take(name: 'stdout' | 'stderr', line: OutputLine): void | Promise<void> {
    const handled = this.#setup.handlers.line(name, line);
    return handled === undefined ? undefined : this.#waitFor(handled);
  }

  async #waitFor(handled: Promise<void>): Promise<void> {
    this.#waiting += 1;
    try {
      await handled;
    } finally {
      this.#waiting -= 1;
      this.#progress += 1;
      this.#last_output = performance.now();
    }
  }

  #watch(): void {
    const { total_ms, idle_ms, memory_bytes } = this.#setup.limits;
    const now = performance.now();
    const total_left = this.#started + total_ms - now;
    const idle_left = this.#waiting > 0 ? idle_ms : this.#last_output + idle_ms - now;
    if (total_left <= 0) return this.#end('total_timeout');
    if (idle_left <= 0) return this.#end('idle_timeout');
    if (this.#measure() > memory_bytes) return this.#end('memory_limit');
    this.#watchLater(total_left, idle_left);
  }

  /** At the next sample, or when one of these times is over. */
  #watchLater(...left_ms: readonly number[]): void {
    const next_ms = Math.ceil(Math.min(LIMITS.run_sample_ms, ...left_ms));
    this.#timer = setTimeout(() => this.#watch(), next_ms);
  }

  #measure(): number {
    const { table } = this.#setup.spec.host;
    const members = this.#tree.sample(LIMITS.run_sample_ms * 0.8);
    const memory = members.reduce((sum, { pid }) => sum + table.measureMemory(pid), 0);
    this.#cpu_ms = Math.max(
      this.#cpu_ms,
      members.reduce((sum, { cpu_ms }) => sum + cpu_ms, 0),
    );
    this.#max_rss = Math.max(this.#max_rss, memory);
    return memory;
  }

  #endAll(): Promise<number> {
    const { spawned, spec, limits } = this.#setup;
    const { root, cgroup, containment } = spawned;
    return endTree({
      table: spec.host.table,
      tree: this.#tree,
      cgroup,
      grace_ms: this.#grace_ms,
      kill_ms: limits.kill_ms,
      // The two that hold the namespace: without them the rest is killed at once.
      ...(isNamespace(containment) && {
        spare: ({ pid, ppid }: ProcessRow) => pid === root.pid || ppid === root.pid,
      }),
    });
  }

  /** One look and one blow, without waiting: this process is about to leave. */
  #killNow(): void {
    this.#setup.spawned.cgroup?.kill();
    const members = this.#tree.search();
    const groups = members.filter((row) => row.pid === row.group && this.#tree.ownsGroup(row));
    for (const pid of [...groups.map(({ group }) => -group), ...members.map((row) => row.pid)]) {
      try {
        process.kill(pid, 'SIGKILL');
      } catch {
        // Gone already.
      }
    }
  }

  /** What the program wrote before its end is still in the pipes; somebody else who has them open may keep them so. */
  async #drain(output: Promise<unknown>): Promise<void> {
    const { spawned, limits } = this.#setup;
    let seen: number;
    do {
      seen = this.#progress;
      if (await settlesWithin(output, limits.drain_ms)) break;
    } while (seen !== this.#progress);
    spawned.stdout.destroy();
    spawned.stderr.destroy();
  }

  #report({ exit, signal }: Exit, survivors: number): Ended {
    const { cgroup, containment, release } = this.#setup.spawned;
    const exact_ms = cgroup?.readCpuMs() ?? 0;
    if (survivors === 0) {
      cgroup?.remove();
      release();
    }
    if (this.#fault !== undefined) throw this.#fault.thrown;
    return {
      exit,
      signal,
      reason: this.#reason ?? 'exited',
      error: undefined,
      survivors,
      // A group in which nothing ran has held nothing.
      containment: containment === 'cgroup' && exact_ms === 0 ? 'marker' : containment,
      stderr_tail: this.#tail.toString(),
      output_bytes: this.#output_bytes,
      usage: { cpu_ms: Math.max(exact_ms, this.#cpu_ms), max_rss: this.#max_rss },
    };
  }
}

/** For a program that not even SIGKILL ended. */
const UNKNOWN_EXIT: Promise<Exit> = Promise.resolve({ exit: null, signal: null });

function isNamespace(kind: ContainmentKind): boolean {
  return kind === 'pid_namespace' || kind === 'bubblewrap';
}

/** The shell that holds a namespace says a signal as 128 and its number. */
function fromShell(exit: number | null, signal: string | null): Exit {
  const number = (exit ?? 0) - 128;
  const [name] = Object.entries(constants.signals).find(([, value]) => value === number) ?? [];
  return name === undefined ? { exit, signal } : { exit: null, signal: name };
}

async function settlesWithin(promise: Promise<unknown>, ms: number): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<boolean>((resolve) => {
    timer = setTimeout(resolve, ms, false);
  });
  try {
    return await Promise.race([promise.then(() => true), late]);
  } finally {
    clearTimeout(timer);
  }
}

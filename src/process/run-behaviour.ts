import { randomInt, randomUUID } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { toChildEnvironment } from './child-environment.ts';
import {
  CONTAINMENT_KINDS,
  openProcessHost,
  type ContainmentKind,
  type ProcessHost,
} from './process-host.ts';
import {
  startSupervised,
  type Marker,
  type OutputLine,
  type RunLimits,
  type Supervised,
  type SuperviseSpec,
} from './supervise.ts';

export const KINDS = CONTAINMENT_KINDS;

export interface TestRun {
  readonly run: Supervised;
  readonly lines: { readonly stream: string; readonly line: OutputLine }[];
  /** When the program has written its first line. */
  readonly spoke: Promise<void>;
}

/** Starts a shell script; what is left when the test ends is stopped. */
export async function runScript(
  script: string,
  options: {
    readonly host: ProcessHost;
    readonly marker?: Marker;
    readonly limits?: Partial<RunLimits>;
    readonly stdin?: SuperviseSpec['stdin'];
    readonly output?: 'sockets' | 'fifos';
  },
): Promise<TestRun> {
  const lines: TestRun['lines'] = [];
  const first = Promise.withResolvers<void>();
  const run = await startSupervised(
    {
      argv: ['/bin/sh', '-c', script],
      cwd: tmpdir(),
      env: toChildEnvironment(process.env),
      marker: options.marker ?? newMarker(),
      stdin: options.stdin ?? 'none',
      output: options.output ?? 'sockets',
      host: options.host,
      limits: {
        total_ms: 60_000,
        idle_ms: 60_000,
        output_bytes: 100_000_000,
        grace_ms: 2_000,
        ...options.limits,
      },
    },
    {
      line(stream, line) {
        lines.push({ stream, line });
        first.resolve();
      },
    },
  );
  onTestFinished(async () => {
    await run.stop({ grace_ms: 0 });
  });
  return { run, lines, spoke: first.promise };
}

export function newMarker(): Marker {
  return { name: 'FORGE_TEST_RUN', value: randomUUID() };
}

/** Seconds to sleep that nothing else sleeps: a process is found by its arguments, whatever became of the rest. */
export function newSleep(): string {
  return `900.${randomInt(1e8, 1e9)}`;
}

/** A scan that shares nothing with the code under test: who has this word among the arguments, and is no zombie. */
export function listRunning(word: string): readonly string[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .filter((pid) => {
      try {
        const words = readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0');
        return words.includes(word) && !/^State:\s+[ZX]/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'));
      } catch {
        return false;
      }
    });
}

/** The host of a kind, or a skipped test where the machine does not allow it. */
export async function hostOf(
  kind: ContainmentKind,
  context: { skip(note?: string): void },
): Promise<ProcessHost> {
  const host = await openProcessHost({ accept: [kind] });
  if (host.containment.kind !== kind) context.skip(`no ${kind} here`);
  return host;
}

interface Hostile {
  readonly name: string;
  script(sleep: string): string;
  readonly limits: Partial<RunLimits>;
  readonly reason: string;
  /** Stopped once it has said something, or left to end by itself. */
  readonly stopped: boolean;
  readonly only?: readonly ContainmentKind[];
}

const HOSTILE: readonly Hostile[] = [
  {
    name: 'forks again and again',
    script: (sleep) =>
      `bomb() { if [ $1 -gt 0 ]; then bomb $(($1 - 1)) & bomb $(($1 - 1)) & fi; n=0; while [ $n -lt 3 ]; do sleep ${sleep} & n=$((n + 1)); done; wait; }; bomb 2 & echo up; wait`,
    limits: {},
    reason: 'stopped',
    stopped: true,
  },
  {
    name: 'leaves daemons behind',
    script: (sleep) =>
      `setsid sh -c 'setsid nohup sleep ${sleep} & (sleep ${sleep} &) ; exec -- sleep ${sleep}' </dev/null >/dev/null 2>&1 & (nohup sleep ${sleep} >/dev/null 2>&1 &); echo up`,
    limits: {},
    reason: 'exited',
    stopped: false,
  },
  {
    name: 'does not hear SIGTERM',
    script: (sleep) => `trap '' TERM HUP INT; (while :; do sleep ${sleep}; done) & echo up; sleep ${sleep}`,
    limits: { grace_ms: 150 },
    reason: 'stopped',
    stopped: true,
  },
  {
    name: 'closes its pipes',
    script: (sleep) => `sleep ${sleep} </dev/null >/dev/null 2>&1 & exec <&- >&- 2>&-; sleep ${sleep}`,
    limits: { idle_ms: 200 },
    reason: 'idle_timeout',
    stopped: false,
  },
  {
    name: 'floods both streams',
    script: (sleep) => `yes ${sleep} & yes ${sleep} >&2`,
    limits: { output_bytes: 200_000 },
    reason: 'output_limit',
    stopped: false,
  },
  {
    name: 'drops session and environment',
    script: (sleep) => `(env -i setsid sh -c 'sleep ${sleep} & sleep ${sleep} &' &); echo up; sleep 0.05`,
    limits: {},
    reason: 'exited',
    stopped: false,
    // What only a marker could find is exactly what this one takes away.
    only: ['cgroup', 'pid_namespace', 'bubblewrap'],
  },
];

/** So many hostile runs at the same time: they wait more than they work. */
const AT_ONCE = 20;

/** Each hostile agent, so many times, held as here by default and otherwise: when a run is done, nothing is left. */
export function describeHostileAgents(times: {
  readonly byDefault: number;
  readonly otherwise: number;
}): void {
  describe.skipIf(process.platform !== 'linux').each(KINDS)('[F31] hostile agents, held by a %s', (kind) => {
    it.for(HOSTILE.filter(({ only }) => only?.includes(kind) ?? true))(
      'one that $name',
      async (agent, context) => {
        const host = await hostOf(kind, context);
        const best = await openProcessHost();
        const rounds = best.containment.kind === kind ? times.byDefault : times.otherwise;
        for (let round = 0; round < rounds; round += AT_ONCE) {
          const length = Math.min(AT_ONCE, rounds - round);
          await expectNobodyLeft(agent, host, length);
        }
      },
    );
  });
}

async function expectNobodyLeft(agent: Hostile, host: ProcessHost, count: number): Promise<void> {
  const { limits, reason, stopped } = agent;
  const runs = await Promise.all(
    Array.from({ length: count }, async () => {
      const sleep = newSleep();
      return { sleep, ...(await runScript(agent.script(sleep), { host, limits })) };
    }),
  );
  if (stopped) {
    await Promise.all(runs.map(({ spoke }) => spoke));
    // A scan that sees nothing would find nobody left of anything.
    const waited = new Set(runs.map(({ sleep }) => sleep));
    const isSeen = (): boolean => {
      for (const sleep of waited)
        if (listRunning(sleep).length === 0) return false;
        else waited.delete(sleep);
      return true;
    };
    await vi.waitUntil(isSeen, { timeout: 15_000 });
  }
  await Promise.all(
    runs.map(async ({ run, sleep }) => {
      if (stopped) await run.stop();
      const ended = await run.done;
      expect(ended).toMatchObject({ reason, survivors: 0, containment: host.containment.kind });
      expect(listRunning(sleep)).toEqual([]);
    }),
  );
}

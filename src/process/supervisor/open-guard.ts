import type { Writable } from 'node:stream';
import { GUARD_SCRIPT } from './guard-script.ts';
import type { Marker } from './process-table.ts';

/** What a run is to its guard. */
export interface GuardedRun {
  readonly pid: number;
  readonly start_time: number;
  readonly marker: Marker;
  /** The folder of its control group. */
  readonly cgroup: string | undefined;
}

/** Ends runs when this process is gone, however it went. */
export interface Guard {
  /** Resolves when the guard knows of it, with what is called once the run has ended. Rejects when it cannot. */
  add(run: GuardedRun): Promise<() => void>;
}

/**
 * One process for all runs of this one, started with the first of them. It is in a session of its own, hears no
 * signal but SIGKILL, and notices the end of this process by the end of a pipe that nobody else has. One that was
 * killed is replaced.
 */
export function openGuard(): Guard {
  const known = new Map<number, string>();
  let pipe: Promise<Writable> | undefined;
  let keys = 0;
  const open = (): Promise<Writable> => (pipe ??= start());
  const start = async (): Promise<Writable> => {
    const stdin = await startGuard(() => {
      pipe = undefined;
      // Those at work are held again; whoever comes next is told when that fails.
      if (known.size > 0) open().catch(() => {});
    });
    for (const line of known.values()) await writeLine(stdin, line);
    return stdin;
  };
  return {
    async add({ pid, start_time, marker, cgroup }) {
      const key = (keys += 1);
      const words = ['+', key, pid, start_time, `${marker.name}=${marker.value}`, cgroup ?? '-'];
      const line = words.join(' ');
      await tell(open, line);
      known.set(key, line);
      return () => {
        known.delete(key);
        pipe?.then((to) => writeLine(to, `- ${key}`)).catch(() => {});
      };
    },
  };
}

/** Twice: the first try may be how one learns that the guard is gone. */
async function tell(open: () => Promise<Writable>, line: string): Promise<void> {
  const first = await open();
  try {
    await writeLine(first, line);
  } catch {
    await new Promise((ended) => first.once('close', ended).destroy());
    await writeLine(await open(), line);
  }
}

async function startGuard(onEnd: () => void): Promise<Writable> {
  const { spawn } = await import('node:child_process');
  const child = spawn('/bin/sh', ['-c', GUARD_SCRIPT, 'forge-guard'], {
    // None of what this process has: a run that is started inside of another one must not look like that one.
    env: { PATH: '/usr/bin:/bin:/usr/sbin:/sbin', LC_ALL: 'C' },
    cwd: '/',
    stdio: ['pipe', 'ignore', 'ignore'],
    detached: true,
  });
  child.once('error', onEnd);
  child.once('exit', onEnd);
  child.stdin.on('error', () => {});
  // It waits for this process, not the other way round.
  child.unref();
  if ('unref' in child.stdin && typeof child.stdin.unref === 'function') child.stdin.unref();
  return child.stdin;
}

function writeLine(pipe: Writable, line: string): Promise<void> {
  return new Promise((resolve, reject) => {
    pipe.write(`${line}\n`, (error) => (error === null || error === undefined ? resolve() : reject(error)));
  });
}

import type { Writable } from 'node:stream';
import type { Marker } from './process-table.ts';
import { GUARD_SCRIPT } from './guard-script.ts';

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
 * signal but SIGKILL, and notices the end of this process by the end of a pipe that nobody else has.
 */
export function openGuard(): Guard {
  let starting: Promise<Writable> | undefined;
  let keys = 0;
  return {
    async add({ pid, start_time, marker, cgroup }) {
      const pipe = await (starting ??= startGuard());
      const key = (keys += 1);
      const words = ['+', key, pid, start_time, `${marker.name}=${marker.value}`, cgroup ?? '-'];
      await writeLine(pipe, words.join(' '));
      return () => void writeLine(pipe, `- ${key}`).catch(() => {});
    },
  };
}

async function startGuard(): Promise<Writable> {
  const { spawn } = await import('node:child_process');
  const child = spawn('/bin/sh', ['-c', GUARD_SCRIPT, 'forge-guard'], {
    // None of what this process has: a run that is started inside of another one must not look like that one.
    env: { PATH: '/usr/bin:/bin:/usr/sbin:/sbin', LC_ALL: 'C' },
    cwd: '/',
    stdio: ['pipe', 'ignore', 'ignore'],
    detached: true,
  });
  child.on('error', () => {});
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

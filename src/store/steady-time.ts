import { readFileSync } from 'node:fs';
import type { SteadyTime } from '#domain/leases.ts';
import { lineDigest } from '#kernel/checksum.ts';
import { LIMITS } from '#kernel/limits.ts';
import type { Writer } from './store.ts';

/**
 * The time that a store of one machine has. Leases end by it, and by nothing that a caller says. `by` is for tests that
 * have to know by which moment each write was judged.
 */
export type ReadSteady = (by?: Pick<Writer, 'actor'>) => SteadyTime;

/**
 * The machine's own count of time since it was started, which all its processes share, containers included. Reads a
 * small file the first time it is asked, and nothing before.
 */
export function openSteadyTime(): () => SteadyTime {
  let clock: number | undefined;
  return () => ({ clock: (clock ??= readClock()), at: Number(process.hrtime.bigint() / 1_000_000n) });
}

/**
 * The same for a process that stays: it also knows since when it has run without being stopped, by a signal, a debugger,
 * a frozen container or a machine that slept. It looks a few times a second, and keeps no process alive.
 */
export function openWakefulTime(read: () => SteadyTime = openSteadyTime()): WakefulTime {
  const now = (): number => Number(process.hrtime.bigint() / 1_000_000n);
  let ticked = now();
  let awake = ticked;
  const look = (at: number): void => {
    if (at - ticked > LIMITS.stop_noticed_ms) awake = at;
    ticked = Math.max(ticked, at);
  };
  const timer = setInterval(() => look(now()), LIMITS.wake_tick_ms).unref();
  return {
    read() {
      // Requests that waited in the socket come before the timer after a stop.
      const time = read();
      look(time.at);
      return { ...time, awake };
    },
    [Symbol.dispose]: () => clearInterval(timer),
  };
}

export interface WakefulTime extends Disposable {
  readonly read: () => SteadyTime;
}

/** Two containers of one machine have two names but one clock, so the kernel's number of this start comes first. */
function readClock(): number {
  try {
    return lineDigest(readFileSync('/proc/sys/kernel/random/boot_id', 'utf8'));
  } catch {
    return lineDigest(process.getBuiltinModule('node:os').hostname()); // not Linux
  }
}

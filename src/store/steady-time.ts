import { readFileSync } from 'node:fs';
import { hostname } from 'node:os';
import type { SteadyTime } from '#domain/leases.ts';
import { lineDigest } from '#kernel/checksum.ts';

/**
 * The machine's own count of time since it was started, which all its processes share, containers included. Reads a
 * small file the first time it is asked, and nothing before.
 */
export function openSteadyTime(): () => SteadyTime {
  let clock: number | undefined;
  return () => ({ clock: (clock ??= readClock()), at: Number(process.hrtime.bigint() / 1_000_000n) });
}

/** Two containers of one machine have two names but one clock, so the kernel's number of this start comes first. */
function readClock(): number {
  try {
    return lineDigest(readFileSync('/proc/sys/kernel/random/boot_id', 'utf8'));
  } catch {
    return lineDigest(hostname()); // not Linux
  }
}

import { readFileSync } from 'node:fs';

export interface Cost {
  readonly ms: number;
  readonly cpu_ms: number;
  readonly peak_kb: number;
}

export interface Started {
  readonly at: number;
  readonly cpu: NodeJS.CpuUsage;
}

export function startCost(): Started {
  return { at: performance.now(), cpu: process.cpuUsage() };
}

/** Tells the process that started this one what it took. */
export function reportCost({ at, cpu }: Started): void {
  const ms = performance.now() - at;
  const { user, system } = process.cpuUsage(cpu);
  const cost: Cost = { ms, cpu_ms: (user + system) / 1000, peak_kb: peakMemory() };
  process.stdout.write(`${JSON.stringify(cost)}\n`);
}

/** From /proc where there is one: getrusage's maximum is inherited from the process that started this one. */
function peakMemory(): number {
  try {
    return Number(/^VmHWM:\s*(\d+)/m.exec(readFileSync('/proc/self/status', 'utf8'))?.[1]);
  } catch {
    return process.resourceUsage().maxRSS;
  }
}

import { openSync, writeSync } from 'node:fs';

// Preloaded into a server (`--import loop-monitor.mjs?into=<file>`), or imported by a test for its own process. Plain
// JavaScript, because a preload in TypeScript costs every start of a server 35 ms.

/** How often the loop is looked at; a block may be measured longer than it was by what ran since the last look. */
const LOOK_MS = 10;

/** Calls `tell` with each new longest turn of this thread's event loop. Keeps no process alive. */
export function watchLoop(tell) {
  let longest = { cpu_ms: 0, wall_ms: 0 };
  // Unknown before the first look: what a program loads at its start keeps no client waiting.
  let before;
  const look = () => {
    const now = readTimes();
    if (before !== undefined) note(now.cpu_ms - before.cpu_ms, now.wall_ms - before.wall_ms);
    before = now;
  };
  const note = (cpu_ms, wall_ms) => {
    const next = {
      cpu_ms: Math.max(longest.cpu_ms, cpu_ms),
      wall_ms: Math.max(longest.wall_ms, wall_ms),
    };
    const isLonger = next.cpu_ms > longest.cpu_ms || next.wall_ms > longest.wall_ms;
    longest = next;
    if (isLonger) tell(longest);
  };
  const timer = setInterval(look, LOOK_MS).unref();
  return {
    skip(work) {
      const from = readTimes();
      try {
        return work();
      } finally {
        const to = readTimes();
        if (before !== undefined) {
          before = {
            cpu_ms: before.cpu_ms + to.cpu_ms - from.cpu_ms,
            wall_ms: before.wall_ms + to.wall_ms - from.wall_ms,
          };
        }
      }
    },
    [Symbol.dispose]() {
      clearInterval(timer);
    },
  };
}

/** Of this thread alone: a wait for a processor, a disk or SIGCONT counts as wall time only. */
function readTimes() {
  const { user, system } = process.threadCpuUsage();
  return { cpu_ms: (user + system) / 1_000, wall_ms: performance.now() };
}

const into = new URL(import.meta.url).searchParams.get('into');
if (into !== null) {
  // Opened once: a server may run out of files. Written at once: a server may be killed.
  const file = openSync(into, 'w');
  watchLoop((longest) => {
    writeSync(file, JSON.stringify({ pid: process.pid, ...longest }).padEnd(200), 0);
  });
}

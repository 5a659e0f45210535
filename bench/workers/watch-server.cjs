// Loaded before a server that is measured: on SIGUSR2 it writes the longest pause of the event loop since the last
// time, the delay that one in a hundred looks exceeds, and the memory, to the file that BENCH_REPORT names.
const { monitorEventLoopDelay } = require('node:perf_hooks');
const { renameSync, writeFileSync } = require('node:fs');

const delay = monitorEventLoopDelay({ resolution: 5 });
delay.enable();
process.on('SIGUSR2', () => {
  globalThis.gc?.();
  const { rss, heapUsed, external } = process.memoryUsage();
  const path = process.env.BENCH_REPORT;
  writeFileSync(
    `${path}.new`,
    JSON.stringify({
      stall_ms: delay.max / 1e6,
      delay_p99_ms: delay.percentile(99) / 1e6,
      rss,
      heapUsed,
      external,
    }),
  );
  renameSync(`${path}.new`, path);
  delay.reset();
});

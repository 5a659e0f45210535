// Preloaded into a measured process: writes the CPU time of it alone, without its children, to the file that BENCH_CPU
// names. Its children do not inherit the preload.
process.on('exit', () => {
  const { user, system } = process.cpuUsage();
  require('node:fs').writeFileSync(process.env.BENCH_CPU, String((user + system) / 1000));
});

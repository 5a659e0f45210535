// Preloaded into measured processes: tells the peak memory of the process when it ends.
process.on('exit', () => {
  require('node:fs').writeSync(2, `peak-memory-kb=${process.resourceUsage().maxRSS}\n`);
});

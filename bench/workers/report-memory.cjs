// Preloaded into measured processes: tells the peak memory of the process when it ends.
// From /proc where there is one: getrusage's maximum is inherited from the process that started this one.
process.on('exit', () => {
  const { readFileSync, writeSync } = require('node:fs');
  let peak;
  try {
    peak = /^VmHWM:\s*(\d+)/m.exec(readFileSync('/proc/self/status', 'utf8'))[1];
  } catch {
    peak = process.resourceUsage().maxRSS;
  }
  writeSync(2, `peak-memory-kb=${peak}\n`);
});

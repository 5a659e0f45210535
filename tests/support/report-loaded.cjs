// Preloaded into a forge process: tells at its end which files and which parts of Node it loaded.
process.on('exit', () => {
  const { writeSync } = require('node:fs');
  const builtins = process.moduleLoadList.filter((name) => name.startsWith('NativeModule '));
  writeSync(2, `loaded=${JSON.stringify({ files: Object.keys(require.cache), builtins })}\n`);
});

#!/usr/bin/env node
// Has to parse and run on Node 12 too, so that an old Node gets a sentence and not a syntax error: no optional
// chaining, no `node:` names before the check. CommonJS: the same bundle as ES modules took a tenth longer.
function isOld(text) {
  const version = text.split('.').map(Number);
  return version[0] < 24 || (version[0] === 24 && version[1] < 15);
}

// The launcher is the process that a shell knows: where it is killed, as by `kill -9 $!`, its agents must end too.
function endWithLauncher() {
  delete process.env.FORGE_LAUNCHED;
  if (!process.channel) return;
  process.on('disconnect', function end() {
    process.kill(process.pid, 'SIGTERM');
  });
  process.channel.unref();
}

if (isOld(process.versions.node)) {
  // In a file of its own, which only an old Node reads.
  require('./run-on-newer-node.cjs').runOnNewerNode(isOld);
} else {
  // Keeps compiled code between runs, which a cold start would otherwise spend on compiling the bundle again. In a
  // folder of the user's own: what lies in a shared temporary folder, somebody else may have put there to be run.
  const env = process.env;
  const home = env.HOME || env.USERPROFILE;
  const cache = env.XDG_CACHE_HOME || (home && home + '/.cache');
  // The player of a recorded agent has an agent's environment: what it kept would lie in another place.
  if (env.FORGE_LAUNCHED !== undefined) endWithLauncher();
  if (process.argv[2] !== '--play-script' && (env.NODE_COMPILE_CACHE || cache))
    require('node:module').enableCompileCache(env.NODE_COMPILE_CACHE || cache + '/forge');
  require('../dist/main.cjs')
    .main()
    .catch(function fail(error) {
      // What main() did not turn into a message is a bug: the stack is what a report needs.
      process.stderr.write(((error && error.stack) || String(error)) + '\n');
      process.exitCode = 1;
    });
}

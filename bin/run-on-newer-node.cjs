// Parses and runs on Node 12, as forge.cjs does.
const childProcess = require('child_process');
const path = require('path');

// What a terminal sends (Ctrl-C) reaches the child by itself; passed on it would count twice there.
const FROM_TERMINAL = ['SIGINT', 'SIGQUIT', 'SIGHUP'];
const PASSED_ON = ['SIGTERM', 'SIGUSR2'];

// npm's package with a Node for this platform lies beside Forge where `npm ci` made Forge, or where a project has it.
function runOnNewerNode(isOld) {
  const newer = findNewerNode(isOld);
  if (newer === undefined) return refuse();
  // The name that Forge was started by counts: forge-ctl is another program than forge.
  const args = process.execArgv.concat(process.argv.slice(1));
  // The channel closes when this process ends, also by a SIGKILL, which nothing can pass on: forge.cjs listens to it.
  const child = childProcess.spawn(newer, args, {
    stdio: ['inherit', 'inherit', 'inherit', 'ipc'],
    env: Object.assign({}, process.env, { FORGE_LAUNCHED: '1' }),
  });
  child.on('error', refuse);
  const isInTerminal = process.stdin.isTTY || process.stdout.isTTY || process.stderr.isTTY;
  FROM_TERMINAL.concat(PASSED_ON).forEach(function listen(signal) {
    const isPassedOn = !isInTerminal || PASSED_ON.indexOf(signal) !== -1;
    try {
      process.on(signal, function pass() {
        if (isPassedOn) child.kill(signal);
      });
    } catch {
      // Windows does not know all of them.
    }
  });
  child.on('exit', function end(code, signal) {
    if (signal === null) return process.exit(code);
    process.removeAllListeners(signal);
    process.kill(process.pid, signal);
  });
}

function findNewerNode(isOld) {
  const system = process.platform === 'win32' ? 'win' : process.platform;
  const name = 'node-' + system + '-' + process.arch;
  try {
    const places = [__dirname, path.join(__dirname, '..', 'runtime')];
    const description = require.resolve(name + '/package.json', { paths: places });
    const found = require(description);
    if (isOld(found.version)) return undefined;
    return path.join(path.dirname(description), found.bin.node);
  } catch {
    return undefined;
  }
}

function refuse() {
  process.stderr.write(
    'forge needs Node 24.15 or newer; this is Node v' +
      process.versions.node +
      '. Install it from https://nodejs.org, or beside Forge: npm ci --prefix ' +
      path.join(__dirname, '..') +
      '\n',
  );
  process.exit(1);
}

module.exports = { runOnNewerNode };

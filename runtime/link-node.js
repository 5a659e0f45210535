// npm 10, which comes with Node 20, installs the runtime of this platform and then deletes its `node` command, because
// the runtimes of the other platforms, which it leaves out, have a command of the same name. So the link is made again
// after the install. Runs on whatever Node started npm. On Windows npm writes scripts instead of links: there it takes
// an npm without that fault (11.19 is one).
const { existsSync, symlinkSync } = require('node:fs');
const { join } = require('node:path');

const commands = join(__dirname, '..', 'node_modules', '.bin');
const runtime = join('..', `node-${process.platform}-${process.arch}`, 'bin', 'node');

if (!existsSync(join(commands, 'node')) && existsSync(join(commands, runtime))) {
  symlinkSync(runtime, join(commands, 'node'));
}

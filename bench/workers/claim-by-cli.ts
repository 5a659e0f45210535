import { spawnSync } from 'node:child_process';

// One command line, started when everybody is ready.
const [forge = '', name = ''] = process.argv.slice(2);
process.stdout.write('ready\n');
process.stdin.once('data', () => {
  const { stdout } = spawnSync(process.execPath, [forge, 'claim', '--next', '--json', '--actor', name], {
    encoding: 'utf8',
  });
  process.stdout.write(stdout);
  process.stdin.destroy();
});

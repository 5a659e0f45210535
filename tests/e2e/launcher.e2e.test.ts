import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { expect, it } from 'vitest';
import { FORGE, forgeProject } from '../support/forge-cli.ts';

// An old Node is no part of the repository, so the launcher runs on this one and takes every Node for new enough.
const LAUNCHER = `require(${JSON.stringify(join(dirname(FORGE), 'run-on-newer-node.cjs'))}).runOnNewerNode(() => false);`;

it('ends with the process of an older Node that started it, though that was killed', async () => {
  await using project = await forgeProject();
  const launcher = join(project.home, 'launcher.cjs');
  writeFileSync(launcher, `process.argv.splice(1, 1);\n${LAUNCHER}`);
  const child = spawn(process.execPath, [launcher, FORGE, 'serve', '--port', '0', '--json'], {
    cwd: project.path,
    env: project.env,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const lines = createInterface({ input: child.stdout });
  await once(lines, 'line');
  // The server has the other end of the pipe: it closes when the server has ended.
  const closed = once(lines, 'close');
  child.kill('SIGKILL');
  await once(child, 'exit');
  await closed;
  expect((await project.run('status')).stdout).toContain('At work');
});

it('answers through it as it does by itself', async () => {
  await using project = await forgeProject();
  const launcher = join(project.home, 'launcher.cjs');
  writeFileSync(launcher, `process.argv.splice(1, 1);\n${LAUNCHER}`);
  const { stdout, exit } = await project.exec(process.execPath, [launcher, FORGE, 'task', 'show', 'fg-none']);
  expect({ stdout, exit }).toEqual({ stdout: '', exit: 3 });
});
